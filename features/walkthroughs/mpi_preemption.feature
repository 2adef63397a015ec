@documents @preemption
Feature: Walk-through: preemption between MPIJobs
  Arena's walk-through of priority and preemption for MPIJobs: three masters that take no pods, one worker with one GPU.

  @DOC-2 @must @doc-2
  Scenario: A critical MPIJob preempts the worker on the only GPU
    Given nodes:
      | node     | role   | GPUs | taints                                    |
      | master-1 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | master-2 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | master-3 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | worker-1 |        | 1    |                                           |
    And the objects of the manifest "priority-classes"
    # 1: the GPU is free
    When the user runs:
      """
      muster top node
      """
    Then the output contains:
      """
      worker-1  *  <none>  ready  1  0
      0/1 (0%)
      """
    # 2: a medium job uses it; its launcher requests none
    When the user runs:
      """
      muster submit mpi --name=medium --priority=medium --gpus=1 --workers=1 --image=horovod "mpirun tail -f /dev/null"
      """
    Then the output contains:
      """
      configmap/medium-mpijob created
      mpijob.kubeflow.org/medium created
      """
    And job "medium" is Running
    When the user runs:
      """
      muster get medium
      """
    Then the output contains:
      """
      STATUS: RUNNING
      NAMESPACE: default
      PRIORITY: medium
      medium  RUNNING  MPIJOB  *  medium-launcher-*  *
      medium  RUNNING  MPIJOB  *  medium-worker-0    *
      """
    # 3: only the worker uses the GPU
    When the user runs:
      """
      muster top node -d
      """
    Then the output contains:
      """
      default    medium-worker-0  1             1
      Allocated GPUs In Node worker-1:  1 (100%)
      """
    And the output does not contain "medium-launcher"
    # 4: a critical job preempts it, and the events show it
    When the user runs:
      """
      muster submit mpi --name=critical --priority=critical --gpus=1 --workers=1 --image=horovod "mpirun tail -f /dev/null"
      """
    Then "critical-worker-0" runs
    And "medium-worker-0" was preempted for "critical-worker-0"
    And a Preempted event on the victim among "medium-worker-0" names "critical-worker-0" and the node
    And the events on "medium-worker-0" are "Scheduled", "Pulled", "Created", "Started", "Preempted", "Killing", in this order
    # 5: the medium job has failed, and only its launcher remains
    And job "medium" is Failed
    And all remaining pods of job "medium" have finished
    When the user runs:
      """
      muster get medium
      """
    Then the output contains:
      """
      STATUS: FAILED
      medium  FAILED  MPIJOB  *  medium-launcher-*  *
      """
    And the output does not contain "medium-worker-0"
    # 6: the critical job runs
    And job "critical" is Running
    When the user runs:
      """
      muster get critical
      """
    Then the output contains:
      """
      STATUS: RUNNING
      critical  RUNNING  MPIJOB  *  critical-launcher-*  *
      critical  RUNNING  MPIJOB  *  critical-worker-0    *
      """
    # 7: only its worker uses the GPU
    When the user runs:
      """
      muster top node -d
      """
    Then the output contains:
      """
      default    critical-worker-0  1             1
      """
    And the output does not contain "medium-worker-0"
    And no other pod was evicted
