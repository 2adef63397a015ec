@documents @job-preemption @gangs
Feature: A training job of two on two full nodes
  A walk-through of job-level preemption: two nodes with four CPUs, two pods of low priority that fill them,
  and a gang of high priority that needs three CPUs on each. (Clusters before 1.35 keep a nomination after the binding;
  here it is empty again, as the document shows it.)

  @DOC-5 @must @doc-5
  Scenario: A whole job makes room for itself, or nobody goes
    Given a node "cn-beijing.1" with 4 CPUs
    And a node "cn-beijing.2" with 4 CPUs
    And the priority class "high-priority" of 1000000
    And the priority class "low-priority" of 1000
    When pods "lp-pod-1", "lp-pod-2" ask for 4 CPUs each with the priority class "low-priority" and leave within 5s
    Then "lp-pod-1", "lp-pod-2" run on two different nodes
    And no CPU is free on "cn-beijing.1", "cn-beijing.2"
    When a gang "hp-training-job" of "hp-worker-1", "hp-worker-2" with 3 CPUs each is submitted with the priority class "high-priority"
    Then "lp-pod-1", "lp-pod-2" were preempted for the gang "hp-training-job"
    And "lp-pod-1", "lp-pod-2" say before they go that the scheduler preempted them for the gang "hp-training-job"
    And "hp-worker-1", "hp-worker-2" are nominated to a node each while "lp-pod-1", "lp-pod-2" terminate
    When pod "lp-pod-3" asks for 3 CPUs with the priority class "low-priority"
    Then the whole gang "hp-training-job" runs
    And "hp-worker-1", "hp-worker-2" run where they were nominated, and no nomination is left
    And "lp-pod-3" keeps waiting
    And nothing else was disturbed
    When the gang "hp-training-job" finishes
    Then "lp-pod-3" runs
    When a gang "hp-larger-job" of "larger-1", "larger-2", "larger-3" with 3 CPUs each is submitted with the priority class "high-priority"
    Then no pod of the gang "hp-larger-job" is bound
    And "lp-pod-3" is still there
    When the gang "hp-larger-job" is deleted
    And preemption is switched off
    And a gang "hp-late-job" of "late-1", "late-2" with 3 CPUs each is submitted with the priority class "high-priority"
    Then no pod of the gang "hp-late-job" is bound
    And "lp-pod-3" is still there
