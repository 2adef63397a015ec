@queues @gangs
Feature: Capability of a queue
  A queue never uses more than its capability, and jobs that cannot start do not use it up.

  @QUE-01 @must
  Scenario: A queue never uses more than its capability
    Source: Volcano documentation, Queue: capability is the upper limit of resources the queue can use.
    Given a node with 24 GPUs
    And a queue "research" with 8 GPUs
    When gangs are submitted to queues while the scheduler is paused:
      | gang   | queue    | pods | GPUs |
      | first  | research | 6    | 1    |
      | second | research | 6    | 1    |
      | third  | research | 6    | 1    |
    Then exactly one of the gangs "first", "second", "third" ran with all pods, and no pod of the others is bound
    When the running one of the gangs "first", "second", "third" finishes
    Then exactly two of the gangs "first", "second", "third" ran with all pods, and no pod of the others is bound
    And queue "research" never used more than its capability

  @QUE-08 @must
  Scenario: A GPU capability does not limit other resources
    Source: Volcano issue 3426, resolved: a queue whose capability names only GPUs admits jobs that ask for more than GPUs.
    Given a node with 8 GPUs
    And a queue "research" with 4 GPUs
    When a gang "fits" of 3 pods with 1 GPU, 8 CPUs and 16Gi of memory each is submitted to queue "research"
    Then the whole gang "fits" runs
    When a gang "too-many" of 2 pods with 1 GPU, 1 CPU and 1Gi of memory each is submitted to queue "research"
    Then the gang "too-many" is queued
    And queue "research" never used more than its capability

  @QUE-09 @should
  Scenario: A job that fits no node does not block the queue
    Source: Volcano issue 4471: a job too large for every node is admitted by the sum of the nodes and blocks the queue.
    Given a node with 8 GPUs
    And a node with 8 GPUs
    And a queue "research" with 16 GPUs
    When a gang "huge" of 1 pod with 9 GPUs is submitted to queue "research"
    Then the gang "huge" is queued
    When a gang "small" of 8 pods with 1 GPU each is submitted to queue "research"
    Then the whole gang "small" runs

  @QUE-12 @should
  Scenario: A finished job releases its quota although its PodGroup remains
    Source: Volcano issue 4195: the group of a finished job is admitted again and holds quota although it has no pods.
    Given a node with 8 GPUs
    And a queue "research" with 4 GPUs
    And a gang "done" of 4 pods with 1 GPU each running in queue "research"
    When the gang "done" finishes and its pods are deleted, but not its PodGroup
    And a gang "next" of 4 pods with 1 GPU each is submitted to queue "research"
    Then the whole gang "next" runs

  @QUE-18 @must
  Scenario: Gated pods consume no queue quota
    Source: Volcano design, Pod Scheduling Readiness: gated pods use up nothing that would keep other jobs out of the queue.
    Given a node with 8 GPUs
    And a queue "research" with 4 GPUs
    When a gang "gated" of 4 pods with 1 GPU each is submitted to queue "research" with its pods gated
    Then the gang "gated" is queued
    When a gang "ready" of 4 pods with 1 GPU each is submitted to queue "research"
    Then the whole gang "ready" runs
    When the scheduling gates of the gang "gated" are removed
    Then the gang "gated" is queued
    When the gang "ready" finishes
    Then the whole gang "gated" runs
    And queue "research" never used more than its capability
