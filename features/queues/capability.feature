@queues @gangs
Feature: What a queue may use
  A queue's capability is a promise to everybody else: its work never uses more.

  @QUE-01 @must
  Scenario: A queue never uses more than its capability
    Source: Volcano documentation, Queue: capability is the upper limit of resources the queue can use.
    Given a node with 16 GPUs
    And a queue "research" with 8 GPUs
    When a gang "first" of 6 pods with 1 GPU each is submitted to queue "research"
    And a gang "second" of 6 pods with 1 GPU each is submitted to queue "research"
    Then the whole gang "first" runs
    And no pod of the gang "second" is bound
    And at no time more than 8 GPUs were in use
