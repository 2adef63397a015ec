@taints
Feature: Taints and tolerations
  A taint keeps pods off a node. A toleration allows scheduling there, it does not attract a pod.

  @TNT-01 @must
  Scenario: NoSchedule keeps out pods without a toleration and leaves running pods alone
    Source: Kubernetes documentation, Taints and Tolerations: NoSchedule lets no new pod in and leaves running ones alone.
    Given a node "tainted" with 2 GPUs
    And pods running:
      | pod      | GPUs |
      | existing | 1    |
    When node "tainted" gets the taint "gpu=true:NoSchedule"
    And pod "intolerant" requests 1 GPU
    Then "intolerant" is reported unschedulable, and the condition contains "untolerated taint"
    And "intolerant" stays pending
    And "existing" was not evicted
    When the taints of "tainted" are removed
    Then "intolerant" runs

  @TNT-02 @must
  Scenario: A toleration with the same key, value and effect matches
    Source: Kubernetes documentation, Taints and Tolerations: operator Equal.
    Given a node "tainted" with 2 GPUs and the taint "gpu=true:NoSchedule"
    When pod "intolerant" requests 1 GPU
    And pod "tolerant" requests 1 GPU and tolerates "gpu=true:NoSchedule"
    Then "tolerant" runs on "tainted"
    And "intolerant" stays pending

  @TNT-03 @must
  Scenario: A toleration with another value does not match
    Source: Kubernetes documentation, Taints and Tolerations: operator Equal compares the values.
    Given a node "tainted" with 2 GPUs and the taint "gpu=true:NoSchedule"
    When pod "other-value" requests 1 GPU and tolerates "gpu=false:NoSchedule"
    Then "other-value" stays pending
    When pod "tolerant" requests 1 GPU and tolerates "gpu=true:NoSchedule"
    Then "tolerant" runs on "tainted"

  @TNT-04 @must
  Scenario: A toleration with operator Exists and no key tolerates every taint
    Source: Kubernetes documentation, Taints and Tolerations: an empty key with operator Exists tolerates everything.
    Given nodes:
      | node   | GPUs | taints              |
      | first  | 1    | gpu=true:NoSchedule |
      | second | 1    | ssd=true:NoExecute  |
    When pod "one" requests 1 GPU and tolerates "all"
    And pod "two" requests 1 GPU and tolerates "all"
    Then "one", "two" run on two different nodes
    And "one", "two" were not evicted

  @TNT-05 @must
  Scenario: A toleration without an effect matches all effects of its key
    Source: Kubernetes documentation, Taints and Tolerations: an empty effect matches all effects.
    Given nodes:
      | node    | GPUs | taints                                 |
      | tainted | 2    | gpu=true:NoSchedule gpu=true:NoExecute |
    When pod "one-effect" requests 1 GPU and tolerates "gpu:NoSchedule"
    And pod "without-effect" requests 1 GPU and tolerates "gpu"
    Then "without-effect" runs on "tainted"
    And "one-effect" stays pending
    And "without-effect" was not evicted

  @TNT-07 @must
  Scenario: NoExecute also prevents scheduling
    Source: Kubernetes documentation, Taints and Tolerations: no pod is scheduled onto a node with a NoExecute taint it does not tolerate.
    Given a node "tainted" with 2 GPUs and the taint "gpu=true:NoExecute"
    When pod "intolerant" requests 1 GPU
    Then "intolerant" stays pending
    When pod "tolerant" requests 1 GPU and tolerates "gpu=true:NoExecute"
    Then "tolerant" runs on "tainted"

  @TNT-12 @must @preemption
  Scenario: No preemption on a node whose taints the pod does not tolerate
    Source: kube-scheduler: a node with an untolerated taint cannot be helped by preemption.
    Given nodes:
      | node    | GPUs | taints              |
      | tainted | 1    | gpu=true:NoSchedule |
      | open    | 1    |                     |
    And pods running:
      | pod      | GPUs | priority | node    | tolerates           |
      | existing | 1    | 10       | tainted | gpu=true:NoSchedule |
      | holder   | 1    | 1000     | open    |                     |
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" stays pending
    And no pod was preempted
    When "holder" finishes
    Then "urgent" runs on "open"

  @TNT-14 @must
  Scenario: A cordoned node accepts no new pods and keeps its running pods
    Source: Kubernetes documentation, Nodes: marking a node unschedulable prevents new pods and does not affect existing ones.
    Given a node "closed" with 2 GPUs
    And pods running:
      | pod      | GPUs |
      | existing | 1    |
    When node "closed" is cordoned
    And pod "new" requests 1 GPU
    Then "new" stays pending
    And "existing" was not evicted
    When node "closed" is uncordoned
    Then "new" runs on "closed"
