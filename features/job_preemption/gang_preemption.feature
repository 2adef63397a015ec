@job-preemption @gangs
Feature: Making room for a whole gang
  Preemption for a gang is one decision: everybody it needs goes, or nobody does.

  @JPR-01 @must
  Scenario: A gang takes the places of less important pods on two nodes
    Source: Koordinator documentation, job-level preemption: victims on every node that a member needs make room together.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And pods running at priority 10:
      | pod      | GPUs | node |
      | low-east | 4    | east |
      | low-west | 4    | west |
    When a gang "train" of 2 pods with 3 GPUs each is submitted at priority 100
    Then the whole gang "train" runs
    And "low-east", "low-west" were preempted for the gang "train"
    And nothing else was disturbed

  @JPR-03 @must
  Scenario: Nobody goes when only a part of the gang would fit
    Source: Koordinator proposal, job-level preemption: no victim is evicted unless all members can be placed.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And pods running:
      | pod  | GPUs | priority | node |
      | low  | 4    | 10       | east |
      | boss | 4    | 1000     | west |
    When a gang "train" of 2 pods with 3 GPUs each is submitted at priority 100
    Then no pod of the gang "train" is bound
    And nobody was preempted
    When "boss" finishes
    Then the whole gang "train" runs

  @JPR-16 @must
  Scenario: Nobody goes for a gang that is not complete
    Source: Koordinator documentation, gang scheduling: a gang is looked at when the minimum of its pods exists.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod | GPUs |
      | low | 4    |
    When the gang "train" of 2 pods is declared at priority 100
    And 1 more pod with 2 GPUs joins the gang "train" at priority 100
    Then no pod of the gang "train" is bound
    And nobody was preempted
    When 1 more pod with 2 GPUs joins the gang "train" at priority 100
    Then the whole gang "train" runs
    And "low" was preempted for the gang "train"

  @JPR-17 @must
  Scenario: Nobody goes from a node that the gang may not use
    Source: Koordinator documentation, job-level preemption: only nodes where evictions help are considered.
    Given a node "closed" with 4 GPUs and the taint "maintenance=soon:NoSchedule"
    And pods running at priority 10:
      | pod | GPUs | tolerates   |
      | low | 4    | maintenance |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then no pod of the gang "train" is bound
    And nobody was preempted
    When the taints of "closed" are removed
    Then the whole gang "train" runs
    And "low" was preempted for the gang "train"

  @JPR-22 @must
  Scenario: Nobody goes for a gang that is larger than the cluster
    Source: KEP-5710, workload-aware preemption: no victims for a gang that no set of evictions would let in.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And pods running at priority 10:
      | pod      | GPUs | node |
      | low-east | 4    | east |
      | low-west | 4    | west |
    When a gang "giant" of 3 pods with 4 GPUs each is submitted at priority 100
    Then no pod of the gang "giant" is bound
    And nobody was preempted
    When a gang "modest" of 2 pods with 2 GPUs each is submitted at priority 100
    Then the whole gang "modest" runs
    And exactly one of "low-east", "low-west" was preempted for the gang "modest"

  @JPR-19 @must
  Scenario: Each member gets a place of its own size
    Source: Koordinator documentation, job-level preemption: every member must fit once the victims are gone.
    Given a node "large" with 4 GPUs
    And a node "small" with 2 GPUs
    And pods running at priority 10:
      | pod       | GPUs | node  |
      | low-large | 4    | large |
      | low-small | 2    | small |
    When a gang "train" is submitted at priority 100 with the pods:
      | pod    | GPUs |
      | master | 2    |
      | worker | 4    |
    Then "worker" runs on "large"
    And "master" runs on "small"
    And "low-large", "low-small" were preempted for the gang "train"
    And nothing else was disturbed

  @JPR-15 @should
  Scenario: Gangs that start together make room together, or not at all
    Source: Koordinator documentation, gang group: gangs of one group are placed together, and so is their preemption.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And pods running:
      | pod  | GPUs | priority | node |
      | low  | 4    | 10       | east |
      | boss | 4    | 1000     | west |
    When the gangs "actors", "learners" of 1 pod with 3 GPUs each are submitted to start together at priority 100
    Then no pod of the gang "actors" is bound
    And no pod of the gang "learners" is bound
    And nobody was preempted
    When "boss" finishes
    Then the whole gang "actors" runs
    And the whole gang "learners" runs
