@preemption
Feature: Choice of the node for preemption
  When preemption is possible on several nodes, the node with the least costly victims is chosen.

  @PRE-07 @must
  Scenario: The node with the lowest-priority victim is chosen
    Source: Kubernetes documentation, Pod Priority and Preemption: of several nodes the one with the lowest-priority pods is chosen.
    Given a node "east" with 1 GPU
    And a node "middle" with 1 GPU
    And a node "west" with 1 GPU
    And pods running:
      | pod  | GPUs | priority | node   |
      | high | 1    | 30       | east   |
      | low  | 1    | 10       | middle |
      | mid  | 1    | 20       | west   |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" runs on "middle"
    And "low" was preempted for "urgent"
    When pod "pressing" requests 1 GPU at priority 100
    Then "pressing" runs on "west"
    And "mid" was preempted for "pressing"
    And "high" was not evicted

  @PRE-08 @should
  Scenario: At equal priority the node with the fewest victims is chosen
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
    When pod "urgent" requests 3 GPUs at priority 100
    Then "urgent" runs on "single"
    And "alone" was preempted for "urgent"
    When pod "pressing" requests 3 GPUs at priority 100
    Then "pressing" runs on "couple"
    And "partner-1", "partner-2" were preempted for "pressing"
    And "crowd-1", "crowd-2", "crowd-3" were not evicted

  @PRE-09 @should
  Scenario: At equal cost the node whose victim started last is chosen
    Source: kube-scheduler, choice of the node: the latest start among the most important victims.
    Given a node "long" with 1 GPU
    And a node "short" with 1 GPU
    And a node "while" with 1 GPU
    And pods running at priority 10, each started after the one above:
      | pod    | GPUs | node  |
      | oldest | 1    | long  |
      | older  | 1    | while |
      | newest | 1    | short |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" runs on "short"
    And "newest" was preempted for "urgent"
    And "oldest", "older" were not evicted
