@taints
Feature: Taints keep pods away, tolerations let them in
  A taint says whom a node does not want. A toleration lets a pod in, it does not pull it there.

  @TNT-01 @must
  Scenario: An intolerant pod stays out, and whoever runs there already stays
    Source: Kubernetes documentation, Taints and Tolerations: NoSchedule lets no new pod in and leaves running ones alone.
    Given a node "picky" with 2 GPUs
    And pods running:
      | pod     | GPUs |
      | settled | 1    |
    When node "picky" gets the taint "gpu=true:NoSchedule"
    And pod "stranger" asks for 1 GPU
    Then "stranger" is refused, and the reason names "untolerated taint"
    And "stranger" keeps waiting
    And "settled" is still there
    When the taints of "picky" are removed
    Then "stranger" runs

  @TNT-02 @must
  Scenario: A toleration with the same key, value and effect lets a pod in
    Source: Kubernetes documentation, Taints and Tolerations: operator Equal.
    Given a node "picky" with 2 GPUs and the taint "gpu=true:NoSchedule"
    When pod "stranger" asks for 1 GPU
    And pod "guest" asks for 1 GPU and tolerates "gpu=true:NoSchedule"
    Then "guest" runs on "picky"
    And "stranger" keeps waiting

  @TNT-03 @must
  Scenario: A toleration of another value does not
    Source: Kubernetes documentation, Taints and Tolerations: operator Equal compares the values.
    Given a node "picky" with 2 GPUs and the taint "gpu=true:NoSchedule"
    When pod "mistaken" asks for 1 GPU and tolerates "gpu=false:NoSchedule"
    Then "mistaken" keeps waiting
    When pod "guest" asks for 1 GPU and tolerates "gpu=true:NoSchedule"
    Then "guest" runs on "picky"

  @TNT-04 @must
  Scenario: Tolerating everything opens every node, and keeps the pod there
    Source: Kubernetes documentation, Taints and Tolerations: an empty key with operator Exists tolerates everything.
    Given nodes:
      | node   | GPUs | taints            |
      | first  | 1    | gpu=true:NoSchedule |
      | second | 1    | ssd=true:NoExecute  |
    When pod "one" asks for 1 GPU and tolerates "all"
    And pod "two" asks for 1 GPU and tolerates "all"
    Then "one", "two" run on two different nodes
    And "one", "two" are still there

  @TNT-05 @must
  Scenario: A toleration without an effect matches all effects of its key
    Source: Kubernetes documentation, Taints and Tolerations: an empty effect matches all effects.
    Given nodes:
      | node  | GPUs | taints                                |
      | picky | 2    | gpu=true:NoSchedule gpu=true:NoExecute |
    When pod "half" asks for 1 GPU and tolerates "gpu:NoSchedule"
    And pod "whole" asks for 1 GPU and tolerates "gpu"
    Then "whole" runs on "picky"
    And "half" keeps waiting
    And "whole" is still there

  @TNT-07 @must
  Scenario: NoExecute keeps new pods out as well
    Source: Kubernetes documentation, Taints and Tolerations: no pod is scheduled onto a node with a NoExecute taint it does not tolerate.
    Given a node "picky" with 2 GPUs and the taint "gpu=true:NoExecute"
    When pod "stranger" asks for 1 GPU
    Then "stranger" keeps waiting
    When pod "guest" asks for 1 GPU and tolerates "gpu=true:NoExecute"
    Then "guest" runs on "picky"

  @TNT-12 @must @preemption
  Scenario: Nobody is evicted from a node that the newcomer may not enter
    Source: kube-scheduler: a node with an untolerated taint cannot be helped by preemption.
    Given nodes:
      | node  | GPUs | taints              |
      | picky | 1    | gpu=true:NoSchedule |
      | open  | 1    |                     |
    And pods running:
      | pod     | GPUs | priority | node  | tolerates           |
      | settled | 1    | 10       | picky | gpu=true:NoSchedule |
      | holder  | 1    | 1000     | open  |                     |
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" keeps waiting
    And nobody was preempted
    When "holder" finishes
    Then "urgent" runs on "open"

  @TNT-14 @must
  Scenario: A cordoned node takes no new pods and keeps those it has
    Source: Kubernetes documentation, Nodes: marking a node unschedulable prevents new pods and does not affect existing ones.
    Given a node "closed" with 2 GPUs
    And pods running:
      | pod     | GPUs |
      | settled | 1    |
    When node "closed" is cordoned
    And pod "newcomer" asks for 1 GPU
    Then "newcomer" keeps waiting
    And "settled" is still there
    When node "closed" is uncordoned
    Then "newcomer" runs on "closed"
