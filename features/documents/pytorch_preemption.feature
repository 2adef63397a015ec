@documents @preemption
Feature: Medium and critical training on a full cluster
  Arena's walk-through of preemption between PyTorch jobs, at the level of pods: three masters without GPUs, three
  workers with four GPUs each. (The document's scheduling.k8s.io/v1beta1 is no longer served: its classes are v1 here.)

  @DOC-1 @must @doc-1
  Scenario: A critical pod takes the place of one member of a medium job
    Given nodes:
      | node     | GPUs | taints                                           |
      | master-1 | 0    | node-role.kubernetes.io/control-plane:NoSchedule |
      | master-2 | 0    | node-role.kubernetes.io/control-plane:NoSchedule |
      | master-3 | 0    | node-role.kubernetes.io/control-plane:NoSchedule |
      | worker-1 | 4    |                                                  |
      | worker-2 | 4    |                                                  |
      | worker-3 | 4    |                                                  |
    And the priority class "critical" of 1100000
    And the priority class "medium" of 1000000
    When pods "medium-master-0", "medium-worker-0", "medium-worker-1" ask for 4 GPUs each with the priority class "medium"
    Then "medium-master-0", "medium-worker-0", "medium-worker-1" run on three different nodes
    And the GPUs in use are:
      | node     | GPUs |
      | master-1 | 0    |
      | master-2 | 0    |
      | master-3 | 0    |
      | worker-1 | 4    |
      | worker-2 | 4    |
      | worker-3 | 4    |
    When pod "critical-master-0" asks for 1 GPU with the priority class "critical"
    Then "critical-master-0" runs in the place of one of "medium-master-0", "medium-worker-0", "medium-worker-1"
    And exactly one of "medium-master-0", "medium-worker-0", "medium-worker-1" was preempted for "critical-master-0"
    And nothing else was disturbed
    And at no time more than 12 GPUs were in use
