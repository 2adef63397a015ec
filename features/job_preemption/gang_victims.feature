@job-preemption @gangs
Feature: Victims of a gang
  No more victims than needed, the lowest priority first, and no pod of equal priority or non-preemptible.

  @JPR-04 @must
  Scenario: A gang with preemptionPolicy Never stays pending
    Source: Koordinator documentation, job-level preemption: a preemptionPolicy of Never makes a job not eligible.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod | GPUs |
      | low | 4    |
    When a gang "policy-never" of 2 pods with 2 GPUs each is submitted at priority 100 with preemptionPolicy Never
    Then no pod of the gang "policy-never" is bound
    And no pod was preempted
    When "low" finishes
    Then the whole gang "policy-never" runs

  @JPR-05 @must
  Scenario: A gang does not preempt pods of equal priority
    Source: Koordinator documentation, job-level preemption: victims have a lower priority than the preemptor.
    Given a node with 4 GPUs
    And pods running at priority 100:
      | pod  | GPUs |
      | peer | 4    |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then no pod of the gang "train" is bound
    And no pod was preempted
    When "peer" finishes
    Then the whole gang "train" runs

  @JPR-06 @should
  Scenario: A non-preemptible pod is not preempted for a gang
    Source: Koordinator, label disable-preemptible; Volcano, annotation preemptable: such a pod is no victim.
    Given a node "here" with 4 GPUs
    And non-preemptible pod "protected" with 4 GPUs runs at priority 10 on "here"
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then no pod of the gang "train" is bound
    And no pod was preempted
    When "protected" finishes
    Then the whole gang "train" runs

  @JPR-07 @should
  Scenario: A gang is placed around non-preemptible pods
    Source: Koordinator, label disable-preemptible; Volcano, annotation preemptable: such a pod is no victim.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And pods running at priority 10:
      | pod | GPUs | node |
      | low | 4    | west |
    And non-preemptible pod "protected" with 4 GPUs runs at priority 5 on "east"
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then the whole gang "train" runs
    And "protected" was not evicted
    And "low" was preempted for the gang "train"
    And no other pod was evicted or failed

  @JPR-08 @must
  Scenario: Pods that still fit beside the gang are reprieved
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
    And no other pod was evicted or failed

  @JPR-09 @must
  Scenario: Within a node a gang preempts the lowest-priority pods first
    Source: Koordinator documentation, job-level preemption: higher-priority victims are reprieved first.
    Given a node with 4 GPUs
    And pods running:
      | pod    | GPUs | priority |
      | middle | 2    | 50       |
      | low    | 2    | 10       |
    When a gang "train" of 2 pods with 1 GPU each is submitted at priority 100
    Then the whole gang "train" runs
    And "low" was preempted for the gang "train"
    And "middle" was not evicted
    And no other pod was evicted or failed

  @JPR-10 @should
  Scenario: A gang is placed on the nodes with the lowest-priority victims
    Source: Koordinator documentation, job-level preemption: nodes are compared by the cost of their victims.
    Given a node "a" with 4 GPUs
    And a node "b" with 4 GPUs
    And a node "c" with 4 GPUs
    And pods running:
      | pod   | GPUs | priority | node |
      | low-b | 4    | 10       | b    |
      | high  | 4    | 90       | a    |
      | low-c | 4    | 10       | c    |
    When a gang "train" of 2 pods with 3 GPUs each is submitted at priority 100
    Then the whole gang "train" runs
    And "high" was not evicted
    And "low-b", "low-c" were preempted for the gang "train"

  @JPR-11 @must
  Scenario: A gang uses free capacity before it preempts
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
    And no other pod was evicted or failed

  @JPR-21 @should
  Scenario: A gang with disruption mode All is preempted as a unit
    Source: KEP-5710, workload-aware preemption: a group with the disruption mode "all" is evicted entirely or not at all.
    Given a node with 4 GPUs
    And a gang "batch" of 4 pods with 1 GPU each running at priority 10 with disruption mode All
    When pod "urgent" requests 1 GPU at priority 100
    Then "urgent" runs
    And "batch-0", "batch-1", "batch-2", "batch-3" were preempted for "urgent"
    And no other pod was evicted or failed
