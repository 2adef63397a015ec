@preemption
Feature: Several pods want the same room
  Room that is being made is not yet anybody's. Importance decides until the moment somebody sits down.

  @PRE-21 @must
  Scenario: Of two that push at the same time the more important one gets the room
    Source: Kubernetes documentation, Pod Priority and Preemption: a pending pod goes before others of lower priority.
    Given a node with 1 GPU
    And pods running at priority 10:
      | pod    | GPUs | leaves within |
      | victim | 1    | 2s            |
    When pods ask while the scheduler looks away:
      | pod      | GPUs | priority |
      | urgent   | 1    | 100      |
      | critical | 1    | 200      |
    Then "critical" runs
    And "urgent" keeps waiting
    And nothing else was disturbed
    When "critical" finishes
    Then "urgent" runs

  @PRE-22 @should
  Scenario: A promised place goes to a more important latecomer
    Source: Kubernetes documentation, Pod Priority and Preemption: a nominated node may be given to a pod of higher priority that comes later.
    Given a node with 1 GPU
    And pods running at priority 10:
      | pod    | GPUs | leaves within |
      | victim | 1    | 4s            |
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" is promised the place of "victim", which is still leaving
    When pod "critical" asks for 1 GPU at priority 200
    Then "critical" runs
    And "urgent" is no longer promised the node of "critical"
    And "urgent" keeps waiting
    And nothing else was disturbed
    When "critical" finishes
    Then "urgent" runs

  @PRE-27 @must
  Scenario: A replaced victim waits and does not push back
    Source: Kubernetes conformance, "runs ReplicaSets to verify preemption running path" (since 1.19).
    Given a node with 2 GPUs
    And pods running:
      | pod   | GPUs | priority | leaves within |
      | batch | 1    | 10       | 2s            |
      | peer  | 1    | 20       |               |
    When pod "urgent" asks for 1 GPU at priority 100
    Then "batch" was preempted for "urgent"
    When a controller replaces "batch" by "replacement"
    Then "urgent" runs
    And "replacement" keeps waiting
    And "batch" was preempted for "urgent"
    And "urgent", "peer" are still there
    When "urgent" finishes
    Then "replacement" runs
