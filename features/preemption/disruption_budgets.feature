@preemption
Feature: Disruption budgets are respected where that is possible
  A budget says how many pods can be spared. It steers the choice of victims; it does not stop a more important pod.

  @PRE-10 @should
  Scenario: A protected pod is spared while another one would do
    Source: Kubernetes documentation, Pod Priority and Preemption: victims whose budget would not be violated are looked for first.
    Given a node "vault" with 1 GPU
    And a node "mixed" with 2 GPUs
    And pods running at priority 10, each started after the one above:
      | pod      | GPUs | node  |
      | loose    | 1    | mixed |
      | treasure | 1    | mixed |
      | jewel    | 1    | vault |
    And a disruption budget that can spare none of "treasure", "jewel"
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" runs on "mixed"
    And "loose" was preempted for "urgent"
    And "treasure", "jewel" are still there

  @PRE-11 @should
  Scenario: A budget does not stop a more important pod
    Source: Kubernetes documentation, Pod Priority and Preemption: budgets are respected as far as possible, without a guarantee.
    Given a node with 1 GPU
    And pods running at priority 10:
      | pod      | GPUs |
      | treasure | 1    |
    And a disruption budget that can spare none of "treasure"
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" runs
    And "treasure" was preempted for "urgent"
