@gangs
Feature: Gangs that lose or finish members
  Members finish, fail and are re-created; the rest of the gang keeps running, and the lost member returns.

  @FLT-01 @must
  Scenario: A gang of which members have finished gets a lost member back
    Source: Kubernetes issue 142330: the replacement of a pod that is lost after other members have completed is to be scheduled, although fewer than the minimum are left.
    Given a node with 3 GPUs
    And a gang "train" of 3 pods with 1 GPU each running
    When "train-0" finishes
    And "train-1" is deleted and re-created
    Then "train-1", "train-2" run
    And "train-2" was not evicted

  @FLT-02 @must
  Scenario: Members that finish one after the other leave the rest of the gang running
    Source: KAI Scheduler issue 1968: the pods that were left of a gang whose members completed one by one were evicted; a gang with a succeeded pod is not stale.
    Given a node with 3 GPUs
    And a gang "train" of 3 pods with 1 GPU each running
    When "train-0" finishes
    Then "train-1", "train-2" were not evicted
    When "train-1" finishes
    Then "train-2" was not evicted
    When pod "next" requests 2 GPUs
    Then "next" runs
    And "train-2" runs
    And no other pod was evicted or failed

  @FLT-03 @should
  Scenario: The place of a lost member goes back to its gang before another pod of equal priority gets it
    Source: Volcano issue 5805: after a node was cordoned and returned, a pod of equal priority takes the place of the gang's own pod, and the gang stays below its minimum for good.
    Given a node "here" with 3 GPUs
    And a gang "train" of 3 pods with 1 GPU each running
    When pod "equal" requests 1 GPU
    And node "here" is cordoned
    And "train-1" is deleted and re-created
    Then "train-1", "equal" stay pending
    When node "here" is uncordoned
    Then the whole gang "train" runs
    And "equal" stays pending
    When the gang "train" finishes
    Then "equal" runs
