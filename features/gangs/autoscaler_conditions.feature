@gangs
Feature: Conditions that an autoscaler reads
  An autoscaler adds nodes for pods with PodScheduled=False and reason Unschedulable, and for no others.

  @ASC-01 @must
  Scenario: Every member of a gang that lacks capacity is reported unschedulable
    Source: Kubernetes Cluster Autoscaler FAQ: it looks for pods whose condition PodScheduled is False with reason Unschedulable; Volcano issues 2558 and 3976, Koordinator issue 3088: for a gang it must find all members.
    Given a node with 6 GPUs
    When a gang "train" of 7 pods with 1 GPU each is submitted
    Then every pod of the gang "train" is reported unschedulable
    When a node "more" with 1 GPU joins
    Then the whole gang "train" runs

  @ASC-02 @should @queues
  Scenario: A gang that is pending only for lack of quota is not reported unschedulable
    Source: Kubernetes Cluster Autoscaler FAQ: reason Unschedulable says that no node has room, and nodes are added for it; Volcano issue 4710: nodes were added, and never used, for pods beyond their queue's capability; a SHOULD, because a way to say so is asked for and not agreed (autoscaler issue 9828).
    Given a node with 8 GPUs
    And a queue "research" with 4 GPUs
    And a queue "spare" with 8 GPUs
    And a gang "first" of 4 pods with 1 GPU each running in queue "research"
    When a gang "second" of 2 pods with 1 GPU each is submitted to queue "research"
    Then the gang "second" is queued
    And no pod of the gang "second" is reported unschedulable
    When a gang "large" of 1 pod with 5 GPUs is submitted to queue "spare"
    Then every pod of the gang "large" is reported unschedulable
    When the gang "first" finishes
    Then the whole gang "second" runs
