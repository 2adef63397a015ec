@jobs @cluster
Feature: MPI jobs
  The operator gives the launcher what mpirun needs to start processes in the workers: v1 by kubectl exec, v2beta1 by SSH.

  Background:
    Given an operator that applies the restartPolicy of each role

  @JOB-19 @must
  Scenario: The hostfile of an MPIJob lists each worker with its slots
    Source: Kubeflow training-operator 1.9, MPIJobSpec: slotsPerWorker is the number of slots per worker used in the hostfile, 1 by default; the ConfigMap <job>-config with the hostfile is mounted into the launcher, and OMPI_MCA_orte_default_hostfile names it.
    Given a node with 3 GPUs
    When an MPIJob "default" of v1 with 2 workers is created
    And an MPIJob "wide" of v1 with 1 worker is created with:
      | slotsPerWorker | 4 |
    Then the hostfile of job "default" has the line "{pod} slots=1" for each of "default-worker-0", "default-worker-1"
    And the hostfile of job "wide" has the line "{pod} slots=4" for each of "wide-worker-0"
    And job "default" is Running
    And "OMPI_MCA_orte_default_hostfile" of "default-launcher" names the hostfile of job "default"

  @JOB-20 @should
  Scenario: discover_hosts.sh prints the workers that run
    Source: Horovod documentation, Elastic Horovod: the host discovery script prints the hosts that are available at the moment; Kubeflow training-operator 1.9 and mpi-operator 0.8: only running pods are in discover_hosts.sh. No document of theirs says so. Our opinion: the script is kept up to date.
    When an MPIJob "elastic" of v1 with 2 workers is created
    Then discover_hosts.sh of job "elastic" prints no host
    When a node "late" with 2 GPUs joins
    Then discover_hosts.sh of job "elastic" prints "elastic-worker-0", "elastic-worker-1"

  @JOB-21 @must
  Scenario: Launcher and workers of an MPIJob v2beta1 share SSH keys and find each other by name
    Source: Kubeflow mpi-operator, proposal of the v2 controller: one key pair is shared with the launcher and the workers through a Secret, and workers have stable host names behind a headless Service; v2beta1 MPIJobSpec: sshAuthMountPath is the directory where the SSH keys are mounted, /root/.ssh by default.
    Given a node with 3 GPUs
    When an MPIJob "default" of v2beta1 with 2 workers is created
    And an MPIJob "elsewhere" of v2beta1 with 1 worker is created with:
      | sshAuthMountPath | /home/mpiuser/.ssh |
    Then "default-launcher", "default-worker-0", "default-worker-1" of job "default" have the SSH keys of the job at "/root/.ssh"
    And "elsewhere-launcher", "elsewhere-worker-0" of job "elsewhere" have the SSH keys of the job at "/home/mpiuser/.ssh"
    And a headless service of job "default" resolves "default-launcher", "default-worker-0", "default-worker-1"
    And job "default" is Running

  @JOB-22 @must
  Scenario: launcherCreationPolicy decides when the launcher is created
    Source: Kubeflow mpi-operator 0.8, v2beta1 MPIJobSpec: with WaitForWorkersReady the launcher is created only after all workers are ready; the default AtStartup creates it together with them.
    When an MPIJob "later" of v2beta1 with 2 workers is created with:
      | launcherCreationPolicy | WaitForWorkersReady |
    And an MPIJob "at-once" of v2beta1 with 2 workers is created with:
      | launcherCreationPolicy | AtStartup |
    Then "at-once-launcher" is created
    And job "later" has no launcher yet
    When a node "late" with 5 GPUs joins
    Then job "later" is Running
    And job "later" got a launcher without GPUs after its workers were ready
    And job "at-once" is Running

  @JOB-23 @must
  Scenario: A failed launcher of an MPIJob v2beta1 is retried up to backoffLimit
    Source: Kubeflow mpi-operator, v2beta1 RunPolicy: backoffLimit is the number of retries before the job is marked failed; proposal of the v2 controller: the launcher is retried as by a Job, and when it fails or succeeds, so does the MPIJob.
    Given a node with 4 GPUs
    When an MPIJob "no-retry" of v2beta1 with 1 worker is created with:
      | backoffLimit | 0 |
    And an MPIJob "retries" of v2beta1 with 1 worker is created with:
      | backoffLimit | 1 |
    Then job "no-retry" is Running
    And job "retries" is Running
    When "no-retry-launcher" ends with exit code 1
    And "retries-launcher" ends with exit code 1
    Then job "no-retry" is Failed
    And job "retries" continues with a new "retries-launcher"
    When "retries-launcher" ends with exit code 0
    Then job "retries" is Succeeded

  @JOB-24 @should
  Scenario: A deleted worker of an MPIJob v2beta1 is created again
    Source: Kubeflow mpi-operator 0.8, v2beta1: a worker that no longer exists is created again, whatever its restartPolicy, and the job goes on; only the launcher's end is the job's. No document of theirs says so. Our opinion: so a preempted MPI job recovers.
    Given a node with 2 GPUs
    When an MPIJob "train" of v2beta1 with 2 workers is created
    Then job "train" is Running
    When "train-worker-1" is preempted
    Then "train-worker-1" runs again
    And job "train" stays Running
    And "train-launcher", "train-worker-0" were created once

  @JOB-25 @should
  Scenario Outline: mpiImplementation decides the form of the hostfile
    Source: Kubeflow mpi-operator 0.8, v2beta1 MPIJobSpec: mpiImplementation is OpenMPI by default, Intel or MPICH. Their hostfiles differ: Open MPI documentation, mpirun: "host slots=N"; Intel MPI and MPICH, Hydra: "host:N". Our opinion: each gets its own.
    Given a node with 1 GPU
    When an MPIJob "train" of v2beta1 with 1 worker is created with:
      | mpiImplementation | <implementation> |
      | slotsPerWorker    | 2                |
    Then the hostfile of job "train" has the line "<line>" for each of "train-worker-0"
    And "<variable>" of "train-launcher" names the hostfile of job "train"
    And job "train" is Running

    Examples:
      | implementation | line           | variable                       |
      | OpenMPI        | {host} slots=2 | OMPI_MCA_orte_default_hostfile |
      | Intel          | {host}:2       | I_MPI_HYDRA_HOST_FILE          |
      | MPICH          | {host}:2       | HYDRA_HOST_FILE                |
