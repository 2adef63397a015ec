@documents @preemption
Feature: Walk-through: preemption between MPIJobs
  Arena's walk-through of priority and preemption for MPIJobs: three masters that take no pods, one worker with one GPU.
  (Events have the messages of that time here; those of later releases count as the same. The answer of a submission also
  names the namespace, and top node a status, as Arena's do since.)

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
    Then the output is:
      """
      NAME      IPADDRESS  ROLE    STATUS  GPU(Total)  GPU(Allocated)
      master-1  <address>  master  ready   0           0
      master-2  <address>  master  ready   0           0
      master-3  <address>  master  ready   0           0
      worker-1  <address>  <none>  ready   1           0
      -----------------------------------------------------------------------------------------
      Allocated/Total GPUs In Cluster:
      0/1 (0%)
      """
    # 2: a medium job uses it; its launcher requests none
    When the user runs:
      """
      muster submit mpi \
        --name=medium \
        --priority=medium \
        --gpus=1 \
        --workers=1 \
        --image=registry.aliyuncs.com/tensorflow-samples/horovod:0.13.11-tf1.10.0-torch0.4.0-py3.5 \
        "mpirun tail -f /dev/null"
      """
    Then the output is:
      """
      configmap/medium-mpijob created
      configmap/medium-mpijob labeled
      mpijob.kubeflow.org/medium created
      INFO[*] The Job medium has been submitted successfully
      INFO[*] You can run `muster get medium --type mpijob -n default` to check the job status
      """
    And job "medium" is Running
    And the pods of job "medium" are:
      | pod               | GPUs | priority class |
      | medium-launcher-* | 0    | medium         |
      | medium-worker-0   | 1    | medium         |
    When the user runs:
      """
      muster get medium
      """
    Then the output is:
      """
      STATUS: RUNNING
      NAMESPACE: default
      PRIORITY: medium
      TRAINING DURATION: <time>
      NAME    STATUS   TRAINER  AGE     INSTANCE           NODE
      medium  RUNNING  MPIJOB   <time>  medium-launcher-*  <address:worker-1>
      medium  RUNNING  MPIJOB   <time>  medium-worker-0    <address:worker-1>
      """
    And "medium-worker-0" runs on "worker-1"
    # 3: only the worker uses the GPU
    When the user runs:
      """
      muster top node -d
      """
    Then the output is:
      """
      NAME:       worker-1
      IPADDRESS:  <address>
      ROLE:       <none>
      NAMESPACE  NAME             GPU REQUESTS  GPU LIMITS
      default    medium-worker-0  1             1
      Total GPUs In Node worker-1:      1
      Allocated GPUs In Node worker-1:  1 (100%)
      -----------------------------------------------------------------------------------------
      Allocated/Total GPUs In Cluster:  1/1 (100%)
      """
    # 4: a critical job preempts it, and the events show it
    When the user runs:
      """
      muster submit mpi \
        --name=critical \
        --priority=critical \
        --gpus=1 \
        --workers=1 \
        --image=registry.aliyuncs.com/tensorflow-samples/horovod:0.13.11-tf1.10.0-torch0.4.0-py3.5 \
        "mpirun tail -f /dev/null"
      """
    Then the output is:
      """
      configmap/critical-mpijob created
      configmap/critical-mpijob labeled
      mpijob.kubeflow.org/critical created
      INFO[*] The Job critical has been submitted successfully
      INFO[*] You can run `muster get critical --type mpijob -n default` to check the job status
      """
    And "critical-worker-0" runs
    And "medium-worker-0" was preempted for "critical-worker-0"
    And a Preempted event on the victim among "medium-worker-0" names "critical-worker-0" and the node
    And the events on "medium-worker-0" include, in this order:
      | type   | reason    | message                                                                                                                         |
      | Normal | Scheduled | Successfully assigned default/medium-worker-0 to worker-1                                                                       |
      | Normal | Pulled    | Container image "registry.aliyuncs.com/tensorflow-samples/horovod:0.13.11-tf1.10.0-torch0.4.0-py3.5" already present on machine |
      | Normal | Created   | Created container mpi                                                                                                           |
      | Normal | Started   | Started container mpi                                                                                                           |
      | Normal | Preempted | by default/critical-worker-0 on node worker-1                                                                                   |
      | Normal | Killing   | Stopping container mpi                                                                                                          |
    # 5: the medium job has failed, and only its launcher remains
    And job "medium" is Failed
    When all remaining pods of job "medium" have finished
    And the user runs:
      """
      muster get medium
      """
    Then the output is:
      """
      STATUS: FAILED
      NAMESPACE: default
      PRIORITY: medium
      TRAINING DURATION: <time>
      NAME    STATUS  TRAINER  AGE     INSTANCE           NODE
      medium  FAILED  MPIJOB   <time>  medium-launcher-*  <address:worker-1>
      """
    # 6: the critical job runs
    And job "critical" is Running
    When the user runs:
      """
      muster get critical
      """
    Then the output is:
      """
      STATUS: RUNNING
      NAMESPACE: default
      PRIORITY: critical
      TRAINING DURATION: <time>
      NAME      STATUS   TRAINER  AGE     INSTANCE             NODE
      critical  RUNNING  MPIJOB   <time>  critical-launcher-*  <address:worker-1>
      critical  RUNNING  MPIJOB   <time>  critical-worker-0    <address:worker-1>
      """
    # 7: only its worker uses the GPU
    When the user runs:
      """
      muster top node -d
      """
    Then the output is:
      """
      NAME:       worker-1
      IPADDRESS:  <address>
      ROLE:       <none>
      NAMESPACE  NAME               GPU REQUESTS  GPU LIMITS
      default    critical-worker-0  1             1
      Total GPUs In Node worker-1:      1
      Allocated GPUs In Node worker-1:  1 (100%)
      -----------------------------------------------------------------------------------------
      Allocated/Total GPUs In Cluster:  1/1 (100%)
      """
    And no other pod was evicted
