@gangs
Feature: All or nothing
  A gang that cannot start whole does not start at all, and holds nothing while it waits.

  @GNG-01 @must
  Scenario: A gang waits for its last member
    Source: KEP-4671, gang scheduling: pods of a gang wait until the minimum of them exists.
    Given a node with 4 GPUs
    When the gang "train" of 2 pods is declared
    And 1 more pod with 1 GPU joins the gang "train"
    Then no pod of the gang "train" is bound
    When 1 more pod with 1 GPU joins the gang "train"
    Then the whole gang "train" runs

  @GNG-02 @must
  Scenario: Room for a part of a gang is no room for it
    Source: KEP-4671, gang scheduling: either the minimum of a gang is placed or none of it is; room that comes lets it in.
    Given a node "small" with 3 GPUs
    When a gang "train" of 4 pods with 1 GPU each is submitted
    Then the refusal names the gang "train"
    And no pod of the gang "train" is bound
    When a node "more" with 1 GPU joins
    Then the whole gang "train" runs

  @GNG-03 @must
  Scenario: Of two gangs that do not fit together one runs, and then the other
    Source: KEP-4671, gang scheduling: two gangs never wait for each other, each with a part of the room.
    Given a node with 4 GPUs
    When gangs ask while the scheduler looks away:
      | gang  | pods | GPUs |
      | left  | 3    | 1    |
      | right | 3    | 1    |
    Then exactly one of the gangs "left", "right" runs, and nobody of the others is bound
    When the one of the gangs "left", "right" that runs finishes
    Then the whole gang "left" runs
    And the whole gang "right" runs

  @GNG-04 @must
  Scenario: A gang that waits holds nothing
    Source: KEP-4671, gang scheduling: what a gang that found no place had reserved is given back for others.
    Given a node with 3 GPUs
    When a gang "train" of 4 pods with 1 GPU each is submitted
    Then no pod of the gang "train" is bound
    When pod "small" asks for 3 GPUs
    Then "small" runs
    And no pod of the gang "train" is bound
    When a node "more" with 4 GPUs joins
    Then the whole gang "train" runs

  @GNG-05 @must
  Scenario: Members above the minimum follow when there is room
    Source: Koordinator documentation, gang scheduling: the minimum must be placed together, the others come after it.
    Given a node "small" with 2 GPUs
    When a gang "train" of 5 pods with 1 GPU each is submitted, 3 of them to start together
    Then the gang "train" has started with 3 pods or not at all
    When a node "more" with 2 GPUs joins
    Then at least 3 pods of the gang "train" run, and the others wait
    When a node "plenty" with 4 GPUs joins
    Then the whole gang "train" runs

  @GNG-06 @must
  Scenario: Pods of a gang that is not declared yet wait for it
    Source: KEP-4671, gang scheduling: a pod whose group does not exist waits until it appears.
    Given a node with 4 GPUs
    When 2 more pods with 1 GPU each join the gang "train"
    Then no pod of the gang "train" is bound
    When the gang "train" of 2 pods is declared
    Then the whole gang "train" runs

  @GNG-07 @must
  Scenario: A master that finds no place keeps its workers waiting
    Source: Volcano documentation, PodGroup minTaskMember: a group starts when every role has its minimum.
    Given a node "small" with 3 GPUs
    When a gang "train" of several roles is submitted:
      | role   | pods | GPUs |
      | master | 1    | 4    |
      | worker | 3    | 1    |
    Then no pod of the gang "train" is bound
    When a node "large" with 8 GPUs joins
    Then the whole gang "train" runs
