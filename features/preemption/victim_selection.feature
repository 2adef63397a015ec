@preemption
Feature: Victim selection
  When a pod fits on no node, lower-priority pods may be preempted: no more than needed, the lowest priority first,
  and only where that makes the pod fit.

  @PRE-01 @must
  Scenario: A higher-priority pod preempts no more pods than it needs
    Source: Kubernetes conformance, "validates basic preemption works" (since 1.19).
    Given a node with 2 GPUs
    And pods running at priority 10:
      | pod   | GPUs |
      | left  | 1    |
      | right | 1    |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" runs
    And exactly one of "left", "right" was preempted for "urgent"
    And no other pod was evicted or failed

  @PRE-02 @must
  Scenario: No preemption while the pod fits on another node
    Source: Kubernetes documentation, Pod Priority and Preemption: preemption is tried when no node satisfies the pod.
    Given a node "free" with 1 GPU
    And a node "full" with 1 GPU
    And pods running at priority 10:
      | pod | GPUs | node |
      | low | 1    | full |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" runs on "free"
    And no pod was preempted

  @PRE-03 @must
  Scenario: A pod does not preempt pods of equal priority
    Source: Kubernetes documentation, Pod Priority and Preemption: only pods with lower priority are removed.
    Given a node with 2 GPUs
    And pods running at priority 50:
      | pod   | GPUs |
      | left  | 1    |
      | right | 1    |
    When pod "equal" requests 1 GPU at priority 50
    Then "equal" stays pending
    And no pod was preempted
    When "left" finishes
    Then "equal" runs

  @PRE-04 @must
  Scenario: The lowest-priority pod on the node is preempted first
    Source: Kubernetes documentation, Pod Priority and Preemption: the scheduler prefers the lowest-priority victims.
    Given a node with 3 GPUs
    And pods running:
      | pod    | GPUs | priority |
      | high   | 1    | 30       |
      | low    | 1    | 10       |
      | middle | 1    | 20       |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" runs
    And "low" was preempted for "urgent"
    And "middle", "high" were not evicted
    And no other pod was evicted or failed

  @PRE-05 @should
  Scenario: Among victims of equal priority the most recently started is preempted
    Source: kube-scheduler, importance of pods: higher priority first, then the earlier start.
    Given a node with 2 GPUs
    And pods running at priority 10, each started after the one above:
      | pod    | GPUs |
      | oldest | 1    |
      | newest | 1    |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" runs
    And "newest" was preempted for "urgent"
    And "oldest" was not evicted

  @PRE-06 @must
  Scenario: Pods that still fit beside the preemptor are reprieved
    Source: Kubernetes documentation, Pod Priority and Preemption: victims that need not go are kept back.
    Given a node with 8 GPUs
    And pods running at priority 10:
      | pod  | GPUs |
      | four | 4    |
      | two  | 2    |
      | one  | 1    |
      | uno  | 1    |
    When pod "urgent" requests 3 GPUs at priority 100
    Then "urgent" runs
    And every victim of "urgent" was necessary
    And no other pod was evicted or failed

  @PRE-19 @must
  Scenario: No preemption if the pod would still not fit
    Source: Kubernetes documentation, Pod Priority and Preemption: a node is considered only if removing victims lets the pod in.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod   | GPUs |
      | left  | 2    |
      | right | 2    |
    When pod "huge" requests 8 GPUs at priority 100
    Then "huge" stays pending
    And no pod was preempted
    When pod "small" requests 2 GPUs at priority 100
    Then "small" runs
    And exactly one of "left", "right" was preempted for "small"

  @PRE-29 @must
  Scenario: Free GPUs of two nodes are not summed for one pod
    Source: Kubernetes documentation, Pod Priority and Preemption: victims are chosen on the one node where the pod will run.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And pods running at priority 10:
      | pod       | GPUs | node |
      | east-half | 2    | east |
      | west-half | 2    | west |
    When pod "patient" requests 4 GPUs at priority 10
    Then "patient" stays pending
    And no pod was preempted
    When pod "urgent" requests 4 GPUs at priority 100
    Then "urgent" runs on the node of one of the victims "east-half", "west-half"
    And exactly one of "east-half", "west-half" was preempted for "urgent"
    And no other pod was evicted or failed
