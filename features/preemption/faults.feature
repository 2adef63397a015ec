@preemption
Feature: Preemption and faults
  A preemption takes time: victims terminate, the scheduler may restart. Neither costs another pod its node.

  @FLT-07 @must
  Scenario: A scheduler that restarts between eviction and binding preempts no other pod
    Source: kube-scheduler: a pod with a terminating victim on its nominated node, which its status keeps, is not eligible to preempt again.
    Given a node with 2 GPUs
    And pods running at priority 10:
      | pod    | GPUs | grace period |
      | first  | 1    | long         |
      | second | 1    | long         |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" stays pending while exactly one of "first", "second" terminates
    When the scheduler is killed and restarted
    Then "urgent" stays pending while exactly one of "first", "second" terminates
    When the grace periods of the victims end
    Then "urgent" runs on the node of one of the victims "first", "second"
    And exactly one of "first", "second" was preempted for "urgent"
    And no other pod was evicted or failed

  @FLT-08 @must
  Scenario: A victim that is held by a finalizer delays neither its preemptor nor other pods
    Source: kube-scheduler: a pod in a terminal phase uses no resources of its node, whether the object is gone or not.
    Given a node with 2 GPUs
    And pods running:
      | pod   | GPUs | priority | finalizer |
      | held  | 1    | 10       | yes       |
      | other | 1    | 20       |           |
    When pod "urgent" requests 1 GPU at priority 100
    Then "held" was preempted for "urgent"
    And "urgent" runs
    And "held" has ended and is held by its finalizer
    And no other pod was evicted or failed
    When "other" finishes
    And pod "next" requests 1 GPU at priority 10
    Then "next" runs
    And "held" has ended and is held by its finalizer
