@documents @queues @gangs
Feature: Training jobs in a queue of eight GPUs
  The walk-through of queue, priority and backfill for Kubeflow jobs, at the level of gangs and pods: each
  job is the group object and the six pods (or the one pod) that the job's operator makes of it, and its end is the end
  of its pods and the removal of its group. What only an operator can show is left to the operators' own behaviours:
  the job's states Created, Running and Succeeded, that a queued job has no pods yet, and that a job with zero workers
  is refused while one without the field is accepted.

  @DOC-3 @must @doc-3
  Scenario: The important job is next in a full queue, and a small one uses what is left of it
    Given nodes:
      | node     | GPUs | taints |
      | worker-1 | 8    |        |
      | worker-2 | 8    |        |
    And the priority class "high-priority" of 1000000
    And a queue "test" with 8 GPUs, 8 CPUs and 64Gi of memory
    When a gang "job-a" of 6 pods with 1 GPU, 1 CPU and 100Mi of memory each is submitted to queue "test" with the priority class "high-priority"
    Then the whole gang "job-a" runs
    And the group of the gang "job-a" went from waiting to running and never back
    And the group of the gang "job-a" counted 6 running pods
    When a gang "job-b" of 6 pods with 1 GPU, 1 CPU and 100Mi of memory each is submitted to queue "test"
    And a gang "job-c" of 6 pods with 1 GPU, 1 CPU and 100Mi of memory each is submitted to queue "test" with the priority class "high-priority"
    Then the gang "job-b" is queued
    And the gang "job-c" is queued
    When the gang "job-a" finishes and is cleared away
    Then the whole gang "job-c" runs
    And the gang "job-b" is queued
    When the gang "job-c" finishes and is cleared away
    Then the whole gang "job-b" runs
    And every pod of "job-c" was bound before any pod of "job-b"
    When the gang "job-b" finishes and is cleared away
    # the second experiment: three jobs of the same importance, the last of them small
    And a gang "job-d" of 6 pods with 1 GPU, 1 CPU and 100Mi of memory each is submitted to queue "test" with the priority class "high-priority"
    Then the whole gang "job-d" runs
    When a gang "job-e" of 6 pods with 1 GPU, 1 CPU and 100Mi of memory each is submitted to queue "test" with the priority class "high-priority"
    Then the gang "job-e" is queued
    When a gang "job-f" of 1 pod with 1 GPU, 1 CPU and 100Mi of memory is submitted to queue "test" with the priority class "high-priority"
    Then the whole gang "job-f" runs
    And the gang "job-e" is queued
    When the gang "job-d" finishes and is cleared away
    Then the whole gang "job-e" runs
    And "job-f-0" is still there
    When the gang "job-f" finishes and is cleared away
    And the gang "job-e" finishes and is cleared away
    Then all pods of the gangs "job-a", "job-b", "job-c", "job-d", "job-e", "job-f" have succeeded
    And nobody was preempted
    And queue "test" never used more than its capability
