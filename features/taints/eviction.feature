@taints @cluster
Feature: Taints that drive pods out
  NoExecute also concerns whoever runs there already. The control plane sees to it, whatever the scheduler.

  @TNT-08 @must
  Scenario: An intolerant pod is driven out at once
    Source: Kubernetes documentation, Taints and Tolerations: pods that do not tolerate a NoExecute taint are evicted immediately.
    Given a node "fickle" with 2 GPUs
    And pods running:
      | pod     | GPUs | tolerates          |
      | unhappy | 1    |                    |
      | content | 1    | gpu=true:NoExecute |
    When node "fickle" gets the taint "gpu=true:NoExecute"
    Then "unhappy" says before it goes that a taint drove it out
    And an event "TaintManagerEviction" about "unhappy" says "Marking for deletion"
    And "content" is still there

  @TNT-09 @must
  Scenario: A pod that tolerates a taint for a time goes when that time is over
    Source: Kubernetes documentation, Taints and Tolerations: tolerationSeconds says how long a pod stays bound after the taint is added.
    Given a node "fickle" with 2 GPUs
    And pods running:
      | pod    | GPUs | tolerates          |
      | steady | 1    | gpu=true:NoExecute |
    And pod "guest" runs with 1 GPU and tolerates "gpu=true:NoExecute" for 3 s
    When node "fickle" gets the taint "gpu=true:NoExecute"
    Then "guest" is driven out of "fickle" after 3 s
    And "steady" is still there

  @TNT-10 @must
  Scenario: Of several times the shortest counts
    Source: Kubernetes documentation, Taints and Tolerations: a pod must tolerate every taint, so the shortest time ends its stay.
    Given a node "fickle" with 2 GPUs
    And pod "guest" runs with 1 GPU and tolerates:
      | taint              | seconds |
      | gpu=true:NoExecute | 60      |
      | ssd=true:NoExecute | 2       |
    When node "fickle" gets the taints "gpu=true:NoExecute", "ssd=true:NoExecute"
    Then "guest" is driven out of "fickle" after 2 s

  @TNT-11 @must
  Scenario: A taint that goes in time drives nobody out
    Source: Kubernetes conformance, "removing taint cancels eviction" (since 1.16).
    Given a node "forgiven" with 2 GPUs
    And a node "doomed" with 1 GPU
    And pod "hasty" runs on "forgiven" with 1 GPU and tolerates "gpu=true:NoExecute" for 1 s
    And pod "lucky" runs on "forgiven" with 1 GPU and tolerates "gpu=true:NoExecute" for 4 s
    And pod "unlucky" runs on "doomed" with 1 GPU and tolerates "gpu=true:NoExecute" for 4 s
    When node "forgiven" gets the taint "gpu=true:NoExecute"
    And node "doomed" gets the taint "gpu=true:NoExecute"
    Then "hasty" is driven out of "forgiven" after 1 s
    When the taints of "forgiven" are removed
    Then an event "TaintManagerEviction" about "lucky" says "Cancelling deletion"
    And "unlucky" is driven out of "doomed" after 4 s
    And "lucky" is still there

  @TNT-15 @must
  Scenario: Pods leave a node of which nothing is heard any more
    Source: Kubernetes documentation, Taints and Tolerations: a node whose Ready condition is Unknown is tainted unreachable.
    Given a node "remote" with 2 GPUs
    And pods running:
      | pod     | GPUs |
      | patient | 1    |
    And pod "hasty" runs with 1 GPU and tolerates "node.kubernetes.io/unreachable:NoExecute" for 2 s
    When nothing is heard of node "remote" any more
    Then node "remote" carries the taint "node.kubernetes.io/unreachable:NoExecute"
    And "hasty" is driven out of "remote" after 2 s
    And "patient" is still there
