@documents @preemption
Feature: Medium and critical PyTorch training on a full cluster
  Arena's walk-through of preemption between PyTorch jobs: three masters without GPUs, three workers with four each.
  (The document's scheduling.k8s.io/v1beta1 is no longer served: its classes are v1 here.)

  @DOC-1 @must @doc-1
  Scenario: A critical job takes the place of one member of a medium job
    Given nodes:
      | node     | role   | GPUs | taints                                    |
      | master-1 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | master-2 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | master-3 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | worker-1 |        | 4    |                                           |
      | worker-2 |        | 4    |                                           |
      | worker-3 |        | 4    |                                           |
    And what the manifest "priority-classes" describes
    # 1: six nodes, nothing in use
    When a person types:
      """
      muster top node
      """
    Then the answer reads:
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
    # 2: a medium job of three that fills the cluster
    When a person types:
      """
      muster submit pytorch --name=pytorch-priority-medium --gpus=4 --workers=3 --image=training --priority=medium "python mnist.py --epochs 200"
      """
    Then the answer reads:
      """
      configmap/pytorch-priority-medium-pytorchjob created
      pytorchjob.kubeflow.org/pytorch-priority-medium created
      The Job pytorch-priority-medium has been submitted successfully
      You can run `muster get pytorch-priority-medium --type pytorchjob -n default` to check the job status
      """
    # 3: all of it runs
    And job "pytorch-priority-medium" is Running
    And "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" run on three different nodes
    When a person types:
      """
      muster get pytorch-priority-medium
      """
    Then the answer reads:
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
    When a person types:
      """
      muster top node
      """
    Then the answer reads:
      """
      worker-1  *          <none>  ready   4           4
      worker-2  *          <none>  ready   4           4
      worker-3  *          <none>  ready   4           4
      12/12 (100%)
      """
    # 5: a critical job of one runs
    When a person types:
      """
      muster submit pytorch --name=pytorch-priority-critical --gpus=1 --image=training --priority=critical "python mnist.py --epochs 50"
      """
    Then job "pytorch-priority-critical" is Running
    When a person types:
      """
      muster get pytorch-priority-critical
      """
    Then the answer reads:
      """
      STATUS: RUNNING
      PRIORITY: critical
      pytorch-priority-critical  RUNNING  PYTORCHJOB  *  pytorch-priority-critical-master-0  *
      """
    # 6: one member of the medium job made room
    And exactly one of "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" was preempted for "pytorch-priority-critical-master-0"
    And "pytorch-priority-critical-master-0" runs in the place of one of "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1"
    # 7: and the medium job has failed
    And job "pytorch-priority-medium" is Failed
    And what is left of job "pytorch-priority-medium" has ended
    When a person types:
      """
      muster get pytorch-priority-medium
      """
    Then the answer reads:
      """
      STATUS: FAILED
      pytorch-priority-medium  FAILED  PYTORCHJOB  *  *  *
      pytorch-priority-medium  FAILED  PYTORCHJOB  *  *  *
      """
    And the answer does not show the one of "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" that was preempted
    # 8: an event says why
    And an event about the preempted one of "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" names "pytorch-priority-critical-master-0" and the node
    # 9: nobody else was touched
    And nobody else was evicted
    And at no time more than 12 GPUs were in use
