@preemption
Feature: Order in the queue, and pods that do not push
  Importance decides who is looked at first. Whether a pod may also evict others is a matter of its own.

  @PRE-12 @must
  Scenario: A pod that never preempts waits, and is still first in line
    Source: Kubernetes documentation, Pod Priority and Preemption: non-preempting PriorityClass.
    Given a node with 1 GPU
    And pods running at priority 50:
      | pod    | GPUs |
      | holder | 1    |
    When pod "ordinary" asks for 1 GPU at priority 50
    And pod "polite" asks for 1 GPU at priority 100 and never preempts
    Then "ordinary", "polite" keep waiting
    And nobody was preempted
    When "holder" finishes
    Then "polite" runs
    And "ordinary" keeps waiting
    When "polite" finishes
    Then "ordinary" runs

  @PRE-24 @must
  Scenario: When a place becomes free the most important pod gets it
    Source: Kubernetes documentation, Pod Priority and Preemption: pending pods are ordered by priority.
    Given a node with 1 GPU
    And pods running at priority 1000:
      | pod    | GPUs |
      | holder | 1    |
    When pod "modest" asks for 1 GPU at priority 10
    And pod "important" asks for 1 GPU at priority 100
    Then "modest", "important" keep waiting
    When "holder" finishes
    Then "important" runs
    And "modest" keeps waiting
    When "important" finishes
    Then "modest" runs

  @PRE-25 @must
  Scenario: A pod that finds no place is told what is missing
    Source: Kubernetes documentation, Assign Extended Resources: the event FailedScheduling names the insufficient resource.
    Given a node "east" with 2 GPUs
    And a node "west" with 2 GPUs
    When pod "large" asks for 3 GPUs at priority 10
    Then "large" is refused, and the reason names "Unschedulable" and "nvidia.com/gpu"
    And a warning event about "large" names "Insufficient nvidia.com/gpu"
    When a node "roomy" with 4 GPUs joins
    Then "large" runs on "roomy"
