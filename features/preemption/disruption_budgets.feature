@preemption
Feature: Preemption and PodDisruptionBudgets
  A PodDisruptionBudget influences the choice of victims. It does not stop a higher-priority pod.

  @PRE-10 @should
  Scenario: Victims that do not violate a PodDisruptionBudget are preferred
    Source: Kubernetes documentation, Pod Priority and Preemption: victims whose budget would not be violated are looked for first.
    Given a node "single" with 1 GPU
    And a node "mixed" with 2 GPUs
    And pods running at priority 10, each started after the one above:
      | pod       | GPUs | node   |
      | open      | 1    | mixed  |
      | protected | 1    | mixed  |
      | guarded   | 1    | single |
    And a PodDisruptionBudget that allows no disruption of "protected", "guarded"
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" runs on "mixed"
    And "open" was preempted for "urgent"
    And "protected", "guarded" were not evicted

  @PRE-11 @should
  Scenario: A PodDisruptionBudget is violated when no other victim exists
    Source: Kubernetes documentation, Pod Priority and Preemption: budgets are respected as far as possible, without a guarantee.
    Given a node with 1 GPU
    And pods running at priority 10:
      | pod       | GPUs |
      | protected | 1    |
    And a PodDisruptionBudget that allows no disruption of "protected"
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" runs
    And "protected" was preempted for "urgent"
