@taints @cluster
Feature: Taint-based eviction
  NoExecute also applies to running pods. The control plane evicts them, whatever the scheduler.

  @TNT-08 @must
  Scenario: NoExecute evicts a pod without a toleration immediately
    Source: Kubernetes documentation, Taints and Tolerations: pods that do not tolerate a NoExecute taint are evicted immediately.
    Given a node "tainted" with 2 GPUs
    And pods running:
      | pod        | GPUs | tolerates          |
      | intolerant | 1    |                    |
      | tolerant   | 1    | gpu=true:NoExecute |
    When node "tainted" gets the taint "gpu=true:NoExecute"
    Then "intolerant" has DisruptionTarget=DeletionByTaintManager before deletion
    And a "TaintManagerEviction" event on "intolerant" contains "Marking for deletion"
    And "tolerant" was not evicted

  @TNT-09 @must
  Scenario: A pod is evicted after tolerationSeconds
    Source: Kubernetes documentation, Taints and Tolerations: tolerationSeconds says how long a pod stays bound after the taint is added.
    Given a node "tainted" with 2 GPUs
    And pods running:
      | pod    | GPUs | tolerates          |
      | steady | 1    | gpu=true:NoExecute |
    And pod "tolerant" runs with 1 GPU and tolerates "gpu=true:NoExecute" for 3 s
    When node "tainted" gets the taint "gpu=true:NoExecute"
    Then "tolerant" is evicted from "tainted" by the taint after 3 s
    And "steady" was not evicted

  @TNT-10 @must
  Scenario: Of several tolerations the shortest tolerationSeconds applies
    Source: Kubernetes documentation, Taints and Tolerations: a pod must tolerate every taint, so the shortest time ends its stay.
    Given a node "tainted" with 2 GPUs
    And pod "tolerant" runs with 1 GPU and tolerates:
      | taint              | seconds |
      | gpu=true:NoExecute | 60      |
      | ssd=true:NoExecute | 2       |
    When node "tainted" gets the taints "gpu=true:NoExecute", "ssd=true:NoExecute"
    Then "tolerant" is evicted from "tainted" by the taint after 2 s

  @TNT-11 @must
  Scenario: Removing the taint before tolerationSeconds cancels the eviction
    Source: Kubernetes conformance, "removing taint cancels eviction" (since 1.16).
    Given a node "taint-removed" with 2 GPUs
    And a node "taint-kept" with 1 GPU
    And pod "evicted-early" runs on "taint-removed" with 1 GPU and tolerates "gpu=true:NoExecute" for 1 s
    And pod "kept" runs on "taint-removed" with 1 GPU and tolerates "gpu=true:NoExecute" for 4 s
    And pod "evicted" runs on "taint-kept" with 1 GPU and tolerates "gpu=true:NoExecute" for 4 s
    When node "taint-removed" gets the taint "gpu=true:NoExecute"
    And node "taint-kept" gets the taint "gpu=true:NoExecute"
    Then "evicted-early" is evicted from "taint-removed" by the taint after 1 s
    When the taints of "taint-removed" are removed
    Then a "TaintManagerEviction" event on "kept" contains "Cancelling deletion"
    And "evicted" is evicted from "taint-kept" by the taint after 4 s
    And "kept" was not evicted

  @TNT-15 @must
  Scenario: Pods on an unreachable node are evicted
    Source: Kubernetes documentation, Taints and Tolerations: a node whose Ready condition is Unknown is tainted unreachable.
    Given a node "remote" with 2 GPUs
    And pods running:
      | pod                | GPUs |
      | default-toleration | 1    |
    And pod "two-seconds" runs with 1 GPU and tolerates "node.kubernetes.io/unreachable:NoExecute" for 2 s
    When node "remote" becomes unreachable
    Then node "remote" has the taint "node.kubernetes.io/unreachable:NoExecute"
    And "two-seconds" is evicted from "remote" by the taint after 2 s
    And "default-toleration" was not evicted
