@job-preemption @gangs
Feature: Nominated nodes of a gang
  While victims terminate, the capacity is reserved for all members of the gang.

  @JPR-02 @must
  Scenario: Every victim's DisruptionTarget message names the scheduler and the gang
    Source: Koordinator documentation, job-level preemption: condition DisruptionTarget with reason PreemptionByScheduler.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod   | GPUs |
      | left  | 2    |
      | right | 2    |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then "left", "right" have a DisruptionTarget message that names the scheduler and the gang "train" before deletion
    And the whole gang "train" runs

  @JPR-18 @must
  Scenario: Every victim of a gang gets a preemption event
    Source: Koordinator, event Preempted; Volcano, event Evict: each victim gets one.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod   | GPUs |
      | left  | 2    |
      | right | 2    |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then each of "left", "right" has a preemption event for the gang "train"
    And the whole gang "train" runs

  @JPR-12 @must
  Scenario: A gang does not preempt again while its victims terminate
    Source: Koordinator documentation, job-level preemption: a job whose victims still terminate does not preempt again.
    Given a node with 6 GPUs
    And pods running at priority 10:
      | pod    | GPUs | grace period |
      | first  | 2    | long         |
      | second | 2    | long         |
      | third  | 2    | long         |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then the gang "train" stays pending while exactly two of "first", "second", "third" terminate
    When the grace periods of the victims end
    Then the whole gang "train" runs
    And exactly two of "first", "second", "third" were preempted for the gang "train"
    And no other pod was evicted or failed

  @JPR-13 @must
  Scenario: Capacity freed for a gang is reserved for its members
    Source: Koordinator documentation, job-level preemption: nominated nodes reserve the room for all members of the job.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod   | GPUs | grace period |
      | early | 2    | long         |
      | late  | 2    | long         |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then the gang "train" stays pending while exactly two of "early", "late" terminate
    When pod "lesser" requests 2 GPUs at priority 50
    And pod "equal" requests 2 GPUs at priority 100
    And the grace period of "early" ends
    Then "lesser", "equal" stay pending
    When the grace period of "late" ends
    Then the whole gang "train" runs
    And "lesser", "equal" stay pending
    When the gang "train" finishes
    Then "lesser", "equal" run

  @JPR-14 @should
  Scenario: A higher-priority gang takes over nominated nodes
    Source: Koordinator, job-level preemption: nominations of lower-priority pods are cleared.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod | GPUs | grace period |
      | low | 4    | long         |
    When a gang "first" of 2 pods with 2 GPUs each is submitted at priority 100
    Then "low" was preempted for the gang "first"
    When a gang "better" of 2 pods with 2 GPUs each is submitted at priority 200
    And the grace periods of the victims end
    Then the whole gang "better" runs
    And no pod of the gang "first" is bound
    When the gang "better" finishes
    Then the whole gang "first" runs

  @JPR-20 @must
  Scenario: A re-created victim does not take the gang's capacity
    Source: scheduler-plugins issue 443: re-created victims must not retake the room that their going has made.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod | GPUs | grace period |
      | low | 4    | long         |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then "low" was preempted for the gang "train"
    When pod "low-again" requests 4 GPUs at priority 10
    And the grace periods of the victims end
    Then the whole gang "train" runs
    And "low-again" stays pending
    And no other pod was evicted or failed
    When the gang "train" finishes
    Then "low-again" runs

  @GNG-16 @must
  Scenario: A scheduler that restarts between eviction and binding preempts no more pods for the gang
    Source: Koordinator documentation, job-level preemption: a job whose victims still terminate does not preempt again; its pods' nominatedNodeName is in the API, and survives a restart.
    Given a node with 8 GPUs
    And pods running at priority 10:
      | pod    | GPUs | grace period |
      | first  | 2    | long         |
      | second | 2    | long         |
      | third  | 2    | long         |
      | fourth | 2    | long         |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then the gang "train" stays pending while exactly two of "first", "second", "third", "fourth" terminate
    When the scheduler is killed and restarted
    Then the gang "train" stays pending while exactly two of "first", "second", "third", "fourth" terminate
    When the grace periods of the victims end
    Then the whole gang "train" runs
    And exactly two of "first", "second", "third", "fourth" were preempted for the gang "train"
    And no other pod was evicted or failed
