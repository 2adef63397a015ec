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
