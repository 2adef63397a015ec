@jobs @cluster
Feature: Jobs whose pods belong together
  The operator tells the scheduler what belongs together, and starts the parts of a job in the order that they need.

  Background:
    Given an operator that follows the restart policy of each role

  @JOB-06 @must @gangs @queues
  Scenario: A job with a scheduling policy has a group for as long as it lasts
    Source: Kubeflow training-operator 1.9, SchedulingPolicy: minAvailable, queue, minResources and priorityClass go into the job's PodGroup; without minAvailable all replicas count, without minResources what they ask for; the group is deleted when the job is over.
    Given a node with 8 GPUs
    And a queue "research" with 8 GPUs
    When a PyTorch job "whole" of 1 master and 2 workers is created with:
      | schedulingPolicy.queue    | research |
      | schedulingPolicy.priority | 50       |
    And a PyTorch job "partial" of 1 master and 2 workers is created with:
      | schedulingPolicy.minAvailable | 2                     |
      | schedulingPolicy.queue        | research              |
      | schedulingPolicy.priority     | 60                    |
      | schedulingPolicy.minResources | {nvidia.com/gpu: "1"} |
    And a PyTorch job "loose" of 1 master and 1 worker is created
    Then the group of the gang "whole" needs 3 pods and is in queue "research"
    And the group of the gang "whole" asks for 3 GPUs at priority 50
    And the group of the gang "partial" needs 2 pods and is in queue "research"
    And the group of the gang "partial" asks for 1 GPU at priority 60
    And the whole gang "whole" runs
    And the whole gang "partial" runs
    And the whole gang "loose" runs
    And job "loose" never had a group
    When job "whole" runs to its end
    Then the group of the gang "whole" is gone
    When "partial-worker-0" ends with exit code 1
    Then job "partial" is Failed
    And the group of the gang "partial" is gone

  @JOB-07 @must
  Scenario: An MPI job is launched when its workers are ready, and fails with them
    Source: Kubeflow mpi-operator 0.2, v1alpha1: the launcher is made when all workers are ready, with no resources of theirs, and its end is the job's; Arena, priority and preemption for MPIJob: a job whose worker is taken away has failed; Kubeflow training-operator 1.9, MPIJob: a failed worker fails the job unless its policy is ExitCode.
    Given a node with 2 GPUs
    When an MPI job "horovod" of 3 workers is created
    Then at least 2 pods of the gang "horovod" run, and the others wait
    And job "horovod" has no launcher yet
    When a node "late" with 3 GPUs joins
    Then job "horovod" is Running
    And job "horovod" got its launcher when its workers were ready, and without a GPU
    And these labels are carried:
      | pod              | mpi_job_name | mpi_role_type | training.kubeflow.org/job-name |
      | horovod-worker-2 | horovod      | worker        | horovod                        |
    When an MPI job "lucky" of 2 workers is created
    Then job "lucky" is Running
    When the launcher of job "lucky" ends with exit code 0
    Then job "lucky" went from Created to Running to Succeeded
    When "horovod-worker-1" is deleted
    Then job "horovod" went from Created to Running to Failed
