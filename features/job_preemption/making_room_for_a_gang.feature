@job-preemption @gangs
Feature: Making room for a whole gang
  Preemption for a gang is one decision: everybody it needs goes, or nobody does.

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
