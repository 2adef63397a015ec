@preemption
Feature: Preemption and placement constraints
  A node is considered for preemption only if the pod could be scheduled there without its lower-priority pods.
  Eviction changes neither the labels of a node nor the higher-priority pods on it.

  @PRE-34 @must
  Scenario Outline: No preemption on a node that the pod's <constraint> excludes
    Source: Kubernetes documentation, Pod Priority and Preemption: a node is considered only if the pod can be scheduled there once all lower-priority pods are removed.
    Given a node "east" with 1 GPU and the label "zone=east"
    And a node "west" with 1 GPU and the label "zone=west"
    And pods running:
      | pod    | GPUs | priority | node |
      | low    | 1    | 10       | east |
      | holder | 1    | 1000     | west |
    When pod "urgent" requests 1 GPU at priority 100 with <constraint> "zone=west"
    Then "urgent" stays pending
    And no pod was preempted
    When "holder" finishes
    Then "urgent" runs on "west"
    And no pod was preempted

    Examples:
      | constraint             |
      | nodeSelector           |
      | required node affinity |

  @PRE-35 @must @affinity
  Scenario: No preemption on a node that required pod anti-affinity excludes
    Source: Kubernetes documentation, Pod Priority and Preemption: a node is considered only if the pod can be scheduled there once all lower-priority pods are removed.
    Given a node with 2 GPUs
    And pods running:
      | pod    | GPUs | priority | app    |
      | holder | 1    | 1000     | server |
      | low    | 1    | 10       |        |
    When pod "urgent" requests 1 GPU at priority 100 with required anti-affinity to app "server"
    Then "urgent" stays pending
    And no pod was preempted
    When "holder" finishes
    Then "urgent" runs
    And no pod was preempted

  @PRE-36 @must @affinity
  Scenario: No preemption on a node that a DoNotSchedule topology spread excludes
    Source: Kubernetes documentation, Pod Priority and Preemption: a node is considered only if the pod can be scheduled there once all lower-priority pods are removed.
    Given a node "east" with 2 GPUs
    And a node "west" with 1 GPU
    And pods running:
      | pod    | GPUs | priority | node | app    |
      | first  | 1    | 1000     | east | server |
      | low    | 1    | 10       | east |        |
      | holder | 1    | 1000     | west |        |
    When pod "urgent" of app "server" requests 1 GPU at priority 100 with a DoNotSchedule spread of its app over the nodes
    Then "urgent" stays pending
    And no pod was preempted
    When "holder" finishes
    Then "urgent" runs on "west"
    And no pod was preempted
