@gangs
Feature: Changes to a gang
  Members are deleted and re-created, minMember is lowered, gangs finish.

  @GNG-08 @should
  Scenario: A re-created member rejoins its running gang
    Source: Koordinator, match policy once-satisfied: after a gang has started, a new member is placed like any pod.
    Given a node with 3 GPUs
    And a gang "train" of 3 pods with 1 GPU each running
    When "train-1" is deleted and re-created
    Then the whole gang "train" runs
    And "train-0", "train-2" were not evicted

  @GNG-09 @should
  Scenario: Lowering minMember lets a pending gang start
    Source: KEP-4671, gang scheduling: the minimum of a gang may be changed while it waits.
    Given a node with 3 GPUs
    When a gang "train" of 4 pods with 1 GPU each is submitted
    Then no pod of the gang "train" is bound
    When the gang "train" is updated to minMember 3 with 1 GPU each
    Then at least 3 pods of the gang "train" run, and the others stay pending

  @GNG-10 @should
  Scenario: A finished PodGroup keeps its terminal phase
    Source: Koordinator, phases of a PodGroup: Finished and Failed are final.
    Given a node with 2 GPUs
    And a gang "train" of 2 pods with 1 GPU each running
    When the gang "train" finishes
    Then the PodGroup of gang "train" stays in phase "finished"
    When "train-0" is deleted
    Then the PodGroup of gang "train" stays in phase "finished"

  @GNG-11 @should
  Scenario: A deleted pending member no longer counts towards minMember
    Source: Koordinator issue 3185: a deleted member must not go on to count, or to be tried.
    Given a node "small" with 1 GPU
    When a gang "train" of 2 pods with 1 GPU each is submitted
    Then no pod of the gang "train" is bound
    When "train-1" is deleted
    And a node "large" with 4 GPUs joins
    Then no pod of the gang "train" is bound
    When 1 more pod with 1 GPU joins the gang "train"
    Then "train-0", "train-2" run

  @GNG-12 @should
  Scenario: A gang partially bound before a scheduler crash is completed
    Source: scheduler-plugins issue 930: a gang that was bound in part must not stay so.
    Given a node "here" with 3 GPUs
    When the scheduler crashes after binding the first pod of a gang "train" of 3 pods with 1 GPU each to "here", and restarts
    Then the whole gang "train" runs
