@jobs @cluster
Feature: Replicas of training jobs
  The operator creates the pods and services of a job, whatever the scheduler.

  Background:
    Given an operator that applies the restartPolicy of each role

  @JOB-01 @must
  Scenario: Replicas get stable names, labels and rendezvous environment variables
    Source: Kubeflow training-operator 1.7 and 1.9, PyTorchJob: pods and services <job>-<role>-<index>, labels training.kubeflow.org/operator-name, job-name, replica-type, replica-index and, on the master, job-role; MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK in every replica.
    Given a node with 5 GPUs
    When a PyTorch job "train" of 1 master and 2 workers is created
    And a PyTorch job "other" of 1 master and 1 worker is created
    Then job "train" consists of "train-master-0", "train-worker-0", "train-worker-1"
    And job "other" consists of "other-master-0", "other-worker-0"
    And the pods have these labels:
      | pod            | training.kubeflow.org/job-name | training.kubeflow.org/replica-type | training.kubeflow.org/replica-index | training.kubeflow.org/operator-name |
      | train-master-0 | train                          | master                             | 0                                   | pytorchjob-controller               |
      | train-worker-0 | train                          | worker                             | 0                                   | pytorchjob-controller               |
      | train-worker-1 | train                          | worker                             | 1                                   | pytorchjob-controller               |
      | other-worker-0 | other                          | worker                             | 0                                   | pytorchjob-controller               |
    And the pods have these labels:
      | pod            | training.kubeflow.org/job-role |
      | train-master-0 | master                         |
    And the pods of job "train" have these environment variables:
      | pod            | MASTER_ADDR    | MASTER_PORT | WORLD_SIZE | RANK |
      | train-master-0 | train-master-0 | 23456       | 3          | 0    |
      | train-worker-0 | train-master-0 | 23456       | 3          | 1    |
      | train-worker-1 | train-master-0 | 23456       | 3          | 2    |
    And the pods of job "other" have these environment variables:
      | pod            | MASTER_ADDR    | MASTER_PORT | WORLD_SIZE | RANK |
      | other-worker-0 | other-master-0 | 23456       | 2          | 1    |

  @JOB-17 @should
  Scenario: The service of a replica is created before its pod
    Source: Kubernetes documentation, StatefulSets: the headless service that gives pods their network identity is to be created first; Kubeflow mpi-operator 0.7 creates the service of a job before its pods. The training-operator creates it after the pods of the role. Our opinion: first, so that the name resolves as soon as the pod has an address.
    Given a node with 3 GPUs
    When a PyTorch job "train" of 1 master and 2 workers is created
    Then job "train" consists of "train-master-0", "train-worker-0", "train-worker-1"
    And the service of each replica of job "train" was created before its pod

  @JOB-28 @should
  Scenario: After a refused pod no further batch of pods is created
    Source: Kubernetes 1.37, slowStartBatch in pkg/controller/replicaset/replica_set.go, and manageJob in pkg/controller/job/job_controller.go: pods are created in batches of 1, 2, 4 and so on, and after an error all remaining batches are skipped; Kubeflow training-operator 1.9, ReconcilePods in pkg/controller.v1/common/pod.go: one pod after the other, and none after an error. No document says so. Our opinion: one of the two, so that a quota that refuses the pods of a large job gets few requests.
    Given a node with 14 GPUs
    And the API server refuses the creation of "train-worker-0"
    When a PyTorch job "train" of 1 master and 6 workers is created
    And a PyTorch job "other" of 1 master and 6 workers is created
    Then job "other" consists of "other-master-0", "other-worker-0", "other-worker-1", "other-worker-2", "other-worker-3", "other-worker-4", "other-worker-5"
    And a Warning event on job "train" contains "train-worker-0"
    And of the pods of job "train" none but "train-master-0", "train-worker-1" was created

  @JOB-11 @should
  Scenario: Pods of a PyTorchJob also get the labels of the earlier pytorch-operator
    Source: Kubeflow pytorch-operator 1.0: labels group-name, pytorch-job-name, pytorch-replica-type, pytorch-replica-index and, on the master, job-role; Arena 0.15.5 takes either these or training.kubeflow.org/*. Our opinion: both, for the clients of either time.
    Given a node with 5 GPUs
    When a PyTorch job "train" of 1 master and 2 workers is created
    And a PyTorch job "other" of 1 master and 1 worker is created
    Then the pods have these labels:
      | pod            | group-name   | pytorch-job-name | pytorch-replica-type | pytorch-replica-index |
      | train-master-0 | kubeflow.org | train            | master               | 0                     |
      | train-worker-1 | kubeflow.org | train            | worker               | 1                     |
      | other-master-0 | kubeflow.org | other            | master               | 0                     |
    And the pods have these labels:
      | pod            | job-role |
      | train-master-0 | master   |
      | other-master-0 | master   |

  @JOB-14 @should
  Scenario: Reducing the replicas of a role removes its surplus replicas
    Source: Kubeflow training-operator 1.9, ReconcilePods and ReconcileServices: a replica whose index is not below replicas is deleted. Its documentation describes this for elastic PyTorchJobs only; our opinion: it holds for all.
    Given a node with 4 GPUs
    When a PyTorch job "train" of 1 master and 3 workers is created
    Then job "train" is Running
    And job "train" consists of "train-master-0", "train-worker-0", "train-worker-1", "train-worker-2"
    When job "train" is scaled to 1 worker
    Then job "train" consists of "train-master-0", "train-worker-0"
    And job "train" stays Running
    And "train-master-0", "train-worker-0" were created once

  @JOB-26 @should
  Scenario: elasticPolicy is honoured or refused
    Source: Kubeflow training-operator 1.9, ElasticPolicy: minReplicas and maxReplicas are the limits of an elastic job; PyTorch documentation, torchrun: they are --nnodes=MIN:MAX, which the operator sets as PET_NNODES. Our opinion: an operator without elastic jobs says so instead of running a job of fixed size.
    Given a node with 4 GPUs
    When a PyTorch job "elastic" of 1 master and 1 worker is created with:
      | elasticPolicy.minReplicas | 1 |
      | elasticPolicy.maxReplicas | 2 |
    And a PyTorch job "fixed" of 1 master and 1 worker is created
    Then job "elastic" has pods with PET_NNODES "1:2", or a Failed condition that names "elasticPolicy"
    And job "fixed" is Running

  @JOB-08 @must
  Scenario: Deleting a job garbage-collects its dependents
    Source: Kubernetes documentation, Garbage Collection: dependents of a deleted owner are deleted; Kubeflow training-operator 1.9: the job is the controlling owner of its pods and services.
    Given a node with 4 GPUs
    When a PyTorch job "first" of 1 master and 1 worker is created with:
      | schedulingPolicy.minAvailable | 2 |
    And a PyTorch job "second" of 1 master and 1 worker is created
    Then "first-master-0", "first-worker-0", "second-master-0", "second-worker-0" run
    And job "first" consists of "first-master-0", "first-worker-0"
    When job "first" is deleted
    Then no object of job "first" is left
    And job "second" consists of "second-master-0", "second-worker-0"
    And job "second" is Running

  @JOB-09 @must
  Scenario Outline: An invalid job gets a Warning event and no pods
    Source: Kubeflow training-operator 1.7, ValidateV1PyTorchJob: a role without containers, a container without an image and an unknown role are told by a Warning event on the job, and no pods are made (from 1.8 on an admission webhook refuses such a job).
    Given a node with 4 GPUs
    When a PyTorch job "invalid" of 1 master and 1 worker is created with:
      | <setting> | <value> |
    And a PyTorch job "valid" of 1 master and 1 worker is created
    Then a Warning event on job "invalid" contains "<text>", and no objects were created for it
    And job "valid" is Running

    Examples:
      | setting                         | value             | text       |
      | Worker.template.spec.containers | []                | containers |
      | Worker.template.spec.containers | [{name: pytorch}] | image      |
      | Chief                           | {replicas: 1}     | Chief      |

  @JOB-12 @should
  Scenario Outline: An invalid job's Failed condition names the field
    Source: Kubernetes API conventions: conditions expose what clients need to know, events alert people, numbers are checked for their bounds; Kubeflow pytorch-operator 1.0: a spec that cannot be read is a Failed condition and a Warning event. Our opinion: so is every other mistake, with the field's path.
    Given a node with 4 GPUs
    When a PyTorch job "invalid" of 1 master and 1 worker is created with:
      | <setting> | <value> |
    And a PyTorch job "valid" of 1 master and 1 worker is created
    Then job "invalid" has a Failed condition that names "<setting>", and no objects were created for it
    And job "valid" is Running

    Examples:
      | setting                         | value             |
      | Worker.restartPolicy            | Sometimes         |
      | Worker.template.spec.containers | []                |
      | Worker.template.spec.containers | [{name: pytorch}] |
      | Chief                           | {replicas: 1}     |
      | cleanPodPolicy                  | Sometimes         |
      | backoffLimit                    | -1                |
      | schedulingPolicy.minAvailable   | 3                 |
