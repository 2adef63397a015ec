@queues @gangs
Feature: Order within a queue
  Priority first, then age. A job that cannot start does not block capacity that a later job could use.

  @QUE-02 @must
  Scenario: The higher-priority pending job starts first
    Source: Volcano documentation, Plugins, priority: jobs of higher priority are placed first.
    Given a node with 16 GPUs
    And a queue "research" with 8 GPUs
    And a gang "first" of 6 pods with 1 GPU each running in queue "research" at priority 100
    When a gang "low" of 6 pods with 1 GPU each is submitted to queue "research" at priority 10
    And a gang "urgent" of 6 pods with 1 GPU each is submitted to queue "research" at priority 100
    Then the gang "low" is queued
    And the gang "urgent" is queued
    When the gang "first" finishes
    Then the whole gang "urgent" runs
    And the gang "low" is queued
    When the gang "urgent" finishes
    Then the whole gang "low" runs
    And queue "research" never used more than its capability

  @QUE-03 @must
  Scenario: Jobs of equal priority start in FIFO order
    Source: Volcano documentation, Queue: jobs of a queue are served first in, first out.
    Given a node with 16 GPUs
    And a queue "research" with 8 GPUs
    And a gang "first" of 6 pods with 1 GPU each running in queue "research"
    When a gang "older" of 6 pods with 1 GPU each is submitted to queue "research"
    And a gang "newer" of 6 pods with 1 GPU each is submitted to queue "research", more than a second later
    Then the gang "older" is queued
    And the gang "newer" is queued
    When the gang "first" finishes
    Then the whole gang "older" runs
    And the gang "newer" is queued
    When the gang "older" finishes
    Then the whole gang "newer" runs

  @QUE-04 @must
  Scenario: A job that fits starts before an earlier job that does not fit
    Source: Volcano pull request 1089: a job that cannot start no longer blocks the jobs behind it.
    Given a node with 16 GPUs
    And a queue "research" with 8 GPUs
    And a gang "first" of 6 pods with 1 GPU each running in queue "research"
    When a gang "large" of 6 pods with 1 GPU each is submitted to queue "research"
    Then the gang "large" is queued
    When a gang "small" of 1 pod with 1 GPU is submitted to queue "research", more than a second later
    Then the whole gang "small" runs
    And the gang "large" is queued
    And no pod was preempted
    When the gang "first" finishes
    Then the whole gang "large" runs
    And "small-0" was not evicted
    And queue "research" never used more than its capability

  @QUE-05 @may
  Scenario: In a strict FIFO queue the head blocks later jobs
    Source: Volcano API, Queue: dequeueStrategy fifo lets the head of the queue block the others.
    Given a node with 16 GPUs
    And a queue "research" with 8 GPUs in strict FIFO order
    And a gang "first" of 6 pods with 1 GPU each running in queue "research"
    When a gang "large" of 6 pods with 1 GPU each is submitted to queue "research"
    And a gang "small" of 1 pod with 1 GPU is submitted to queue "research", more than a second later
    Then the gang "large" is queued
    And the gang "small" is queued
    When the gang "first" finishes
    Then the whole gang "large" runs
    And the whole gang "small" runs
    And every pod of "large" was bound before any pod of "small"

  @QUE-06 @may
  Scenario: With EASY backfill a later job starts only if it does not delay the head of the queue
    Source: EASY backfilling (Lifka 1995): a job may move ahead if it does not delay the first job of the queue.
    Given a node with 16 GPUs
    And a queue "research" with 8 GPUs and EASY backfill
    And a gang "first" of 4 pods with 1 GPU each running in queue "research"
    When a gang "head" of 6 pods with 1 GPU each is submitted to queue "research"
    Then the gang "head" is queued
    When a gang "harmless" of 2 pods with 1 GPU each is submitted to queue "research", more than a second later
    Then the whole gang "harmless" runs
    When a gang "harmful" of 2 pods with 1 GPU each is submitted to queue "research", more than a second later
    Then the gang "harmful" is queued
    When the gang "first" finishes
    Then the whole gang "head" runs
    And the gang "harmful" is queued
    When the gang "head" finishes
    Then the whole gang "harmful" runs

  @QUE-07 @must
  Scenario: With preemption disabled, priority orders the queue and no pod is evicted
    Source: Volcano documentation, Actions: the default actions are enqueue, allocate and backfill; preempt is not among them.
    Given preemption is disabled
    And a node with 16 GPUs
    And a queue "research" with 8 GPUs
    And a gang "first" of 6 pods with 1 GPU each running in queue "research" at priority 10
    When a gang "urgent" of 6 pods with 1 GPU each is submitted to queue "research" at priority 1000
    Then the gang "urgent" is queued
    And no pod was preempted
    When the gang "first" finishes
    Then the whole gang "urgent" runs

  @QUE-10 @should
  Scenario: A higher-priority job starts before a job that its queue admitted but that fits on no node
    Source: Volcano issue 5330: a job that was admitted keeps its share of the queue before higher-priority ones.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And a queue "research" with 4 GPUs
    And pods running:
      | pod         | GPUs | node |
      | east-holder | 2    | east |
      | west-holder | 2    | west |
    When a gang "low" of 1 pod with 4 GPUs is submitted to queue "research" at priority 10
    Then the gang "low" is queued
    When a gang "urgent" of 1 pod with 4 GPUs is submitted to queue "research" at priority 100
    Then the gang "urgent" is queued
    When "east-holder" finishes
    Then the whole gang "urgent" runs
    And the gang "low" is queued
    When the gang "urgent" finishes
    Then the whole gang "low" runs

  @QUE-13 @should
  Scenario: Raising a pending job's priority reorders the queue
    Source: Volcano documentation, Plugins, priority: the order follows the priority class of the job's group.
    Given a node with 16 GPUs
    And a queue "research" with 8 GPUs
    And a gang "first" of 6 pods with 1 GPU each running in queue "research" at priority 100
    When a gang "older" of 6 pods with 1 GPU each is submitted to queue "research"
    And a gang "newer" of 6 pods with 1 GPU each is submitted to queue "research", more than a second later
    Then the gang "older" is queued
    When the gang "newer" is raised to priority 100
    Then the gang "newer" is queued
    When the gang "first" finishes
    Then the whole gang "newer" runs
    And the gang "older" is queued
    When the gang "newer" finishes
    Then the whole gang "older" runs
