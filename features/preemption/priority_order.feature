@preemption
Feature: Priority order of pending pods
  Priority decides which pending pod is scheduled first. preemptionPolicy decides whether it may also preempt.

  @PRE-12 @must
  Scenario: A pod with preemptionPolicy Never stays pending and keeps its place in the queue
    Source: Kubernetes documentation, Pod Priority and Preemption: non-preempting PriorityClass.
    Given a node with 1 GPU
    And pods running at priority 50:
      | pod    | GPUs |
      | holder | 1    |
    When pod "ordinary" requests 1 GPU at priority 50
    And pod "policy-never" requests 1 GPU at priority 100 with preemptionPolicy Never
    Then "ordinary", "policy-never" stay pending
    And no pod was preempted
    When "holder" finishes
    Then "policy-never" runs
    And "ordinary" stays pending
    When "policy-never" finishes
    Then "ordinary" runs

  @PRE-24 @must
  Scenario: Freed capacity goes to the highest-priority pending pod
    Source: Kubernetes documentation, Pod Priority and Preemption: pending pods are ordered by priority.
    Given a node with 1 GPU
    And pods running at priority 1000:
      | pod    | GPUs |
      | holder | 1    |
    When pod "low" requests 1 GPU at priority 10
    And pod "high" requests 1 GPU at priority 100
    Then "low", "high" stay pending
    When "holder" finishes
    Then "high" runs
    And "low" stays pending
    When "high" finishes
    Then "low" runs

  @PRE-25 @must
  Scenario: An unschedulable pod reports the insufficient resource
    Source: Kubernetes documentation, Assign Extended Resources: the event FailedScheduling names the insufficient resource.
    Given a node "east" with 2 GPUs
    And a node "west" with 2 GPUs
    When pod "large" requests 3 GPUs at priority 10
    Then "large" is reported unschedulable, and the condition contains "Unschedulable" and "nvidia.com/gpu"
    And a Warning event on "large" contains "Insufficient nvidia.com/gpu"
    When a node "added" with 4 GPUs joins
    Then "large" runs on "added"
