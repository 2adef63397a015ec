@jobs @cluster @variant-training-operator
Feature: Admission of training jobs
  From 1.8 on training-operator no longer validates a job that exists: its admission webhook rejects an invalid one. So
  there is neither an event nor a condition, as JOB-09 and JOB-12 expect of operators without a webhook.

  Background:
    Given an operator that applies the restartPolicy of each role

  @TRO-9 @must @replaces-job-09
  Scenario Outline: The admission webhook rejects an invalid job
    Source: Kubeflow training-operator 1.9.4, validatePyTorchReplicaSpecs: the role is Master or Worker, containers are specified, each with an image, a master has 1 replica, workers have at least 1.
    Given a node with 4 GPUs
    When a PyTorch job "valid" of 1 master and 1 worker is created
    Then a PyTorch job "invalid" of 1 master and 1 worker is rejected for "<field>" with:
      | <setting> | <value> |
    And job "valid" is Running

    Examples:
      | setting                         | value             | field                                                              |
      | Worker.template.spec.containers | []                | spec.pytorchReplicaSpecs[Worker].template.spec.containers          |
      | Worker.template.spec.containers | [{name: pytorch}] | spec.pytorchReplicaSpecs[Worker].template.spec.containers[0].image |
      | Chief                           | {replicas: 1}     | spec.pytorchReplicaSpecs[Chief]                                    |
      | Worker.replicas                 | 0                 | spec.pytorchReplicaSpecs[Worker].replicas                          |
      | Master.replicas                 | 2                 | spec.pytorchReplicaSpecs[Master].replicas                          |

  @TRO-12 @should @replaces-job-12
  Scenario Outline: The admission webhook rejects values that no operator understands
    Source: Kubernetes API conventions: enumerated fields have constant values, numbers are checked for their bounds. Our opinion: where a webhook validates jobs, it does so for these fields, too.
    Given a node with 4 GPUs
    When a PyTorch job "valid" of 1 master and 1 worker is created
    Then a PyTorch job "invalid" of 1 master and 1 worker is rejected for "<field>" with:
      | <setting> | <value> |
    And job "valid" is Running

    Examples:
      | setting                       | value     | field          |
      | Worker.restartPolicy          | Sometimes | restartPolicy  |
      | cleanPodPolicy                | Sometimes | cleanPodPolicy |
      | backoffLimit                  | -1        | backoffLimit   |
      | schedulingPolicy.minAvailable | 3         | minAvailable   |
