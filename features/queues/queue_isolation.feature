@queues @gangs
Feature: Queues beside each other
  A queue can be closed, missing, or short of room because of its neighbours; work in one never pays for another's.

  @QUE-11 @must
  Scenario: Nothing starts from a queue that is closed or missing until it is opened or created
    Source: Volcano design, Queue State Management: only an open queue takes new jobs; those that run in a closing one go on.
    Given a node with 8 GPUs
    And a queue "research" with 4 GPUs
    And a gang "early" of 2 pods with 1 GPU each running in queue "research"
    When queue "research" is closed
    And a gang "late" of 2 pods with 1 GPU each is submitted to queue "research"
    And a gang "lost" of 2 pods with 1 GPU each is submitted to queue "teaching"
    Then no pod of the gang "late" is bound
    And no pod of the gang "lost" is bound
    And "late-0" is told that queue "research" keeps it waiting
    And "lost-0" is told that queue "teaching" keeps it waiting
    And "early-0", "early-1" are still there
    When queue "research" is opened
    Then the whole gang "late" runs
    When a queue "teaching" with 4 GPUs is created
    Then the whole gang "lost" runs

  @QUE-14 @should @preemption
  Scenario: An important job takes room from its own queue only
    Source: Volcano documentation, Actions, preempt: preemption takes place between jobs of the same queue.
    Given a node with 8 GPUs
    And a queue "ours" with 4 GPUs
    And a queue "theirs" with 4 GPUs
    And a gang "mild" of 4 pods with 1 GPU each running in queue "ours" at priority 10
    And a gang "neighbour" of 4 pods with 1 GPU each running in queue "theirs" at priority 1
    When a gang "equal" of 4 pods with 1 GPU each is submitted to queue "ours" at priority 10
    Then the gang "equal" is queued
    And nobody was preempted
    When a gang "urgent" of 4 pods with 1 GPU each is submitted to queue "ours" at priority 100
    Then the whole gang "urgent" runs
    And "neighbour-0", "neighbour-1", "neighbour-2", "neighbour-3" are still there
    And queue "ours" never used more than its capability

  @QUE-15 @may
  Scenario Outline: Room that was lent goes back to its queue, and no more than that
    Source: Volcano documentation, Actions, reclaim: a queue that asks gets its share back from those that use more than theirs; Queue: guarantee is kept for the queue, whatever others ask for.
    Given a node with 8 GPUs
    And a queue "ours" of weight 1 that lends what it does not use
    And a queue "theirs" of weight 1 that lends what it does not use, down to <guaranteed> guaranteed GPUs
    And a gang "borrower" of 8 pods with 1 GPU each running in queue "theirs", 1 of them needed
    When 8 gangs of 1 pod with 1 GPU ask each of the queues "ours" while the scheduler looks away
    Then the GPUs in use, give or take one, are:
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
    When 8 gangs of 1 pod with 1 GPU ask each of the queues "light", "strong" while the scheduler looks away
    Then the GPUs in use, give or take one, are:
      | queue  | GPUs |
      | light  | 2    |
      | strong | 6    |
    And the GPUs in use are:
      | node   | GPUs |
      | shared | 8    |

  @QUE-17 @should
  Scenario: Two queues that both fall short for their jobs do not wait for each other
    Source: Volcano issues 1096 and 3725: two jobs in two queues, room for one of them, and both wait for ever.
    Given a node with 3 GPUs
    And a queue "left" of weight 1
    And a queue "right" of weight 1
    When gangs ask their queues while the scheduler looks away:
      | gang  | queue | pods | GPUs |
      | one   | left  | 2    | 1    |
      | other | right | 2    | 1    |
    Then exactly one of the gangs "one", "other" has started whole, and nobody of the others is bound
    When the one of the gangs "one", "other" that runs finishes
    Then exactly two of the gangs "one", "other" have started whole, and nobody of the others is bound
