@pods
Feature: Pods beside others
  A scheduler serves the pods that name it, as far as it understands what they ask for, and no pod stops the others.

  @PRE-31 @must
  Scenario: A pod with another schedulerName is not bound
    Source: Kubernetes API, Pod: a pod with a schedulerName is dispatched by the specified scheduler.
    Given a node with 2 GPUs
    When pod "other" with another schedulerName requests 1 GPU at priority 100
    Then "other" stays pending
    When pod "own" requests 1 GPU at priority 10
    Then "own" runs
    And "other" stays pending
    And no pod was preempted

  @PRE-37 @must @preemption @own-victims
  Scenario: A running pod with another schedulerName is not preempted
    Source: Kubernetes API, Pod: a pod with a schedulerName is dispatched by the specified scheduler; that a scheduler preempts no other pods is its own claim, with its source.
    Given a node "shared" with 2 GPUs
    And pod "other" with another schedulerName, 1 GPU and priority 1 running on node "shared"
    And pods running at priority 10:
      | pod | GPUs |
      | own | 1    |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" runs
    And "other" was not evicted
    And "own" was preempted for "urgent"

  @PRE-38 @should @preemption @any-victims
  Scenario: A running pod with another schedulerName is preempted by its priority
    Source: kube-scheduler, DefaultPreemption, SelectVictimsOnNode: every lower-priority pod of a node is a potential victim, whatever its schedulerName is.
    Given a node "shared" with 2 GPUs
    And pod "other" with another schedulerName, 1 GPU and priority 1 running on node "shared"
    And pods running at priority 10:
      | pod | GPUs |
      | own | 1    |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" runs
    And "other" was preempted for "urgent"
    And "own" was not evicted

  @TEN-03 @must
  Scenario: A pod whose ResourceClaim does not exist stays pending and other pods are bound
    Source: Kubernetes API, Pod: resourceClaims must be allocated and reserved before the pod is allowed to start.
    Given a node with 2 GPUs
    When pod "claimant" requests 1 GPU and names a ResourceClaim that does not exist
    Then "claimant" stays pending
    When pod "other" requests 1 GPU
    Then "other" runs
    And "claimant" stays pending

  @TEN-06 @should
  Scenario: A pod whose ResourceClaim does not exist is reported unschedulable with the reason
    Source: Kubernetes documentation, Debug Pods: for a pending pod there should be messages from the scheduler about why it cannot be scheduled.
    Given a node with 1 GPU
    When pod "claimant" requests 1 GPU and names a ResourceClaim that does not exist
    Then "claimant" is reported unschedulable, and the condition contains "claim"
    And "claimant" stays pending
