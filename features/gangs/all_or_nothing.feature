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
