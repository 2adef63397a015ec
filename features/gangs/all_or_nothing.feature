@gangs
Feature: All-or-nothing scheduling of gangs
  A gang of which fewer than minMember pods fit does not start, and reserves no capacity while it is pending.

  @GNG-01 @must
  Scenario: No pod of a gang is bound until minMember pods exist
    Source: KEP-4671, gang scheduling: pods of a gang wait until the minimum of them exists.
    Given a node with 4 GPUs
    When the PodGroup of gang "train" is created with minMember 2
    And 1 more pod with 1 GPU joins the gang "train"
    Then no pod of the gang "train" is bound
    When 1 more pod with 1 GPU joins the gang "train"
    Then the whole gang "train" runs

  @GNG-02 @must
  Scenario: No pod of a gang is bound when only a part of the gang fits
    Source: KEP-4671, gang scheduling: either the minimum of a gang is placed or none of it is; room that comes lets it in.
    Given a node "small" with 3 GPUs
    When a gang "train" of 4 pods with 1 GPU each is submitted
    Then an unschedulable message names the gang "train"
    And no pod of the gang "train" is bound
    When a node "more" with 1 GPU joins
    Then the whole gang "train" runs

  @GNG-03 @must
  Scenario: Two competing gangs do not deadlock
    Source: KEP-4671, gang scheduling: two gangs never wait for each other, each with a part of the room.
    Given a node with 4 GPUs
    When gangs are submitted while the scheduler is paused:
      | gang  | pods | GPUs |
      | left  | 3    | 1    |
      | right | 3    | 1    |
    Then exactly one of the gangs "left", "right" runs, and no pod of the others is bound
    When the running one of the gangs "left", "right" finishes
    Then the other one of the gangs "left", "right" runs

  @GNG-04 @must
  Scenario: A pending gang reserves no capacity
    Source: KEP-4671, gang scheduling: what a gang that found no place had reserved is given back for others.
    Given a node with 3 GPUs
    When a gang "train" of 4 pods with 1 GPU each is submitted
    Then no pod of the gang "train" is bound
    When pod "small" requests 3 GPUs
    Then "small" runs
    And no pod of the gang "train" is bound
    When a node "more" with 4 GPUs joins
    Then the whole gang "train" runs

  @GNG-05 @must
  Scenario: Members above minMember are bound when capacity appears
    Source: Koordinator documentation, gang scheduling: the minimum must be placed together, the others come after it.
    Given a node "small" with 2 GPUs
    When a gang "train" of 5 pods with 1 GPU each is submitted with minMember 3
    Then at least 3 pods of the gang "train" are bound, or none
    When a node "more" with 2 GPUs joins
    Then at least 3 pods of the gang "train" run, and the others stay pending
    When a node "plenty" with 4 GPUs joins
    Then the whole gang "train" runs

  @GNG-06 @must
  Scenario: Pods stay pending until their PodGroup exists
    Source: KEP-4671, gang scheduling: a pod whose group does not exist waits until it appears.
    Given a node with 4 GPUs
    When 2 more pods with 1 GPU each join the gang "train"
    Then no pod of the gang "train" is bound
    When the PodGroup of gang "train" is created with minMember 2
    Then the whole gang "train" runs

  @GNG-07 @must
  Scenario: No role is bound until every role can reach its minimum
    Source: Volcano design, MinAvailable for tasks: a PodGroup has a minimum for each role, and is ready when each role has reached its own; minMember alone is not enough.
    Given a node "workers" with 3 GPUs
    When a gang "train" with several roles is submitted:
      | role   | pods | minimum | GPUs | node    |
      | master | 1    | 1       | 1    | masters |
      | worker | 4    | 2       | 1    | workers |
    Then no pod of the gang "train" is bound
    When a node "masters" with 1 GPU joins
    Then "train-master-0" runs on "masters"
    And at least 3 pods of the gang "train" run, and the others stay pending
