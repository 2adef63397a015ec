@jobs @cluster
Feature: Lifecycle of training jobs
  Conditions report the state of a job, its runPolicy decides how it ends.

  Background:
    Given an operator that applies the restartPolicy of each role

  @JOB-02 @must
  Scenario Outline: JobStatus reports conditions, times and replicaStatuses
    Source: Kubeflow training-operator 1.9, JobStatus: conditions Created, Running, Succeeded and Failed with their times, startTime, completionTime, and replicaStatuses with active, succeeded and failed; the master's fate is the job's.
    When a PyTorch job "train" of 1 master and 2 workers is created
    Then job "train" stays Created
    And job "train" has replicaStatuses:
      | role   | active | succeeded | failed |
      | Master | 0      | 0         | 0      |
      | Worker | 0      | 0         | 0      |
    When a node "late" with 3 GPUs joins
    Then job "train" is Running
    And job "train" has replicaStatuses:
      | role   | active | succeeded | failed |
      | Master | 1      | 0         | 0      |
      | Worker | 2      | 0         | 0      |
    When "train-master-0" ends with exit code <code>
    Then job "train" went from Created to Running to <state>
    And job "train" has replicaStatuses:
      | role   | active | succeeded   | failed   |
      | Master | 0      | <succeeded> | <failed> |
    And job "train" has creation, start and completion times
    And job "train" stays <state>

    Examples:
      | code | state     | succeeded | failed |
      | 0    | Succeeded | 1         | 0      |
      | 1    | Failed    | 0         | 1      |

  @JOB-03 @must
  Scenario Outline: restartPolicy decides whether a lost replica is re-created
    Source: Kubeflow training-operator 1.9, RestartPolicy: Never fails the job; OnFailure and Always make the replica again; ExitCode does so from 128 on, and from 1 to 127 the error is permanent; a running pod that is being deleted counts as failed; RunPolicy: backoffLimit is the number of retries before the job is marked failed, cleanPodPolicy None keeps its pods.
    Given a node with 2 GPUs
    When a PyTorch job "train" of 1 master and 1 worker is created with:
      | Worker.restartPolicy | <policy> |
      | backoffLimit         | <limit>  |
      | cleanPodPolicy       | None     |
    Then "train-master-0", "train-worker-0" run
    And job "train" has replicaStatuses:
      | role   | active | failed |
      | Master | 1      | 0      |
      | Worker | 1      | 0      |
    When "train-worker-0" <loss>
    Then job "train" <outcome> a new "train-worker-0"
    And "train-master-0" was not evicted

    Examples: after a crash
      | policy    | limit | loss                    | outcome        |
      | Never     | 3     | ends with exit code 1   | fails without  |
      | OnFailure | 3     | ends with exit code 1   | continues with |
      | Always    | 3     | ends with exit code 1   | continues with |
      | ExitCode  | 3     | ends with exit code 1   | fails without  |
      | ExitCode  | 3     | ends with exit code 137 | continues with |
      | OnFailure | 0     | ends with exit code 1   | fails without  |

    Examples: after several crashes
      | policy    | limit | loss                           | outcome                        |
      | OnFailure | 1     | ends with exit code 1, 2 times | fails after 1 restart without  |
      | OnFailure | 2     | ends with exit code 1, 2 times | continues after 2 restarts with |
      | OnFailure | 2     | ends with exit code 1, 3 times | fails after 2 restarts without |

    Examples: after a preemption
      | policy    | limit | loss         | outcome        |
      | Never     | 3     | is preempted | fails without  |
      | OnFailure | 3     | is preempted | continues with |
      | Always    | 3     | is preempted | continues with |
      | ExitCode  | 3     | is preempted | continues with |

  @JOB-04 @must
  Scenario Outline: cleanPodPolicy decides which pods remain
    Source: Kubeflow training-operator 1.9, CleanPodPolicy: None keeps all pods, Running deletes those that still run, All deletes all; a pod's service goes with it.
    Given a node with 2 GPUs
    When a PyTorch job "train" of 1 master and 1 worker is created with:
      | cleanPodPolicy | <policy> |
    Then "train-master-0", "train-worker-0" run
    And job "train" consists of "train-master-0", "train-worker-0"
    When "train-master-0" ends with exit code 0
    Then job "train" is Succeeded
    And job "train" <left>

    Examples:
      | policy  | left                                           |
      | None    | consists of "train-master-0", "train-worker-0" |
      | Running | consists of "train-master-0"                   |
      | All     | has no pods left                               |

  @JOB-05 @must
  Scenario: ttlSecondsAfterFinished, activeDeadlineSeconds and suspend are applied
    Source: Kubeflow training-operator 1.9, RunPolicy: ttlSecondsAfterFinished is how long a job that is over is kept, activeDeadlineSeconds how long it may be active, suspend takes its pods away until it is set back, and resets startTime.
    Given a node with 8 GPUs
    # a finished job is kept for ttlSecondsAfterFinished
    When a PyTorch job "short-ttl" of 1 master and 1 worker is created with:
      | ttlSecondsAfterFinished | 3 |
    And a PyTorch job "long-ttl" of 1 master and 1 worker is created with:
      | ttlSecondsAfterFinished | 600 |
    Then "short-ttl-master-0", "short-ttl-worker-0", "long-ttl-master-0", "long-ttl-worker-0" run
    When job "long-ttl" completes
    And job "short-ttl" completes
    Then job "short-ttl" is deleted 3 s after it finished
    And no object of job "short-ttl" is left
    And job "long-ttl" stays Succeeded
    # a job that exceeds activeDeadlineSeconds fails
    When a PyTorch job "short-limit" of 1 master and 1 worker is created with:
      | activeDeadlineSeconds | 3 |
    And a PyTorch job "long-limit" of 1 master and 1 worker is created with:
      | activeDeadlineSeconds | 600 |
    Then "long-limit-master-0" runs
    And job "short-limit" fails after 3 s
    And job "long-limit" stays Running
    # a suspended job has no pods, and starts again
    When job "long-limit" is suspended
    Then job "long-limit" stays Suspended
    And job "long-limit" has no pods left
    When job "long-limit" is resumed
    Then job "long-limit" is Running
    And job "long-limit" consists of "long-limit-master-0", "long-limit-worker-0"
    And job "long-limit" has replicaStatuses:
      | role   | active |
      | Master | 1      |
      | Worker | 1      |

  @JOB-15 @should
  Scenario: A job that exceeds activeDeadlineSeconds has no running pods left
    Source: Kubeflow training-operator 1.9, RunPolicy: activeDeadlineSeconds is how long a job may be active before the system tries to terminate it; Kubernetes documentation, Jobs: at activeDeadlineSeconds all running pods are terminated. Up to 1.9.3 the operator deletes all pods, from 1.9.4 on it follows cleanPodPolicy, whose default keeps them running. Our opinion: without a cleanPodPolicy the job is terminated.
    Given a node with 4 GPUs
    When a PyTorch job "short-limit" of 1 master and 1 worker is created with:
      | activeDeadlineSeconds | 5 |
    And a PyTorch job "no-limit" of 1 master and 1 worker is created
    Then "no-limit-master-0", "no-limit-worker-0" run
    And job "short-limit" fails after 5 s
    And no pod of job "short-limit" is pending or running
    And job "no-limit" stays Running
    And "no-limit-master-0", "no-limit-worker-0" were not evicted

  @JOB-16 @should
  Scenario: A job that exceeds backoffLimit has no running pods left
    Source: Kubernetes documentation, Jobs: once backoffLimit is reached the job is marked as failed and its running pods are terminated; Kubeflow training-operator 1.9, RunPolicy: backoffLimit is the number of retries before the job is marked failed. Up to 1.9.3 the operator deletes all pods then, from 1.9.4 on it follows cleanPodPolicy, whose default keeps them running. Our opinion: without a cleanPodPolicy the job is terminated.
    Given a node with 4 GPUs
    When a PyTorch job "no-retry" of 1 master and 1 worker is created with:
      | Worker.restartPolicy | OnFailure |
      | backoffLimit         | 0         |
    And a PyTorch job "retries" of 1 master and 1 worker is created with:
      | Worker.restartPolicy | OnFailure |
      | backoffLimit         | 3         |
    Then "no-retry-master-0", "no-retry-worker-0", "retries-master-0", "retries-worker-0" run
    When "no-retry-worker-0" ends with exit code 1
    And "retries-worker-0" ends with exit code 1
    Then job "no-retry" is Failed
    And no pod of job "no-retry" is pending or running
    And job "retries" continues with a new "retries-worker-0"
    And "retries-master-0" was not evicted

  @JOB-18 @must
  Scenario: A job whose managedBy names another controller is not reconciled
    Source: Kubeflow training-operator 1.9, RunPolicy: the operator reconciles a job without managedBy or with kubeflow.org/training-operator, and leaves one with kueue.x-k8s.io/multikueue to Kueue.
    Given a node with 4 GPUs
    When a PyTorch job "elsewhere" of 1 master and 1 worker is created with:
      | managedBy | another controller |
    And a PyTorch job "here" of 1 master and 1 worker is created with:
      | managedBy | kubeflow.org/training-operator |
    Then job "here" is Running
    And job "elsewhere" has no conditions, and no objects were created for it

  @JOB-10 @must
  Scenario: Restarting the training operator changes neither jobs nor their pods
    Source: Kubernetes documentation, Controllers: the desired and the actual state are in the API, so that a controller may fail at any time and another goes on.
    Given a node with 8 GPUs
    When a PyTorch job "steady" of 1 master and 3 workers is created
    And the operator is killed as soon as "steady-master-0" exists, and restarted
    Then job "steady" is Running
    And job "steady" consists of "steady-master-0", "steady-worker-0", "steady-worker-1", "steady-worker-2"
    When the operator is killed and restarted
    And job "steady" completes
    And the operator is killed and restarted
    Then job "steady" stays Succeeded
    And job "steady" was never Restarting
    And job "steady" has creation, start and completion times
    And "steady-master-0", "steady-worker-0", "steady-worker-1", "steady-worker-2" were created once

  @JOB-13 @should
  Scenario: Pods lost while the operator is down are accounted for
    Source: Kubernetes documentation, Controllers: a controller compares states and need not have seen what happened between them; the Job controller of Kubernetes keeps finalizers on its pods for this. Our opinion: the restart policy also applies to a replica whose loss was not observed.
    Given a node with 4 GPUs
    When a PyTorch job "policy-never" of 1 master and 1 worker is created
    And a PyTorch job "policy-onfailure" of 1 master and 1 worker is created with:
      | Worker.restartPolicy | OnFailure |
    Then job "policy-never" has replicaStatuses:
      | role   | active |
      | Master | 1      |
      | Worker | 1      |
    And job "policy-onfailure" has replicaStatuses:
      | role   | active |
      | Master | 1      |
      | Worker | 1      |
    When "policy-never-worker-0" is deleted while the operator is down
    Then job "policy-never" fails without a new "policy-never-worker-0"
    When "policy-onfailure-worker-0" is deleted while the operator is down
    Then job "policy-onfailure" continues with a new "policy-onfailure-worker-0"
