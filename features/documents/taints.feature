@documents @taints
Feature: Training on tainted nodes
  Arena's walk-through of --toleration, at the level of pods: two workers carry gpu_node, a third one ssd_node.

  @DOC-4 @must @doc-4
  Scenario: A toleration opens the nodes of its key, "all" opens every node
    Given nodes:
      | node     | GPUs | taints                                           |
      | master-1 | 0    | node-role.kubernetes.io/control-plane:NoSchedule |
      | master-2 | 0    | node-role.kubernetes.io/control-plane:NoSchedule |
      | master-3 | 0    | node-role.kubernetes.io/control-plane:NoSchedule |
      | worker-1 | 1    | gpu_node=invalid:NoSchedule                      |
      | worker-2 | 1    | gpu_node=invalid:NoSchedule                      |
      | worker-3 | 4    | ssd_node=invalid:NoSchedule                      |
    When pod "plain-master-0" asks for 1 GPU
    Then "plain-master-0" is refused, and the reason names "untolerated taint"
    And "plain-master-0" keeps waiting
    When pod "toleration-master-0" asks for 1 GPU and tolerates "gpu_node"
    And pod "toleration-worker-0" asks for 1 GPU and tolerates "gpu_node"
    Then "toleration-master-0", "toleration-worker-0" run on "worker-1" and "worker-2" only
    When pod "late-master-0" asks for 1 GPU and tolerates "gpu_node"
    Then "late-master-0" keeps waiting
    When pod "both-master-0" asks for 1 GPU and tolerates "gpu_node", "ssd_node"
    Then "both-master-0" runs on "worker-3"
    When pod "all-master-0" asks for 1 GPU and tolerates "all"
    Then "all-master-0" runs on "worker-3"
    When the taints of "worker-1", "worker-2" and "worker-3" are removed
    Then "plain-master-0", "late-master-0" run on "worker-3" only
