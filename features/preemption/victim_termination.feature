@preemption
Feature: How a victim leaves
  Between being chosen and being gone lies a victim's grace period. The room is spoken for, but it is not free.

  @PRE-14 @must
  Scenario: A victim says why it goes
    Source: Kubernetes conformance, "validates pod disruption condition is added to the preempted pod" (since 1.31).
    Given a node with 1 GPU
    And pods running at priority 10:
      | pod    | GPUs |
      | victim | 1    |
    When pod "urgent" asks for 1 GPU at priority 100
    Then "victim" says before it goes that a scheduler preempted it
    And "urgent" runs

  @PRE-15 @must
  Scenario: An event ties the victim to its preemptor
    Source: kube-scheduler, event Preempted: a Normal event on the victim with the preemptor and the node.
    Given a node "here" with 1 GPU
    And pods running at priority 10:
      | pod    | GPUs |
      | victim | 1    |
    When pod "urgent" asks for 1 GPU at priority 100
    Then an event tells that "victim" was preempted for "urgent" and from which node
    And "urgent" runs on "here"

  @PRE-16 @must
  Scenario: The preemptor is nominated, and waits until its victim is gone
    Source: Kubernetes documentation, Pod Priority and Preemption: nominatedNodeName is set while victims terminate.
    Given a node with 1 GPU
    And pods running at priority 10:
      | pod    | GPUs | leaves within |
      | victim | 1    | 2s            |
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" is nominated to the node of "victim" while "victim" still terminates
    And "urgent" is bound only after "victim" is gone
    And "urgent" runs

  @PRE-17 @must
  Scenario: No second victim goes while the first one leaves
    Source: kube-scheduler: a pod with a terminating victim on its nominated node is not eligible to preempt again.
    Given a node with 2 GPUs
    And pods running at priority 10:
      | pod    | GPUs | leaves within |
      | first  | 1    | 4s            |
      | second | 1    | 4s            |
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" waits while exactly one of "first", "second" terminates
    And "urgent" runs
    And exactly one of "first", "second" was preempted for "urgent"
    And nothing else was disturbed

  @PRE-28 @must
  Scenario: A victim holds its GPUs until it is gone
    Source: Kubernetes documentation, Pod Priority and Preemption: graceful termination of victims leaves a time gap.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod    | GPUs | leaves within |
      | slow   | 4    | 2s            |
    When pod "urgent" asks for 4 GPUs at priority 100
    And pod "sneaky" asks for 1 GPU at priority 50
    Then "slow" was preempted for "urgent"
    And "urgent" is bound only after "slow" is gone
    And at no time more than 4 GPUs were in use
    And "sneaky" keeps waiting
