@preemption
Feature: Making room for a more important pod
  When no node has room for a pod, less important pods may have to go: no more than needed, the least important first,
  and only where their going helps.

  @PRE-01 @must
  Scenario: A more important pod takes exactly the room it needs
    Source: Kubernetes conformance, "validates basic preemption works" (since 1.19).
    Given a node with 2 GPUs
    And pods running at priority 10:
      | pod   | GPUs |
      | left  | 1    |
      | right | 1    |
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" runs
    And exactly one of "left", "right" was preempted for "urgent"
    And nothing else was disturbed

  @PRE-02 @must
  Scenario: Nobody goes while there is room elsewhere
    Source: Kubernetes documentation, Pod Priority and Preemption: preemption is tried when no node satisfies the pod.
    Given a node "free" with 1 GPU
    And a node "full" with 1 GPU
    And pods running at priority 10:
      | pod | GPUs | node |
      | low | 1    | full |
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" runs on "free"
    And nobody was preempted

  @PRE-03 @must
  Scenario: Equal importance is no reason to go
    Source: Kubernetes documentation, Pod Priority and Preemption: only pods with lower priority are removed.
    Given a node with 2 GPUs
    And pods running at priority 50:
      | pod   | GPUs |
      | left  | 1    |
      | right | 1    |
    When pod "equal" asks for 1 GPU at priority 50
    Then "equal" keeps waiting
    And nobody was preempted
    When "left" finishes
    Then "equal" runs

  @PRE-04 @must
  Scenario: The least important pod goes first
    Source: Kubernetes documentation, Pod Priority and Preemption: the scheduler prefers the lowest-priority victims.
    Given a node with 3 GPUs
    And pods running:
      | pod    | GPUs | priority |
      | high   | 1    | 30       |
      | low    | 1    | 10       |
      | middle | 1    | 20       |
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" runs
    And "low" was preempted for "urgent"
    And "middle", "high" are still there
    And nothing else was disturbed

  @PRE-05 @should
  Scenario: Among equals the one that started last goes
    Source: kube-scheduler, importance of pods: higher priority first, then the earlier start.
    Given a node with 2 GPUs
    And pods running at priority 10, each started after the one above:
      | pod     | GPUs |
      | veteran | 1    |
      | novice  | 1    |
    When pod "urgent" asks for 1 GPU at priority 100
    Then "urgent" runs
    And "novice" was preempted for "urgent"
    And "veteran" is still there

  @PRE-06 @must
  Scenario: No victim goes that could have stayed
    Source: Kubernetes documentation, Pod Priority and Preemption: victims that need not go are kept back.
    Given a node with 8 GPUs
    And pods running at priority 10:
      | pod   | GPUs |
      | four  | 4    |
      | two   | 2    |
      | one   | 1    |
      | uno   | 1    |
    When pod "urgent" asks for 3 GPUs at priority 100
    Then "urgent" runs
    And every victim of "urgent" was necessary
    And nothing else was disturbed

  @PRE-19 @must
  Scenario: Nobody goes when that would not help
    Source: Kubernetes documentation, Pod Priority and Preemption: a node is considered only if removing victims lets the pod in.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod   | GPUs |
      | left  | 2    |
      | right | 2    |
    When pod "giant" asks for 8 GPUs at priority 100
    Then "giant" keeps waiting
    And nobody was preempted
    When pod "modest" asks for 2 GPUs at priority 100
    Then "modest" runs
    And exactly one of "left", "right" was preempted for "modest"

  @PRE-29 @must
  Scenario: Free GPUs on two nodes are not room for one pod
    Source: Kubernetes documentation, Pod Priority and Preemption: victims are chosen on the one node where the pod will run.
    Given a node "east" with 4 GPUs
    And a node "west" with 4 GPUs
    And pods running at priority 10:
      | pod       | GPUs | node |
      | east-half | 2    | east |
      | west-half | 2    | west |
    When pod "patient" asks for 4 GPUs at priority 10
    Then "patient" keeps waiting
    And nobody was preempted
    When pod "urgent" asks for 4 GPUs at priority 100
    Then "urgent" runs in the place of one of "east-half", "west-half"
    And exactly one of "east-half", "west-half" was preempted for "urgent"
    And nothing else was disturbed
