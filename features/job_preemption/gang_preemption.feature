@job-preemption @gangs
Feature: Preemption for a whole gang
  Preemption for a gang is one decision: all victims that it needs are preempted, or none.

  @JPR-01 @must
  Scenario: A gang preempts lower-priority pods on two nodes
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
    And no other pod was evicted or failed

  @JPR-03 @must
  Scenario: No preemption unless the whole gang would fit
    Source: Koordinator proposal, job-level preemption: no victim is evicted unless all members can be placed.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And pods running:
      | pod  | GPUs | priority | node |
      | low  | 4    | 10       | east |
      | high | 4    | 1000     | west |
    When a gang "train" of 2 pods with 3 GPUs each is submitted at priority 100
    Then no pod of the gang "train" is bound
    And no pod was preempted
    When "high" finishes
    Then the whole gang "train" runs
    And "low" was preempted for the gang "train"

  @JPR-16 @must
  Scenario: No preemption for a gang with fewer pods than minMember
    Source: Koordinator documentation, gang scheduling: a gang is looked at when the minimum of its pods exists.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod | GPUs |
      | low | 4    |
    When the PodGroup of gang "train" is created with minMember 2 at priority 100
    And 1 more pod with 2 GPUs joins the gang "train" at priority 100
    Then no pod of the gang "train" is bound
    And no pod was preempted
    When 1 more pod with 2 GPUs joins the gang "train" at priority 100
    Then the whole gang "train" runs
    And "low" was preempted for the gang "train"

  @JPR-17 @must
  Scenario: No preemption on nodes whose taints the gang does not tolerate
    Source: Koordinator documentation, job-level preemption: only nodes where evictions help are considered.
    Given a node "closed" with 4 GPUs and the taint "maintenance=soon:NoSchedule"
    And pods running at priority 10:
      | pod | GPUs | tolerates   |
      | low | 4    | maintenance |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then no pod of the gang "train" is bound
    And no pod was preempted
    When the taints of "closed" are removed
    Then the whole gang "train" runs
    And "low" was preempted for the gang "train"

  @JPR-22 @must
  Scenario: No preemption for a gang larger than the cluster
    Source: KEP-5710, workload-aware preemption: no victims for a gang that no set of evictions would let in.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And pods running at priority 10:
      | pod      | GPUs | node |
      | low-east | 4    | east |
      | low-west | 4    | west |
    When a gang "huge" of 3 pods with 4 GPUs each is submitted at priority 100
    Then no pod of the gang "huge" is bound
    And no pod was preempted
    When a gang "small" of 2 pods with 2 GPUs each is submitted at priority 100
    Then the whole gang "small" runs
    And exactly one of "low-east", "low-west" was preempted for the gang "small"

  @JPR-19 @must
  Scenario: Each pod of a heterogeneous gang is bound to a node where it fits
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
    And no other pod was evicted or failed

  @JPR-15 @should
  Scenario: Linked PodGroups preempt together or not at all
    Source: Koordinator documentation, gang group: gangs of one group are placed together, and so is their preemption.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And pods running:
      | pod  | GPUs | priority | node |
      | low  | 4    | 10       | east |
      | high | 4    | 1000     | west |
    When linked gangs "actors", "learners" of 1 pod with 3 GPUs each are submitted at priority 100
    Then no pod of the gang "actors" is bound
    And no pod of the gang "learners" is bound
    And no pod was preempted
    When "high" finishes
    Then the whole gang "actors" runs
    And the whole gang "learners" runs
    And "low" was preempted for the gangs "actors", "learners"
