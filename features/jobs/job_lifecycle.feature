@jobs @cluster
Feature: How a job goes on and how it ends
  What becomes of a job is told by its conditions, and decided by its run policy.

  Background:
    Given an operator that follows the restart policy of each role

  @JOB-02 @must
  Scenario Outline: A job tells how it stands, from its creation to its end
    Source: Kubeflow training-operator 1.9, JobStatus: conditions Created, Running, Succeeded and Failed with their times, startTime, completionTime, and replicaStatuses with active, succeeded and failed; the master's fate is the job's.
    When a PyTorch job "train" of 1 master and 2 workers is created
    Then job "train" stays Created
    And job "train" counts:
      | role   | active | succeeded | failed |
      | Master | 0      | 0         | 0      |
      | Worker | 0      | 0         | 0      |
    When a node "late" with 3 GPUs joins
    Then job "train" is Running
    And job "train" counts:
      | role   | active | succeeded | failed |
      | Master | 1      | 0         | 0      |
      | Worker | 2      | 0         | 0      |
    When "train-master-0" ends with exit code <code>
    Then job "train" went from Created to Running to <state>
    And job "train" counts:
      | role   | active | succeeded | failed |
      | Master | 0      | <well>    | <ill>  |
    And job "train" tells when it was created, when it started and when it ended
    And job "train" stays <state>

    Examples:
      | code | state     | well | ill |
      | 0    | Succeeded | 1    | 0   |
      | 1    | Failed    | 0    | 1   |

  @JOB-03 @must
  Scenario Outline: Whether a lost member comes back is up to the restart policy of its role
    Source: Kubeflow training-operator 1.9, RestartPolicy: Never fails the job; OnFailure and Always make the replica again; ExitCode does so from 128 on, and from 1 to 127 the error is permanent; a running pod that is being deleted counts as failed; RunPolicy: backoffLimit is the number of retries before the job is marked failed, cleanPodPolicy None keeps its pods.
    Given a node with 2 GPUs
    When a PyTorch job "train" of 1 master and 1 worker is created with:
      | Worker.restartPolicy | <policy> |
      | backoffLimit         | <limit>  |
    Then "train-master-0", "train-worker-0" run
    And job "train" counts:
      | role   | active | failed |
      | Master | 1      | 0      |
      | Worker | 1      | 0      |
    When "train-worker-0" <loss>
    Then job "train" <outcome> a new "train-worker-0"
    And "train-master-0" is still there

    Examples: after a crash
      | policy    | limit | loss                    | outcome       |
      | Never     | 3     | ends with exit code 1   | fails without |
      | OnFailure | 3     | ends with exit code 1   | goes on with  |
      | Always    | 3     | ends with exit code 1   | goes on with  |
      | ExitCode  | 3     | ends with exit code 1   | fails without |
      | ExitCode  | 3     | ends with exit code 137 | goes on with  |
      | OnFailure | 0     | ends with exit code 1   | fails without |

    Examples: after a preemption
      | policy    | limit | loss         | outcome       |
      | Never     | 3     | is preempted | fails without |
      | OnFailure | 3     | is preempted | goes on with  |
      | Always    | 3     | is preempted | goes on with  |
      | ExitCode  | 3     | is preempted | goes on with  |

  @JOB-04 @must
  Scenario Outline: What is left of a job that is over is up to its clean-up policy
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
      | All     | has nobody left                                |

  @JOB-05 @must
  Scenario: Time limits and pauses are kept
    Source: Kubeflow training-operator 1.9, RunPolicy: ttlSecondsAfterFinished is how long a job that is over is kept, activeDeadlineSeconds how long it may be active, suspend takes its pods away until it is set back, and resets startTime.
    Given a node with 8 GPUs
    # a job that is over is kept for as long as it is to be
    When a PyTorch job "brief" of 1 master and 1 worker is created with:
      | ttlSecondsAfterFinished | 3 |
    And a PyTorch job "kept" of 1 master and 1 worker is created with:
      | ttlSecondsAfterFinished | 600 |
    Then "brief-master-0", "brief-worker-0", "kept-master-0", "kept-worker-0" run
    When job "kept" runs to its end
    And job "brief" runs to its end
    Then job "brief" is gone 3 s after its end
    And nothing of job "brief" is left
    And job "kept" stays Succeeded
    # one that takes too long is ended
    When a PyTorch job "endless" of 1 master and 1 worker is created with:
      | activeDeadlineSeconds | 3 |
    And a PyTorch job "patient" of 1 master and 1 worker is created with:
      | activeDeadlineSeconds | 600 |
    Then "endless-master-0", "patient-master-0" run
    And job "endless" fails after 3 s
    And job "patient" stays Running
    # one that is suspended holds nothing, and begins anew
    When job "patient" is suspended
    Then job "patient" stays Suspended
    And job "patient" has nobody left
    When job "patient" is resumed
    Then job "patient" is Running
    And job "patient" consists of "patient-master-0", "patient-worker-0"
    And job "patient" counts:
      | role   | active |
      | Master | 1      |
      | Worker | 1      |

  @JOB-10 @must
  Scenario: An operator that is killed and started again changes nothing
    Source: Kubernetes documentation, Controllers: the desired and the actual state are in the API, so that a controller may fail at any time and another goes on.
    Given a node with 8 GPUs
    When a PyTorch job "steady" of 1 master and 3 workers is created
    And the operator is killed as soon as "steady-master-0" is there, and started again
    Then job "steady" is Running
    And job "steady" consists of "steady-master-0", "steady-worker-0", "steady-worker-1", "steady-worker-2"
    When the operator is killed and started again
    And job "steady" runs to its end
    And the operator is killed and started again
    Then job "steady" stays Succeeded
    And job "steady" was never Restarting
    And job "steady" tells when it was created, when it started and when it ended
    And "steady-master-0", "steady-worker-0", "steady-worker-1", "steady-worker-2" were made once

  @JOB-13 @should
  Scenario: What was lost while the operator was away is lost all the same
    Source: Kubernetes documentation, Controllers: a controller compares states and need not have seen what happened between them; the Job controller of Kubernetes keeps finalizers on its pods for this. Our opinion: the restart policy holds for a member that nobody saw go, too.
    Given a node with 4 GPUs
    When a PyTorch job "bereft" of 1 master and 1 worker is created
    And a PyTorch job "supple" of 1 master and 1 worker is created with:
      | Worker.restartPolicy | OnFailure |
    Then job "bereft" counts:
      | role   | active |
      | Master | 1      |
      | Worker | 1      |
    And job "supple" counts:
      | role   | active |
      | Master | 1      |
      | Worker | 1      |
    When "bereft-worker-0" is lost while the operator is away
    Then job "bereft" fails without a new "bereft-worker-0"
    When "supple-worker-0" is lost while the operator is away
    Then job "supple" goes on with a new "supple-worker-0"
