@taints
Feature: Taints that only ask
  A preference steers a pod away as long as there is another place. It keeps nobody waiting.

  @TNT-06 @should
  Scenario: A reluctant node is taken last
    Source: Kubernetes documentation, Taints and Tolerations: PreferNoSchedule is a soft version of NoSchedule.
    Given nodes:
      | node    | GPUs | taints                    |
      | grumpy  | 2    | gpu=true:PreferNoSchedule |
      | willing | 2    |                           |
      | surly   | 2    | gpu=true:PreferNoSchedule |
    When pod "first" asks for 1 GPU
    Then "first" runs on "willing"
    When pod "second" asks for 1 GPU
    Then "second" runs on "willing"
    When pod "third" asks for 1 GPU
    Then "third" runs on "grumpy", "surly"

  @TNT-13 @may @cluster
  Scenario: A pod that asks for GPUs is let onto GPU nodes by the cluster itself
    Source: Kubernetes documentation, admission controllers: ExtendedResourceToleration adds the toleration of the resource.
    Given a cluster that adds tolerations for extended resources
    And a node "reserved" with 1 GPU and the taint "nvidia.com/gpu=present:NoSchedule"
    When pod "train" asks for 1 GPU
    Then "train" runs on "reserved"
