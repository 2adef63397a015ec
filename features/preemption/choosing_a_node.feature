@preemption
Feature: Where room is made
  Several nodes could be cleared for a more important pod. The one whose loss weighs least is taken.

  @PRE-07 @must
  Scenario: The node with the least important victim gives way
    Source: Kubernetes documentation, Pod Priority and Preemption: of several nodes the one with the lowest-priority pods is chosen.
    Given a node "grand" with 1 GPU
    And a node "humble" with 1 GPU
    And a node "middling" with 1 GPU
    And pods running:
      | pod     | GPUs | priority | node     |
      | weighty | 1    | 30       | grand    |
      | slight  | 1    | 10       | humble   |
      | medium  | 1    | 20       | middling |
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" runs on "humble"
    And "slight" was preempted for "urgent"
    When pod "pressing" asks for 1 GPU at priority 100
    Then "pressing" runs on "middling"
    And "medium" was preempted for "pressing"
    And "weighty" is still there

  @PRE-08 @should
  Scenario: Of equally important victims as few as possible
    Source: kube-scheduler, choice of the node: the smallest sum of priorities, then the fewest victims.
    Given a node "crowd" with 3 GPUs
    And a node "single" with 3 GPUs
    And a node "couple" with 3 GPUs
    And pods running at priority 10:
      | pod       | GPUs | node   |
      | crowd-1   | 1    | crowd  |
      | crowd-2   | 1    | crowd  |
      | crowd-3   | 1    | crowd  |
      | alone     | 3    | single |
      | partner-1 | 1    | couple |
      | partner-2 | 2    | couple |
    When pod "urgent" asks for 3 GPUs at priority 100
    Then "urgent" runs on "single"
    And "alone" was preempted for "urgent"
    When pod "pressing" asks for 3 GPUs at priority 100
    Then "pressing" runs on "couple"
    And "partner-1", "partner-2" were preempted for "pressing"
    And "crowd-1", "crowd-2", "crowd-3" are still there

  @PRE-09 @should
  Scenario: Of equal nodes the one whose victim started last gives way
    Source: kube-scheduler, choice of the node: the latest start among the most important victims.
    Given a node "long" with 1 GPU
    And a node "short" with 1 GPU
    And a node "while" with 1 GPU
    And pods running at priority 10, each started after the one above:
      | pod     | GPUs | node  |
      | veteran | 1    | long  |
      | regular | 1    | while |
      | novice  | 1    | short |
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" runs on "short"
    And "novice" was preempted for "urgent"
    And "veteran", "regular" are still there
