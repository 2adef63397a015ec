@documents @taints
Feature: Walk-through: tolerations of training jobs
  Arena's walk-through of --toleration: two workers have the taint gpu_node, a third one has ssd_node.
  (The answer of a submission also names the namespace, as Arena's does since 0.7.0.)

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
      muster --loglevel info submit pytorch \
        --name=pytorch-toleration \
        --gpus=1 \
        --workers=2 \
        --image=registry.cn-huhehaote.aliyuncs.com/lumo/pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime \
        --sync-mode=git \
        --sync-source=https://code.aliyun.com/370272561/mnist-pytorch.git \
        --tensorboard \
        --logdir=/root/logs \
        --toleration gpu_node \
        "python /root/code/mnist-pytorch/mnist.py --epochs 50 --backend gloo --dir /root/logs"
      """
    Then the output is:
      """
      configmap/pytorch-toleration-pytorchjob created
      configmap/pytorch-toleration-pytorchjob labeled
      service/pytorch-toleration-tensorboard created
      deployment.apps/pytorch-toleration-tensorboard created
      pytorchjob.kubeflow.org/pytorch-toleration created
      INFO[*] The Job pytorch-toleration has been submitted successfully
      INFO[*] You can run `muster get pytorch-toleration --type pytorchjob -n default` to check the job status
      """
    And job "pytorch-toleration" is Running
    And "pytorch-toleration-master-0", "pytorch-toleration-worker-0" run on "worker-1" and "worker-2" only
    When the user runs:
      """
      muster get pytorch-toleration
      """
    Then the output is:
      """
      STATUS: RUNNING
      NAMESPACE: default
      PRIORITY: N/A
      TRAINING DURATION: <time>
      NAME                STATUS   TRAINER     AGE     INSTANCE                     NODE
      pytorch-toleration  RUNNING  PYTORCHJOB  <time>  pytorch-toleration-master-0  <address>
      pytorch-toleration  RUNNING  PYTORCHJOB  <time>  pytorch-toleration-worker-0  <address>
      Your tensorboard will be available on:
      http://<address:master-1>:3*
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
      muster --loglevel info submit pytorch \
        --name=pytorch-toleration-all \
        --gpus=1 \
        --image=registry.cn-huhehaote.aliyuncs.com/lumo/pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime \
        --sync-mode=git \
        --sync-source=https://code.aliyun.com/370272561/mnist-pytorch.git \
        --toleration all \
        "python /root/code/mnist-pytorch/mnist.py --epochs 10 --backend gloo"
      """
    Then the output is:
      """
      configmap/pytorch-toleration-all-pytorchjob created
      configmap/pytorch-toleration-all-pytorchjob labeled
      pytorchjob.kubeflow.org/pytorch-toleration-all created
      INFO[*] The Job pytorch-toleration-all has been submitted successfully
      INFO[*] You can run `muster get pytorch-toleration-all --type pytorchjob -n default` to check the job status
      """
    And job "pytorch-toleration-all" is Running
    And "pytorch-toleration-all-master-0" runs on "worker-3"
    When the user runs:
      """
      muster get pytorch-toleration-all
      """
    Then the output is:
      """
      STATUS: RUNNING
      NAMESPACE: default
      PRIORITY: N/A
      TRAINING DURATION: <time>
      NAME                    STATUS   TRAINER     AGE     INSTANCE                         NODE
      pytorch-toleration-all  RUNNING  PYTORCHJOB  <time>  pytorch-toleration-all-master-0  <address:worker-3>
      """
    # 5: without the taints every pod can be scheduled
    When the taints of "worker-1", "worker-2" and "worker-3" are removed
    Then job "plain" is Running
    And "plain-master-0" runs on "worker-3"
