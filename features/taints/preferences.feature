@taints
Feature: Soft taints and added tolerations
  PreferNoSchedule is a preference: no pod stays pending because of it.

  @TNT-06 @should
  Scenario: A PreferNoSchedule node is used last
    Source: Kubernetes documentation, Taints and Tolerations: PreferNoSchedule is a soft version of NoSchedule.
    Given nodes:
      | node      | GPUs | taints                    |
      | avoided-1 | 2    | gpu=true:PreferNoSchedule |
      | preferred | 2    |                           |
      | avoided-2 | 2    | gpu=true:PreferNoSchedule |
    When pod "first" requests 1 GPU
    Then "first" runs on "preferred"
    When pod "second" requests 1 GPU
    Then "second" runs on "preferred"
    When pod "third" requests 1 GPU
    Then "third" runs on "avoided-1", "avoided-2"

  @TNT-13 @may @cluster
  Scenario: The ExtendedResourceToleration plugin adds the GPU toleration
    Source: Kubernetes documentation, admission controllers: ExtendedResourceToleration adds the toleration of the resource.
    Given a cluster with the ExtendedResourceToleration admission plugin
    And a node "reserved" with 1 GPU and the taint "nvidia.com/gpu=present:NoSchedule"
    When pod "train" requests 1 GPU
    Then "train" runs on "reserved"
