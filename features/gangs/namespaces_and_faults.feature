@gangs
Feature: Gangs in two namespaces, and refused bindings
  A gang consists of the pods of its own namespace, and is bound whole even if the API server refuses a binding.

  @GNG-13 @must
  Scenario: Gangs of equal name in two namespaces are two gangs
    Source: Kubernetes documentation, Namespaces: names need to be unique within a namespace, but not across namespaces; PodGroups are namespaced.
    Given a node with 4 GPUs
    And a second namespace "team-b"
    When the PodGroup of gang "train" is created with minMember 2
    And the PodGroup of gang "train" is created with minMember 2 in namespace "team-b"
    And 1 more pod with 1 GPU joins the gang "train"
    And pod "peer-0" with 1 GPU in namespace "team-b" names the PodGroup "train"
    Then no pod of the gang "train" is bound
    And "peer-0" stays pending
    When 1 more pod with 1 GPU joins the gang "train"
    Then the whole gang "train" runs
    And "peer-0" stays pending
    When pod "peer-1" with 1 GPU in namespace "team-b" names the PodGroup "train"
    Then "peer-0", "peer-1" run
    And "train-0", "train-1" were not evicted

  @GNG-14 @must
  Scenario: A gang is completed or released after the API server refused a binding
    Source: KEP-4671, gang scheduling: the set of pods is scheduled all or nothing; scheduler-plugins issue 930: a gang that was bound in part must not stay so.
    Given a node with 3 GPUs
    And the API server refuses the binding of "train-1"
    When a gang "train" of 3 pods with 1 GPU each is submitted
    Then "train-1" stays pending
    When the API server accepts the binding of "train-1" again
    Then the gang "train" is completed or released, and does not stay partially bound
    When the released pods of the gang "train" are re-created
    Then the whole gang "train" runs

  @TEN-01 @must
  Scenario: A pod that names a PodGroup of another namespace is no member of it
    Source: Kueue pull request 13014: a tenant's pod that names an admitted group that is not its own must not join it; Kubernetes documentation, Namespaces: a name is valid within its namespace.
    Given a node with 4 GPUs
    And a second namespace "team-b"
    When the PodGroup of gang "train" is created with minMember 2
    And 1 more pod with 1 GPU joins the gang "train"
    And pod "intruder" with 1 GPU in namespace "team-b" names the PodGroup "train"
    Then no pod of the gang "train" is bound
    And "intruder" stays pending
    When 1 more pod with 1 GPU joins the gang "train"
    Then the whole gang "train" runs
    And "intruder" stays pending
    When the PodGroup of gang "train" is created with minMember 1 in namespace "team-b"
    Then "intruder" runs
