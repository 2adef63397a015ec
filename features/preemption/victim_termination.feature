@preemption
Feature: Termination of victims
  A victim has its grace period. Until it is gone, its resources are reserved for the preemptor but not free.

  @PRE-14 @must
  Scenario: A victim has DisruptionTarget=PreemptionByScheduler before it is deleted
    Source: Kubernetes conformance, "validates pod disruption condition is added to the preempted pod" (since 1.31).
    Given a node with 1 GPU
    And pods running at priority 10:
      | pod    | GPUs |
      | victim | 1    |
    When pod "urgent" requests 1 GPU at priority 100
    Then "victim" has DisruptionTarget=PreemptionByScheduler before deletion
    And "urgent" runs

  @PRE-15 @must
  Scenario: A Preempted event on the victim names the preemptor and the node
    Source: kube-scheduler, event Preempted: a Normal event on the victim with the preemptor and the node.
    Given a node "here" with 1 GPU
    And pods running at priority 10:
      | pod    | GPUs |
      | victim | 1    |
    When pod "urgent" requests 1 GPU at priority 100
    Then a Preempted event on "victim" names "urgent" and the node
    And "urgent" runs on "here"

  @PRE-16 @must
  Scenario: The preemptor is nominated to the victim's node and bound only after the victim is gone
    Source: Kubernetes documentation, Pod Priority and Preemption: nominatedNodeName is set while victims terminate.
    Given a node with 1 GPU
    And pods running at priority 10:
      | pod    | GPUs | grace period |
      | victim | 1    | long         |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" is nominated to the node of "victim" while "victim" terminates
    And "urgent" stays pending
    When the grace periods of the victims end
    Then "urgent" is bound only after "victim" is gone
    And "urgent" runs on the node of one of the victims "victim"

  @PRE-17 @must
  Scenario: A pod does not preempt again while its victim terminates
    Source: kube-scheduler: a pod with a terminating victim on its nominated node is not eligible to preempt again.
    Given a node with 2 GPUs
    And pods running at priority 10:
      | pod    | GPUs | grace period |
      | first  | 1    | long         |
      | second | 1    | long         |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" stays pending while exactly one of "first", "second" terminates
    When the grace periods of the victims end
    Then "urgent" runs
    And exactly one of "first", "second" was preempted for "urgent"
    And no other pod was evicted or failed

  @PRE-28 @must
  Scenario: A terminating victim's GPUs are not allocated until it is gone
    Source: Kubernetes documentation, Pod Priority and Preemption: graceful termination of victims leaves a time gap.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod  | GPUs | grace period |
      | slow | 4    | long         |
    When pod "urgent" requests 4 GPUs at priority 100
    And pod "lower" requests 1 GPU at priority 50
    Then "slow" was preempted for "urgent"
    And "urgent", "lower" stay pending
    When the grace periods of the victims end
    Then "urgent" is bound only after "slow" is gone
    And at no time more than 4 GPUs were in use
    And "lower" stays pending
