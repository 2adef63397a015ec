@preemption
Feature: Pods with a standing of their own
  Patience does not protect, a gate keeps a pod out of everything, and what the cluster itself needs comes first.

  @PRE-13 @must
  Scenario: A pod that never preempts can be a victim
    Source: Kubernetes documentation, Pod Priority and Preemption: non-preempting pods may be preempted by others.
    Given a node with 1 GPU
    And pod "polite" runs with 1 GPU at priority 50 and never preempts
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" runs
    And "polite" was preempted for "urgent"

  @PRE-23 @must
  Scenario: What the cluster itself needs goes before every user's pod
    Source: Kubernetes conformance, "validates lower priority pod preemption by critical pod" (since 1.19).
    Given a node with 1 GPU
    And pods running at priority 1000000000:
      | pod  | GPUs |
      | user | 1    |
    When the cluster's own critical pod "guardian" asks for 1 GPU
    Then "guardian" runs
    And "user" was preempted for "guardian"
    When pod "topmost" asks for 1 GPU at priority 1000000000
    Then "topmost" keeps waiting
    And "guardian" is still there
    When "guardian" finishes
    Then "topmost" runs

  @PRE-26 @must
  Scenario: A gated pod is neither placed nor made room for
    Source: Kubernetes documentation, Pod Scheduling Readiness: a pod with gates is not considered for scheduling.
    Given a node with 2 GPUs
    And pods running at priority 10:
      | pod | GPUs |
      | low | 1    |
    When gated pod "small" asks for 1 GPU at priority 100
    And gated pod "large" asks for 2 GPUs at priority 200
    Then "small", "large" keep waiting
    And nobody was preempted
    When the gate of "small" is opened
    Then "small" runs
    And nobody was preempted
    When the gate of "large" is opened
    Then "large" runs
    And "low", "small" were preempted for "large"
