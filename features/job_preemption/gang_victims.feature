@job-preemption @gangs
Feature: Who goes for a gang
  No more than needed, the least important first, and nobody who is as important or protected.

  @JPR-04 @must
  Scenario: A gang that never preempts waits
    Source: Koordinator documentation, job-level preemption: a preemptionPolicy of Never makes a job not eligible.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod | GPUs |
      | low | 4    |
    When a gang "polite" of 2 pods with 2 GPUs each is submitted at priority 100 and never preempts
    Then no pod of the gang "polite" is bound
    And nobody was preempted
    When "low" finishes
    Then the whole gang "polite" runs

  @JPR-05 @must
  Scenario: Equal importance is no reason to go for a gang
    Source: Koordinator documentation, job-level preemption: victims have a lower priority than the preemptor.
    Given a node with 4 GPUs
    And pods running at priority 100:
      | pod  | GPUs |
      | peer | 4    |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then no pod of the gang "train" is bound
    And nobody was preempted
    When "peer" finishes
    Then the whole gang "train" runs

  @JPR-06 @should
  Scenario: A pod that may not be evicted stays
    Source: Koordinator, label disable-preemptible; Volcano, annotation preemptable: such a pod is no victim.
    Given a node "here" with 4 GPUs
    And pod "shielded" with 4 GPUs runs at priority 10 on "here" and may not be evicted
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then no pod of the gang "train" is bound
    And nobody was preempted
    When "shielded" finishes
    Then the whole gang "train" runs

  @JPR-07 @should
  Scenario: Where a pod may not be evicted, the gang goes elsewhere
    Source: Koordinator, label disable-preemptible; Volcano, annotation preemptable: such a pod is no victim.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And pod "shielded" with 4 GPUs runs at priority 10 on "east" and may not be evicted
    And pods running at priority 10:
      | pod | GPUs | node |
      | low | 4    | west |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then the whole gang "train" runs
    And "low" was preempted for the gang "train"
    And "shielded" is still there
    And nothing else was disturbed

  @JPR-08 @must
  Scenario: No victim goes for a gang that could have stayed
    Source: Koordinator documentation, job-level preemption: victims that the members leave room for are kept.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And pods running at priority 10:
      | pod        | GPUs | node |
      | east-one   | 1    | east |
      | east-three | 3    | east |
      | west-one   | 1    | west |
      | west-three | 3    | west |
    When a gang "train" of 2 pods with 3 GPUs each is submitted at priority 100
    Then the whole gang "train" runs
    And every victim of the gang "train" was necessary
    And "east-three", "west-three" were preempted for the gang "train"
    And nothing else was disturbed

  @JPR-09 @must
  Scenario: On a node the least important pods go first
    Source: Koordinator documentation, job-level preemption: the more important victims are kept back first.
    Given a node with 4 GPUs
    And pods running:
      | pod    | GPUs | priority |
      | middle | 2    | 50       |
      | low    | 2    | 10       |
    When a gang "train" of 2 pods with 1 GPU each is submitted at priority 100
    Then the whole gang "train" runs
    And "low" was preempted for the gang "train"
    And "middle" is still there
    And nothing else was disturbed

  @JPR-10 @should
  Scenario: The nodes with the least important pods are chosen
    Source: Koordinator documentation, job-level preemption: nodes are compared by the cost of their victims.
    Given a node "a" with 4 GPUs
    And a node "b" with 4 GPUs
    And a node "c" with 4 GPUs
    And pods running:
      | pod     | GPUs | priority | node |
      | low-b   | 4    | 10       | b    |
      | dearest | 4    | 90       | a    |
      | low-c   | 4    | 10       | c    |
    When a gang "train" of 2 pods with 3 GPUs each is submitted at priority 100
    Then the whole gang "train" runs
    And "dearest" is still there
    And "low-b", "low-c" were preempted for the gang "train"

  @JPR-11 @must
  Scenario: Free room is used before anybody goes
    Source: Koordinator, job-level preemption: members that already have a place keep it, victims are for the others.
    Given a node "east" with 4 GPUs
    And a node "free" with 4 GPUs
    And a node "west" with 4 GPUs
    And pods running at priority 10:
      | pod      | GPUs | node |
      | low-east | 4    | east |
      | low-west | 4    | west |
    When a gang "train" of 2 pods with 3 GPUs each is submitted at priority 100
    Then the whole gang "train" runs
    And exactly one of "low-east", "low-west" was preempted for the gang "train"
    And nothing else was disturbed

  @JPR-21 @should
  Scenario: A gang that leaves as one leaves whole
    Source: KEP-5710, workload-aware preemption: a group with the disruption mode "all" is evicted entirely or not at all.
    Given a node with 4 GPUs
    And a gang "crew" of 4 pods with 1 GPU each running at priority 10, which leaves as one
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" runs
    And "crew-0", "crew-1", "crew-2", "crew-3" were preempted for "urgent"
    And nothing else was disturbed
