@documents @job-preemption @gangs
Feature: Walk-through: job-level preemption by a training job
  Two nodes with four CPUs and 16 GiB, two low-priority pods that fill them, and a high-priority gang that needs three
  CPUs on each. (Clusters before 1.35 keep nominatedNodeName after the binding; here it is empty again, as published.)

  @DOC-5 @must @doc-5
  Scenario: A gang preempts for all of its pods or for none
    Given a node "cn-beijing.1" with 4 CPUs and 16Gi of memory
    And a node "cn-beijing.2" with 4 CPUs and 16Gi of memory
    And the objects of the manifest "job-preemption-classes"
    # 1: two low-priority pods fill both nodes
    When the objects of the manifest "low-pods" are created
    Then "lp-pod-1", "lp-pod-2" run on two different nodes
    And no CPU is free on "cn-beijing.1", "cn-beijing.2"
    # 2: a high-priority job is created, and both conditions name the preemptor
    When the objects of the manifest "hp-training-job" are created
    Then "lp-pod-1", "lp-pod-2" were preempted for the gang "hp-training-job"
    And "lp-pod-1", "lp-pod-2" have the DisruptionTarget message "koord-scheduler: preempting to accommodate higher priority pods, preemptor: default/hp-training-job, trigger?od: default/hp-worker-?" before deletion
    # 3: while they terminate, each member is nominated to its own node
    And "hp-worker-1", "hp-worker-2" are nominated to different nodes while "lp-pod-1", "lp-pod-2" terminate
    # 4: where no other pod is bound, also not while the first node is free and the job still needs the second
    When pod "lp-pod-3" requests 3 CPUs with the priority class "low-priority"
    And the grace period of "lp-pod-1" ends
    Then "hp-worker-1", "hp-worker-2", "lp-pod-3" stay pending
    # 5: the job starts on its nominated nodes
    When the grace period of "lp-pod-2" ends
    Then the whole gang "hp-training-job" runs
    And "hp-worker-1", "hp-worker-2" run on their nominated nodes, and no longer have a nominated node
    And "lp-pod-3" stays pending
    And no other pod was evicted or failed
    When the gang "hp-training-job" finishes
    Then "lp-pod-3" runs
    # 6: no pod is preempted for a job that would fit only in part
    When a gang "hp-larger-job" of "larger-1", "larger-2", "larger-3" with 3 CPUs each is submitted with the priority class "high-priority"
    Then no pod of the gang "hp-larger-job" is bound
    And "lp-pod-3" was not evicted
    # 7: and none at all with preemption disabled
    When the gang "hp-larger-job" is deleted
    And preemption is disabled
    And a gang "hp-late-job" of "late-1", "late-2" with 3 CPUs each is submitted with the priority class "high-priority"
    Then no pod of the gang "hp-late-job" is bound
    And "lp-pod-3" was not evicted
