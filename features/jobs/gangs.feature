@jobs @cluster
Feature: Gangs of training jobs
  The operator creates the PodGroup of a job, and starts its roles in the order that they need.

  Background:
    Given an operator that applies the restartPolicy of each role

  @JOB-06 @must @gangs @queues
  Scenario: A job with schedulingPolicy gets a PodGroup for its lifetime
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
    Then the PodGroup of gang "whole" has minMember 3 and queue "research"
    And the PodGroup of gang "whole" requests 3 GPUs at priority 50
    And the PodGroup of gang "partial" has minMember 2 and queue "research"
    And the PodGroup of gang "partial" requests 1 GPU at priority 60
    And the whole gang "whole" runs
    And the whole gang "partial" runs
    And the whole gang "loose" runs
    And job "loose" never had a PodGroup
    When job "whole" completes
    Then the PodGroup of gang "whole" is deleted
    When "partial-worker-0" ends with exit code 1
    Then job "partial" is Failed
    And the PodGroup of gang "partial" is deleted

  @JOB-07 @must
  Scenario: The MPI launcher starts after its workers and fails when one of them fails
    Source: Kubeflow mpi-operator 0.2, v1alpha1: the launcher is made when all workers are ready, with no resources of theirs, and its end is the job's; Arena, priority and preemption for MPIJob: a job whose worker is taken away has failed; Kubeflow training-operator 1.9, MPIJob: a failed worker fails the job unless its policy is ExitCode.
    Given a node with 2 GPUs
    When an MPI job "horovod" of 3 workers is created
    Then at least 2 pods of the gang "horovod" run, and the others stay pending
    And job "horovod" has no launcher yet
    When a node "late" with 3 GPUs joins
    Then job "horovod" is Running
    And job "horovod" got a launcher without GPUs after its workers were ready
    And the pods have these labels:
      | pod              | mpi_job_name | mpi_role_type | training.kubeflow.org/job-name |
      | horovod-worker-2 | horovod      | worker        | horovod                        |
    When an MPI job "second" of 2 workers is created
    Then job "second" is Running
    When the launcher of job "second" ends with exit code 0
    Then job "second" went from Created to Running to Succeeded
    When "horovod-worker-1" is deleted
    Then job "horovod" went from Created to Running to Failed
