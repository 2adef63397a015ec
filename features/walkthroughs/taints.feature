@documents @taints
Feature: Training on tainted nodes
  Arena's walk-through of --toleration: two workers carry the taint gpu_node, a third one ssd_node.

  @DOC-4 @must @doc-4
  Scenario: A toleration opens the nodes of its key, "all" opens every node
    Given nodes:
      | node     | role   | GPUs | taints                                    |
      | master-1 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | master-2 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | master-3 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | worker-1 |        | 1    | gpu_node=invalid:NoSchedule               |
      | worker-2 |        | 1    | gpu_node=invalid:NoSchedule               |
      | worker-3 |        | 4    | ssd_node=invalid:NoSchedule               |
    # 1: without a toleration nothing is placed, and the reason says so
    When a person types:
      """
      muster submit pytorch --name=plain --gpus=1 --image=training "python mnist.py"
      """
    Then "plain-master-0" is refused, and the reason names "untolerated taint"
    And "plain-master-0" keeps waiting
    # 2: a toleration of one key opens the nodes with that taint, and no others
    When a person types:
      """
      muster submit pytorch --name=pytorch-toleration --gpus=1 --workers=2 --image=training --tensorboard --logdir=/root/logs --toleration gpu_node "python mnist.py"
      """
    Then the answer reads:
      """
      configmap/pytorch-toleration-pytorchjob created
      service/pytorch-toleration-tensorboard created
      deployment.apps/pytorch-toleration-tensorboard created
      pytorchjob.kubeflow.org/pytorch-toleration created
      """
    And job "pytorch-toleration" is Running
    And "pytorch-toleration-master-0", "pytorch-toleration-worker-0" run on "worker-1" and "worker-2" only
    When a person types:
      """
      muster get pytorch-toleration
      """
    Then the answer reads:
      """
      STATUS: RUNNING
      PRIORITY: N/A
      pytorch-toleration  RUNNING  PYTORCHJOB  *  pytorch-toleration-master-0  *
      pytorch-toleration  RUNNING  PYTORCHJOB  *  pytorch-toleration-worker-0  *
      Your tensorboard will be available on:
      http://*
      """
    # 3: several keys open the nodes of each
    When a person types:
      """
      muster submit pytorch --name=both --gpus=1 --image=training --toleration gpu_node --toleration ssd_node "python mnist.py"
      """
    Then "both-master-0" runs on "worker-3"
    # 4: "all" opens every node; the others are full
    When a person types:
      """
      muster submit pytorch --name=pytorch-toleration-all --gpus=1 --image=training --toleration all "python mnist.py"
      """
    Then job "pytorch-toleration-all" is Running
    And "pytorch-toleration-all-master-0" runs on "worker-3"
    # 5: without the taints everybody may come
    When the taints of "worker-1", "worker-2" and "worker-3" are removed
    Then job "plain" is Running
    And "plain-master-0" runs on "worker-3"
