@documents @preemption
Feature: Walk-through: preemption between PyTorchJobs
  Arena's walk-through of priority and preemption for PyTorchJobs: three masters without GPUs, three workers with four
  each. (The published scheduling.k8s.io/v1beta1 is no longer served: the PriorityClasses are v1 here.)

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
    Then the output contains:
      """
      NAME      IPADDRESS  ROLE    STATUS  GPU(Total)  GPU(Allocated)
      master-1  *          master  ready   0           0
      master-2  *          master  ready   0           0
      master-3  *          master  ready   0           0
      worker-1  *          <none>  ready   4           0
      worker-2  *          <none>  ready   4           0
      worker-3  *          <none>  ready   4           0
      0/12 (0%)
      """
    # 2: a medium job of three pods that fills the cluster
    When the user runs:
      """
      muster submit pytorch --name=pytorch-priority-medium --gpus=4 --workers=3 --image=training --priority=medium "python mnist.py --epochs 200"
      """
    Then the output contains:
      """
      configmap/pytorch-priority-medium-pytorchjob created
      pytorchjob.kubeflow.org/pytorch-priority-medium created
      The Job pytorch-priority-medium has been submitted successfully
      You can run `muster get pytorch-priority-medium --type pytorchjob -n default` to check the job status
      """
    # 3: all of its pods run
    And job "pytorch-priority-medium" is Running
    And "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" run on three different nodes
    When the user runs:
      """
      muster get pytorch-priority-medium
      """
    Then the output contains:
      """
      STATUS: RUNNING
      NAMESPACE: default
      PRIORITY: medium
      TRAINING DURATION: *
      NAME                     STATUS   TRAINER     AGE  INSTANCE                          NODE
      pytorch-priority-medium  RUNNING  PYTORCHJOB  *    pytorch-priority-medium-master-0  *
      pytorch-priority-medium  RUNNING  PYTORCHJOB  *    pytorch-priority-medium-worker-0  *
      pytorch-priority-medium  RUNNING  PYTORCHJOB  *    pytorch-priority-medium-worker-1  *
      """
    # 4: every GPU is in use
    When the user runs:
      """
      muster top node
      """
    Then the output contains:
      """
      worker-1  *          <none>  ready   4           4
      worker-2  *          <none>  ready   4           4
      worker-3  *          <none>  ready   4           4
      12/12 (100%)
      """
    # 5: a critical job of one pod runs
    When the user runs:
      """
      muster submit pytorch --name=pytorch-priority-critical --gpus=1 --image=training --priority=critical "python mnist.py --epochs 50"
      """
    Then job "pytorch-priority-critical" is Running
    When the user runs:
      """
      muster get pytorch-priority-critical
      """
    Then the output contains:
      """
      STATUS: RUNNING
      PRIORITY: critical
      pytorch-priority-critical  RUNNING  PYTORCHJOB  *  pytorch-priority-critical-master-0  *
      """
    # 6: one pod of the medium job was preempted
    And exactly one of "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" was preempted for "pytorch-priority-critical-master-0"
    And "pytorch-priority-critical-master-0" runs on the node of one of the victims "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1"
    # 7: the medium job has failed
    And job "pytorch-priority-medium" is Failed
    And all remaining pods of job "pytorch-priority-medium" have finished
    When the user runs:
      """
      muster get pytorch-priority-medium
      """
    Then the output contains:
      """
      STATUS: FAILED
      pytorch-priority-medium  FAILED  PYTORCHJOB  *  *  *
      pytorch-priority-medium  FAILED  PYTORCHJOB  *  *  *
      """
    And the output does not contain the victim among "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1"
    # 8: an event says why
    And a Preempted event on the victim among "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" names "pytorch-priority-critical-master-0" and the node
    # 9: no other pod was evicted
    And no other pod was evicted
    And at no time more than 12 GPUs were in use
