@documents @taints
Feature: Walk-through: tolerations of training jobs
  Arena's walk-through of --toleration: two workers have the taint gpu_node, a third one has ssd_node.

  @DOC-4 @must @doc-4
  Scenario: submit --toleration KEY tolerates taints of that key, --toleration all every taint
    Given nodes:
      | node     | role   | GPUs | taints                                    |
      | master-1 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | master-2 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | master-3 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | worker-1 |        | 1    | gpu_node=invalid:NoSchedule               |
      | worker-2 |        | 1    | gpu_node=invalid:NoSchedule               |
      | worker-3 |        | 4    | ssd_node=invalid:NoSchedule               |
    # 1: without a toleration no pod is bound, and the condition says why
    When the user runs:
      """
      muster submit pytorch --name=plain --gpus=1 --image=training "python mnist.py"
      """
    Then "plain-master-0" is reported unschedulable, and the condition contains "untolerated taint"
    And "plain-master-0" stays pending
    # 2: a toleration of one key tolerates that taint, and no other
    When the user runs:
      """
      muster submit pytorch --name=pytorch-toleration --gpus=1 --workers=2 --image=training --tensorboard --logdir=/root/logs --toleration gpu_node "python mnist.py"
      """
    Then the output contains:
      """
      configmap/pytorch-toleration-pytorchjob created
      service/pytorch-toleration-tensorboard created
      deployment.apps/pytorch-toleration-tensorboard created
      pytorchjob.kubeflow.org/pytorch-toleration created
      """
    And job "pytorch-toleration" is Running
    And "pytorch-toleration-master-0", "pytorch-toleration-worker-0" run on "worker-1" and "worker-2" only
    When the user runs:
      """
      muster get pytorch-toleration
      """
    Then the output contains:
      """
      STATUS: RUNNING
      PRIORITY: N/A
      pytorch-toleration  RUNNING  PYTORCHJOB  *  pytorch-toleration-master-0  *
      pytorch-toleration  RUNNING  PYTORCHJOB  *  pytorch-toleration-worker-0  *
      Your tensorboard will be available on:
      http://*
      """
    # 3: several keys tolerate the taints of each
    When the user runs:
      """
      muster submit pytorch --name=both --gpus=1 --image=training --toleration gpu_node --toleration ssd_node "python mnist.py"
      """
    Then "both-master-0" runs on "worker-3"
    # 4: "all" tolerates every taint; the other nodes are full
    When the user runs:
      """
      muster submit pytorch --name=pytorch-toleration-all --gpus=1 --image=training --toleration all "python mnist.py"
      """
    Then job "pytorch-toleration-all" is Running
    And "pytorch-toleration-all-master-0" runs on "worker-3"
    # 5: without the taints every pod can be scheduled
    When the taints of "worker-1", "worker-2" and "worker-3" are removed
    Then job "plain" is Running
    And "plain-master-0" runs on "worker-3"
