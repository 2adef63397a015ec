@preemption
Feature: Competition for a nominated node
  Until a pod is bound, the highest priority wins: a nominated node is not a binding.

  @PRE-21 @must
  Scenario: Of two concurrent preemptors the higher-priority one is bound
    Source: Kubernetes documentation, Pod Priority and Preemption: a pending pod goes before others of lower priority.
    Given a node with 1 GPU
    And pods running at priority 10:
      | pod    | GPUs | grace period |
      | victim | 1    | long         |
    When pods are created while the scheduler is paused:
      | pod      | GPUs | priority |
      | urgent   | 1    | 100      |
      | critical | 1    | 200      |
    Then "victim" was preempted
    When the grace periods of the victims end
    Then "critical" runs
    And "urgent" stays pending
    And no other pod was evicted or failed
    When "critical" finishes
    Then "urgent" runs

  @PRE-22 @should
  Scenario: A higher-priority pod takes over a nominated node
    Source: Kubernetes documentation, Pod Priority and Preemption: a nominated node may be given to a pod of higher priority that comes later.
    Given a node with 1 GPU
    And pods running at priority 10:
      | pod    | GPUs | grace period |
      | victim | 1    | long         |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" is nominated to the node of "victim" while "victim" terminates
    When pod "critical" requests 1 GPU at priority 200
    And the grace periods of the victims end
    Then "critical" runs
    And "urgent" is no longer nominated to the node of "critical"
    And "urgent" stays pending
    And no other pod was evicted or failed
    When "critical" finishes
    Then "urgent" runs

  @PRE-27 @must
  Scenario: A victim re-created by its controller stays pending and does not preempt
    Source: Kubernetes conformance, "runs ReplicaSets to verify preemption running path" (since 1.19).
    Given a node with 2 GPUs
    And pods running:
      | pod   | GPUs | priority | grace period |
      | batch | 1    | 10       | long         |
      | peer  | 1    | 20       |              |
    When pod "urgent" requests 1 GPU at priority 100
    Then "batch" was preempted for "urgent"
    When a controller replaces "batch" by "replacement"
    And the grace periods of the victims end
    Then "urgent" runs
    And "replacement" stays pending
    And "batch" was preempted for "urgent"
    And "urgent", "peer" were not evicted
    When "urgent" finishes
    Then "replacement" runs

  @PRE-30 @must
  Scenario: A later pod of equal priority does not take the nominated node of a preemptor
    Source: kube-scheduler, filters with nominated pods: a pod yields to nominated pods of equal or higher priority and does not take what was freed for them.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod    | GPUs | grace period |
      | victim | 3    | long         |
    When pod "urgent" requests 4 GPUs at priority 100
    Then "victim" was preempted for "urgent"
    When pod "equal" requests 1 GPU at priority 100, more than a second later
    Then "equal" stays pending
    When the grace periods of the victims end
    Then "urgent" runs
    And "equal" stays pending
    And no other pod was evicted or failed
    When "urgent" finishes
    Then "equal" runs

  @PRE-33 @must @taints
  Scenario: A nominated node that gets a NoSchedule taint is not used
    Source: Kubernetes documentation, Taints and Tolerations: NoSchedule, no new pods are scheduled on the tainted node unless they tolerate the taint.
    Given a node "here" with 1 GPU
    And pods running at priority 10:
      | pod    | GPUs | grace period |
      | victim | 1    | long         |
    When pod "urgent" requests 1 GPU at priority 100
    Then "victim" was preempted for "urgent"
    When node "here" gets the taint "maintenance=true:NoSchedule"
    And the grace periods of the victims end
    Then "urgent" stays pending
    When the taints of "here" are removed
    Then "urgent" runs on "here"
    And no other pod was evicted or failed
