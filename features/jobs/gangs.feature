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
    Then the PodGroup of gang "whole" has minMember 3 and queue "research"
    And the PodGroup of gang "whole" requests 3 GPUs at priority 50
    And the PodGroup of gang "partial" has minMember 2 and queue "research"
    And the PodGroup of gang "partial" requests 1 GPU at priority 60
    And the whole gang "whole" runs
    And the whole gang "partial" runs
    When job "whole" completes
    Then the PodGroup of gang "whole" is deleted
    When "partial-worker-0" ends with exit code 1
    Then job "partial" is Failed
    And the PodGroup of gang "partial" is deleted

  @JOB-27 @must @gangs
  Scenario: Under gang scheduling a job without schedulingPolicy is a gang of all its replicas
    Source: Kubeflow documentation, Training Operator (v1), Job Scheduling: with --gang-scheduler-name the operator creates the PodGroup of a job automatically, and the YAML of the job is the same as without; such a job can run only if there are enough resources for all its pods, otherwise all of them stay pending.
    Given an operator under which every job is a gang
    And a node with 2 GPUs
    When a PyTorch job "whole" of 1 master and 2 workers is created
    And a PyTorch job "partial" of 1 master and 2 workers is created with:
      | schedulingPolicy.minAvailable | 2 |
    Then the PodGroup of job "whole" has minMember 3
    And no pod of the gang "whole" is bound
    And at least 2 pods of the gang "partial" run, and the others stay pending
    When a node "late" with 4 GPUs joins
    Then the whole gang "whole" runs

  @JOB-29 @should @gangs
  Scenario: Where only declared gangs are gangs, a job without schedulingPolicy gets no PodGroup
    Source: Kubeflow training-operator 1.9 has one flag for all jobs, and its documentation no other choice. Our opinion: an operator that can be told to leave jobs without a schedulingPolicy alone creates no PodGroup for them, so that single pods of them can be preempted.
    Given an operator under which only jobs with a schedulingPolicy are gangs
    And a node with 4 GPUs
    When a PyTorch job "declared" of 1 master and 1 worker is created with:
      | schedulingPolicy.minAvailable | 2 |
    And a PyTorch job "loose" of 1 master and 1 worker is created
    Then the PodGroup of job "declared" has minMember 2
    And the whole gang "declared" runs
    And the whole gang "loose" runs
    And job "loose" never had a PodGroup

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
