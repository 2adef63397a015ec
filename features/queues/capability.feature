@queues @gangs
Feature: What a queue may use
  A queue's capability is a promise to everybody else: its work never uses more, and it never uses less because of
  work that cannot or may not start.

  @QUE-01 @must
  Scenario: A queue never uses more than its capability
    Source: Volcano documentation, Queue: capability is the upper limit of resources the queue can use.
    Given a node with 24 GPUs
    And a queue "research" with 8 GPUs
    When gangs ask their queues while the scheduler looks away:
      | gang   | queue    | pods | GPUs |
      | first  | research | 6    | 1    |
      | second | research | 6    | 1    |
      | third  | research | 6    | 1    |
    Then exactly one of the gangs "first", "second", "third" has started whole, and nobody of the others is bound
    When the one of the gangs "first", "second", "third" that runs finishes
    Then exactly two of the gangs "first", "second", "third" have started whole, and nobody of the others is bound
    And queue "research" never used more than its capability

  @QUE-08 @must
  Scenario: A limit on GPUs limits nothing else
    Source: Volcano issue 3426, resolved: a queue whose capability names only GPUs admits jobs that ask for more than GPUs.
    Given a node with 8 GPUs
    And a queue "research" with 4 GPUs
    When a gang "hungry" of 3 pods with 1 GPU, 8 CPUs and 16Gi of memory each is submitted to queue "research"
    Then the whole gang "hungry" runs
    When a gang "greedy" of 2 pods with 1 GPU, 1 CPU and 1Gi of memory each is submitted to queue "research"
    Then the gang "greedy" is queued
    And queue "research" never used more than its capability

  @QUE-09 @should
  Scenario: A job that fits no node does not keep others out of the queue
    Source: Volcano issue 4471: a job too large for every node is admitted by the sum of the nodes and blocks the queue.
    Given a node with 8 GPUs
    And a node with 8 GPUs
    And a queue "research" with 16 GPUs
    When a gang "giant" of 1 pod with 9 GPUs is submitted to queue "research"
    Then the gang "giant" is queued
    When a gang "modest" of 8 pods with 1 GPU each is submitted to queue "research"
    Then the whole gang "modest" runs

  @QUE-12 @should
  Scenario: A finished job gives its room in the queue back, even if its group stays
    Source: Volcano issue 4195: the group of a finished job is admitted again and holds quota although it has no pods.
    Given a node with 8 GPUs
    And a queue "research" with 4 GPUs
    And a gang "done" of 4 pods with 1 GPU each running in queue "research"
    When the gang "done" finishes, its pods are deleted and its group stays
    And a gang "next" of 4 pods with 1 GPU each is submitted to queue "research"
    Then the whole gang "next" runs

  @QUE-18 @must
  Scenario: A job whose pods are gated holds no room in the queue
    Source: Volcano design, Pod Scheduling Readiness: gated pods use up nothing that would keep other jobs out of the queue.
    Given a node with 8 GPUs
    And a queue "research" with 4 GPUs
    When a gang "gated" of 4 pods with 1 GPU each is submitted to queue "research" with its pods gated
    Then the gang "gated" is queued
    When a gang "ready" of 4 pods with 1 GPU each is submitted to queue "research"
    Then the whole gang "ready" runs
    When the gates of the gang "gated" are lifted
    Then the gang "gated" is queued
    When the gang "ready" finishes
    Then the whole gang "gated" runs
    And queue "research" never used more than its capability
