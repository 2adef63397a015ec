@preemption
Feature: Non-preempting, system-critical and gated pods
  preemptionPolicy Never does not protect a pod, a scheduling gate keeps a pod out of scheduling, and
  system-cluster-critical pods have the highest priority.

  @PRE-13 @must
  Scenario: A pod with preemptionPolicy Never can be preempted
    Source: Kubernetes documentation, Pod Priority and Preemption: non-preempting pods may be preempted by others.
    Given a node with 1 GPU
    And pod "policy-never" runs with 1 GPU at priority 50 with preemptionPolicy Never
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" runs
    And "policy-never" was preempted for "urgent"

  @PRE-23 @must
  Scenario: A system-cluster-critical pod preempts any user pod
    Source: Kubernetes conformance, "validates lower priority pod preemption by critical pod" (since 1.19).
    Given a node with 1 GPU
    And pods running at priority 1000000000:
      | pod  | GPUs |
      | user | 1    |
    When system-cluster-critical pod "guardian" requests 1 GPU
    Then "guardian" runs
    And "user" was preempted for "guardian"
    When pod "topmost" requests 1 GPU at priority 1000000000
    Then "topmost" stays pending
    And "guardian" was not evicted
    When "guardian" finishes
    Then "topmost" runs

  @PRE-26 @must
  Scenario: A pod with scheduling gates is not bound and does not preempt
    Source: Kubernetes documentation, Pod Scheduling Readiness: a pod with gates is not considered for scheduling.
    Given a node with 2 GPUs
    And pods running at priority 10:
      | pod | GPUs |
      | low | 1    |
    When gated pod "small" requests 1 GPU at priority 100
    And gated pod "large" requests 2 GPUs at priority 200
    Then "small", "large" stay pending
    And no pod was preempted
    When the scheduling gate of "small" is removed
    Then "small" runs
    And no pod was preempted
    When the scheduling gate of "large" is removed
    Then "large" runs
    And "low", "small" were preempted for "large"
