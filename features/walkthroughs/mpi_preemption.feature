@documents @preemption
Feature: Medium and critical MPI training on one GPU
  Arena's walk-through of preemption between MPI jobs: three masters that take no pods, one worker with one GPU.

  @DOC-2 @must @doc-2
  Scenario: The worker of a critical job takes the one GPU
    Given nodes:
      | node     | role   | GPUs | taints                                    |
      | master-1 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | master-2 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | master-3 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | worker-1 |        | 1    |                                           |
    And what the manifest "priority-classes" describes
    # 1: the GPU is free
    When a person types:
      """
      muster top node
      """
    Then the answer reads:
      """
      worker-1  *  <none>  ready  1  0
      0/1 (0%)
      """
    # 2: a medium job takes it; its launcher asks for none
    When a person types:
      """
      muster submit mpi --name=medium --priority=medium --gpus=1 --workers=1 --image=horovod "mpirun tail -f /dev/null"
      """
    Then the answer reads:
      """
      configmap/medium-mpijob created
      mpijob.kubeflow.org/medium created
      """
    And job "medium" is Running
    When a person types:
      """
      muster get medium
      """
    Then the answer reads:
      """
      STATUS: RUNNING
      NAMESPACE: default
      PRIORITY: medium
      medium  RUNNING  MPIJOB  *  medium-launcher-*  *
      medium  RUNNING  MPIJOB  *  medium-worker-0    *
      """
    # 3: exactly the worker holds the GPU
    When a person types:
      """
      muster top node -d
      """
    Then the answer reads:
      """
      default    medium-worker-0  1             1
      Allocated GPUs In Node worker-1:  1 (100%)
      """
    And the answer does not show "medium-launcher"
    # 4: a critical job takes it away, and the events tell the story
    When a person types:
      """
      muster submit mpi --name=critical --priority=critical --gpus=1 --workers=1 --image=horovod "mpirun tail -f /dev/null"
      """
    Then "critical-worker-0" runs
    And "medium-worker-0" was preempted for "critical-worker-0"
    And an event about the preempted one of "medium-worker-0" names "critical-worker-0" and the node
    And the events about "medium-worker-0" are "Scheduled", "Pulled", "Created", "Started", "Preempted", "Killing", in this order
    # 5: the medium job has failed, and its launcher is all that is left of it
    And job "medium" is Failed
    And what is left of job "medium" has ended
    When a person types:
      """
      muster get medium
      """
    Then the answer reads:
      """
      STATUS: FAILED
      medium  FAILED  MPIJOB  *  medium-launcher-*  *
      """
    And the answer does not show "medium-worker-0"
    # 6: the critical job runs
    And job "critical" is Running
    When a person types:
      """
      muster get critical
      """
    Then the answer reads:
      """
      STATUS: RUNNING
      critical  RUNNING  MPIJOB  *  critical-launcher-*  *
      critical  RUNNING  MPIJOB  *  critical-worker-0    *
      """
    # 7: and exactly its worker holds the GPU
    When a person types:
      """
      muster top node -d
      """
    Then the answer reads:
      """
      default    critical-worker-0  1             1
      """
    And the answer does not show "medium-worker-0"
    And nobody else was evicted
