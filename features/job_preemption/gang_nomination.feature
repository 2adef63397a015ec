@job-preemption @gangs
Feature: While the victims of a gang leave
  Between the decision and the start lies the victims' time to terminate. The room is spoken for, for all members.

  @JPR-02 @must
  Scenario: Every victim says who preempted it
    Source: Koordinator documentation, job-level preemption: condition DisruptionTarget with reason PreemptionByScheduler.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod   | GPUs |
      | left  | 2    |
      | right | 2    |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then "left", "right" say before they go that the scheduler preempted them for the gang "train"
    And the whole gang "train" runs

  @JPR-18 @must
  Scenario: An event about every victim tells of its preemption
    Source: Koordinator, event Preempted; Volcano, event Evict: each victim gets one.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod   | GPUs |
      | left  | 2    |
      | right | 2    |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then an event about each of "left", "right" tells of its preemption for the gang "train"
    And the whole gang "train" runs

  @JPR-12 @must
  Scenario: Nobody else goes while the first victims leave
    Source: Koordinator documentation, job-level preemption: a job whose victims still terminate does not preempt again.
    Given a node with 6 GPUs
    And pods running at priority 10:
      | pod    | GPUs | leaves within |
      | first  | 2    | 6s            |
      | second | 2    | 6s            |
      | third  | 2    | 6s            |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then the gang "train" waits while exactly two of "first", "second", "third" terminate
    And the whole gang "train" runs
    And exactly two of "first", "second", "third" were preempted for the gang "train"
    And nothing else was disturbed

  @JPR-13 @must
  Scenario: Room that is freed for a gang is not given to others
    Source: Koordinator documentation, job-level preemption: nominated nodes reserve the room for all members of the job.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod   | GPUs | leaves within |
      | early | 2    | 5s            |
      | late  | 2    | 9s            |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then the gang "train" waits while exactly two of "early", "late" terminate
    When pod "lesser" asks for 2 GPUs at priority 50
    And pod "equal" asks for 2 GPUs at priority 100
    Then the whole gang "train" runs
    And "lesser", "equal" keep waiting
    When the gang "train" finishes
    Then "lesser", "equal" run

  @JPR-14 @should
  Scenario: A more important gang takes over the room
    Source: Koordinator, job-level preemption: nominations of less important pods are taken back.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod | GPUs | leaves within |
      | low | 4    | 4s            |
    When a gang "first" of 2 pods with 2 GPUs each is submitted at priority 100
    Then "low" was preempted for the gang "first"
    When a gang "better" of 2 pods with 2 GPUs each is submitted at priority 200
    Then the whole gang "better" runs
    And no pod of the gang "first" is bound
    When the gang "better" finishes
    Then the whole gang "first" runs

  @JPR-20 @must
  Scenario: A victim that comes back waits behind the gang
    Source: scheduler-plugins issue 443: re-created victims must not retake the room that their going has made.
    Given a node with 4 GPUs
    And pods running at priority 10:
      | pod | GPUs | leaves within |
      | low | 4    | 3s            |
    When a gang "train" of 2 pods with 2 GPUs each is submitted at priority 100
    Then "low" was preempted for the gang "train"
    When pod "low-again" asks for 4 GPUs at priority 10
    Then the whole gang "train" runs
    And "low-again" keeps waiting
    And nothing else was disturbed
    When the gang "train" finishes
    Then "low-again" runs
