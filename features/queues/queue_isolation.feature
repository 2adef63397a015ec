@queues @gangs
Feature: Isolation between queues
  A queue can be closed, missing, or short of capacity; jobs of one queue do not pay for those of another.

  @QUE-11 @must
  Scenario: A closed queue starts no jobs
    Source: Volcano design, Queue State Management: only an open queue takes new jobs; those that run in a closing one go on.
    Given a node with 8 GPUs
    And a queue "research" with 4 GPUs
    And a gang "early" of 2 pods with 1 GPU each running in queue "research"
    When queue "research" is closed
    And a gang "late" of 2 pods with 1 GPU each is submitted to queue "research"
    Then no pod of the gang "late" is bound
    And "early-0", "early-1" were not evicted
    When queue "research" is opened
    Then the whole gang "late" runs

  @QUE-21 @must
  Scenario: A missing queue starts no jobs
    Source: Kueue documentation, Troubleshooting Jobs: a job whose LocalQueue does not exist is not admitted; Volcano documentation, Queue: a job is scheduled within the share of the queue that it names.
    Given a node with 8 GPUs
    And a queue "research" with 4 GPUs
    When a gang "lost" of 2 pods with 1 GPU each is submitted to queue "teaching"
    And a gang "known" of 2 pods with 1 GPU each is submitted to queue "research"
    Then the whole gang "known" runs
    And no pod of the gang "lost" is bound
    When a queue "teaching" with 4 GPUs is created
    And a gang "next" of 2 pods with 1 GPU each is submitted to queue "teaching"
    Then the whole gang "next" runs

  @QUE-22 @must
  Scenario: A job that is pending for a missing queue starts when the queue is created
    Source: Kueue documentation, Troubleshooting Jobs: a job stays pending while its LocalQueue does not exist, and is queued once it does.
    Given a node with 8 GPUs
    When a gang "lost" of 2 pods with 1 GPU each is submitted to queue "teaching"
    Then no pod of the gang "lost" is bound
    When a queue "teaching" with 4 GPUs is created
    Then the whole gang "lost" runs

  @QUE-20 @should
  Scenario: A pod that is pending for its queue reports the queue as the reason
    Source: Kubernetes API, PodCondition: the message of PodScheduled=False says why the pod is not scheduled.
    Given a node with 8 GPUs
    And a queue "research" with 4 GPUs
    And a gang "early" of 4 pods with 1 GPU each running in queue "research"
    When a gang "late" of 2 pods with 1 GPU each is submitted to queue "research"
    And a gang "lost" of 2 pods with 1 GPU each is submitted to queue "teaching"
    Then "late-0" reports queue "research" as the reason it is pending
    And "lost-0" reports queue "teaching" as the reason it is pending
    And no pod of the gang "late" is bound
    When the gang "early" finishes
    Then the whole gang "late" runs

  @QUE-14 @should @preemption
  Scenario: Preemption stays within the preemptor's queue
    Source: Volcano documentation, Actions, preempt: preemption takes place between jobs of the same queue.
    Given a node with 8 GPUs
    And a queue "ours" with 4 GPUs
    And a queue "theirs" with 4 GPUs
    And a gang "low" of 4 pods with 1 GPU each running in queue "ours" at priority 10
    And a gang "other" of 4 pods with 1 GPU each running in queue "theirs" at priority 1
    When a gang "equal" of 4 pods with 1 GPU each is submitted to queue "ours" at priority 10
    Then the gang "equal" is queued
    And no pod was preempted
    When a gang "urgent" of 4 pods with 1 GPU each is submitted to queue "ours" at priority 100
    Then the whole gang "urgent" runs
    And "low-0", "low-1", "low-2", "low-3" were preempted for the gang "urgent"
    And "other-0", "other-1", "other-2", "other-3" were not evicted
    And queue "ours" never used more than its capability

  @QUE-19 @must @preemption
  Scenario: Preempted pods release their quota
    Source: Volcano documentation, Queue: capability limits what the running jobs of the queue use; Actions, preempt: the evicted pods' resources are released.
    Given a node with 8 GPUs
    And a queue "research" with 4 GPUs
    And a gang "low" of 4 pods with 1 GPU each running in queue "research" at priority 10
    When a gang "urgent" of 4 pods with 1 GPU each is submitted to queue "research" at priority 100
    Then the whole gang "urgent" runs
    And "low-0", "low-1", "low-2", "low-3" were preempted for the gang "urgent"
    When the gang "urgent" finishes
    And a gang "next" of 4 pods with 1 GPU each is submitted to queue "research" at priority 10
    Then the whole gang "next" runs
    When a gang "more" of 1 pod with 1 GPU is submitted to queue "research" at priority 10
    Then the gang "more" is queued

  @QUE-15 @may
  Scenario Outline: A queue reclaims borrowed capacity down to the other queue's guarantee
    Source: Volcano documentation, Actions, reclaim: a queue that asks gets its share back from those that use more than theirs; Queue: guarantee is kept for the queue, whatever others ask for.
    Given a node with 8 GPUs
    And a reclaimable queue "ours" of weight 1
    And a reclaimable queue "theirs" of weight 1 with <guaranteed> guaranteed GPUs
    And a gang "borrower" of 8 pods with 1 GPU each running in queue "theirs" with minMember 1
    When 8 gangs of 1 pod with 1 GPU are submitted to each of the queues "ours" while the scheduler is paused
    Then the GPUs in use, plus or minus one, are:
      | queue  | GPUs     |
      | ours   | <ours>   |
      | theirs | <theirs> |

    Examples:
      | guaranteed | ours | theirs |
      | 0          | 4    | 4      |
      | 6          | 2    | 6      |

  @QUE-16 @may
  Scenario: Queues share a full cluster by their weights
    Source: Volcano documentation, Queue: weight is the queue's relative share when the cluster is divided.
    Given a node "shared" with 8 GPUs
    And a queue "light" of weight 1
    And a queue "strong" of weight 3
    When 8 gangs of 1 pod with 1 GPU are submitted to each of the queues "light", "strong" while the scheduler is paused
    Then the GPUs in use, plus or minus one, are:
      | queue  | GPUs |
      | light  | 2    |
      | strong | 6    |
    And the GPUs in use are:
      | node   | GPUs |
      | shared | 8    |

  @QUE-17 @should
  Scenario: Jobs of two queues that compete for the same GPUs do not deadlock
    Source: Volcano issues 1096 and 3725: two jobs in two queues, room for one of them, and both wait for ever.
    Given a node with 3 GPUs
    And a queue "left" of weight 1
    And a queue "right" of weight 1
    When gangs are submitted to queues while the scheduler is paused:
      | gang  | queue | pods | GPUs |
      | one   | left  | 2    | 1    |
      | other | right | 2    | 1    |
    Then exactly one of the gangs "one", "other" ran with all pods, and no pod of the others is bound
    When the running one of the gangs "one", "other" finishes
    Then exactly two of the gangs "one", "other" ran with all pods, and no pod of the others is bound
