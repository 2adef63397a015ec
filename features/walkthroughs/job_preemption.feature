@documents @job-preemption @gangs
Feature: A training job of two on two full nodes
  A walk-through of job-level preemption: two nodes with four CPUs, two pods of low priority that fill them,
  and a gang of high priority that needs three CPUs on each. (Clusters before 1.35 keep a nomination after the binding;
  here it is empty again, as the document shows it.)

  @DOC-5 @must @doc-5
  Scenario: A whole job makes room for itself, or nobody goes
    Given a node "cn-beijing.1" with 4 CPUs
    And a node "cn-beijing.2" with 4 CPUs
    And what the manifest "job-preemption-classes" describes
    # 1: two pods of low priority fill both nodes
    When what the manifest "low-pods" describes is created
    Then "lp-pod-1", "lp-pod-2" run on two different nodes
    And no CPU is free on "cn-beijing.1", "cn-beijing.2"
    # 2: a job of high priority comes, and both say for whom they go
    When what the manifest "hp-training-job" describes is created
    Then "lp-pod-1", "lp-pod-2" were preempted for the gang "hp-training-job"
    And "lp-pod-1", "lp-pod-2" say before they go: "koord-scheduler: preempting to accommodate higher priority pods, preemptor: default/hp-training-job, trigger?od: default/hp-worker-?"
    # 3: while they terminate, each member has a node of its own in view
    And "hp-worker-1", "hp-worker-2" are nominated to a node each while "lp-pod-1", "lp-pod-2" terminate
    # 4: where nobody else comes in
    When pod "lp-pod-3" asks for 3 CPUs with the priority class "low-priority"
    # 5: the job starts where it was nominated
    Then the whole gang "hp-training-job" runs
    And "hp-worker-1", "hp-worker-2" run where they were nominated, and no nomination is left
    And "lp-pod-3" keeps waiting
    And nothing else was disturbed
    When the gang "hp-training-job" finishes
    Then "lp-pod-3" runs
    # 6: nobody goes for a job that would fit in part only
    When a gang "hp-larger-job" of "larger-1", "larger-2", "larger-3" with 3 CPUs each is submitted with the priority class "high-priority"
    Then no pod of the gang "hp-larger-job" is bound
    And "lp-pod-3" is still there
    # 7: and nobody at all where preemption is off
    When the gang "hp-larger-job" is deleted
    And preemption is switched off
    And a gang "hp-late-job" of "late-1", "late-2" with 3 CPUs each is submitted with the priority class "high-priority"
    Then no pod of the gang "hp-late-job" is bound
    And "lp-pod-3" is still there
