@documents @preemption
Feature: Walk-through: preemption between PyTorchJobs
  Arena's walk-through of priority and preemption for PyTorchJobs: three masters without GPUs, three workers with four
  each. (The published scheduling.k8s.io/v1beta1 is no longer served: the PriorityClasses are v1 here. The answer of a
  submission also names the namespace, as Arena's does since 0.7.0.)

  @DOC-1 @must @doc-1
  Scenario: A critical job preempts one pod of a medium job
    Given nodes:
      | node     | role   | GPUs | taints                                    |
      | master-1 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | master-2 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | master-3 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | worker-1 |        | 4    |                                           |
      | worker-2 |        | 4    |                                           |
      | worker-3 |        | 4    |                                           |
    And the objects of the manifest "priority-classes"
    # 1: six nodes, no GPU in use
    When the user runs:
      """
      muster top node
      """
    Then the output is:
      """
      NAME      IPADDRESS  ROLE    STATUS  GPU(Total)  GPU(Allocated)
      master-1  <address>  master  ready   0           0
      master-2  <address>  master  ready   0           0
      master-3  <address>  master  ready   0           0
      worker-1  <address>  <none>  ready   4           0
      worker-2  <address>  <none>  ready   4           0
      worker-3  <address>  <none>  ready   4           0
      -----------------------------------------------------------------------------------------
      Allocated/Total GPUs In Cluster:
      0/12 (0%)
      """
    # 2: a medium job of three pods that fills the cluster
    When the user runs:
      """
      muster --loglevel info submit pytorch \
        --name=pytorch-priority-medium \
        --gpus=4 \
        --workers=3 \
        --image=registry.cn-huhehaote.aliyuncs.com/lumo/pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime \
        --sync-mode=git \
        --sync-source=https://code.aliyun.com/370272561/mnist-pytorch.git \
        --priority=medium \
        "python /root/code/mnist-pytorch/mnist.py --backend gloo --epochs 200"
      """
    Then the output is:
      """
      configmap/pytorch-priority-medium-pytorchjob created
      configmap/pytorch-priority-medium-pytorchjob labeled
      pytorchjob.kubeflow.org/pytorch-priority-medium created
      INFO[*] The Job pytorch-priority-medium has been submitted successfully
      INFO[*] You can run `muster get pytorch-priority-medium --type pytorchjob -n default` to check the job status
      """
    And the pods of job "pytorch-priority-medium" are:
      | pod                              | GPUs | priority class |
      | pytorch-priority-medium-master-0 | 4    | medium         |
      | pytorch-priority-medium-worker-0 | 4    | medium         |
      | pytorch-priority-medium-worker-1 | 4    | medium         |
    # 3: all of its pods run
    And job "pytorch-priority-medium" is Running
    And "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" run on three different nodes
    When the user runs:
      """
      muster get pytorch-priority-medium
      """
    Then the output is:
      """
      STATUS: RUNNING
      NAMESPACE: default
      PRIORITY: medium
      TRAINING DURATION: <time>
      NAME                     STATUS   TRAINER     AGE     INSTANCE                          NODE
      pytorch-priority-medium  RUNNING  PYTORCHJOB  <time>  pytorch-priority-medium-master-0  <address>
      pytorch-priority-medium  RUNNING  PYTORCHJOB  <time>  pytorch-priority-medium-worker-0  <address>
      pytorch-priority-medium  RUNNING  PYTORCHJOB  <time>  pytorch-priority-medium-worker-1  <address>
      """
    # 4: every GPU is in use
    When the user runs:
      """
      muster top node
      """
    Then the output is:
      """
      NAME      IPADDRESS  ROLE    STATUS  GPU(Total)  GPU(Allocated)
      master-1  <address>  master  ready   0           0
      master-2  <address>  master  ready   0           0
      master-3  <address>  master  ready   0           0
      worker-1  <address>  <none>  ready   4           4
      worker-2  <address>  <none>  ready   4           4
      worker-3  <address>  <none>  ready   4           4
      -----------------------------------------------------------------------------------------
      Allocated/Total GPUs In Cluster:
      12/12 (100%)
      """
    # 5: a critical job of one pod runs
    When the user runs:
      """
      muster --loglevel info submit pytorch \
        --name=pytorch-priority-critical \
        --gpus=1 \
        --image=registry.cn-huhehaote.aliyuncs.com/lumo/pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime \
        --sync-mode=git \
        --sync-source=https://code.aliyun.com/370272561/mnist-pytorch.git \
        --priority=critical \
        "python /root/code/mnist-pytorch/mnist.py --backend gloo --epochs 50"
      """
    Then the output is:
      """
      configmap/pytorch-priority-critical-pytorchjob created
      configmap/pytorch-priority-critical-pytorchjob labeled
      pytorchjob.kubeflow.org/pytorch-priority-critical created
      INFO[*] The Job pytorch-priority-critical has been submitted successfully
      INFO[*] You can run `muster get pytorch-priority-critical --type pytorchjob -n default` to check the job status
      """
    And the pods of job "pytorch-priority-critical" are:
      | pod                                | GPUs | priority class |
      | pytorch-priority-critical-master-0 | 1    | critical       |
    And job "pytorch-priority-critical" is Running
    When the user runs:
      """
      muster get pytorch-priority-critical
      """
    Then the output is:
      """
      STATUS: RUNNING
      NAMESPACE: default
      PRIORITY: critical
      TRAINING DURATION: <time>
      NAME                       STATUS   TRAINER     AGE     INSTANCE                            NODE
      pytorch-priority-critical  RUNNING  PYTORCHJOB  <time>  pytorch-priority-critical-master-0  <address>
      """
    # 6: one pod of the medium job was preempted
    And exactly one of "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" was preempted for "pytorch-priority-critical-master-0"
    And "pytorch-priority-critical-master-0" runs on the node of one of the victims "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1"
    # 7: the medium job has failed; its two other pods have, too
    And job "pytorch-priority-medium" is Failed
    When all remaining pods of job "pytorch-priority-medium" have finished
    And the user runs:
      """
      muster get pytorch-priority-medium
      """
    Then the output is:
      """
      STATUS: FAILED
      NAMESPACE: default
      PRIORITY: medium
      TRAINING DURATION: <time>
      NAME                     STATUS  TRAINER     AGE     INSTANCE                   NODE
      pytorch-priority-medium  FAILED  PYTORCHJOB  <time>  pytorch-priority-medium-*  <address>
      pytorch-priority-medium  FAILED  PYTORCHJOB  <time>  pytorch-priority-medium-*  <address>
      """
    And the output does not contain the victim among "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1"
    # 8: an event says why
    And a Preempted event on the victim among "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" names "pytorch-priority-critical-master-0" and the node
    # 9: no other pod was evicted
    And no other pod was evicted
    And at no time more than 12 GPUs were in use
