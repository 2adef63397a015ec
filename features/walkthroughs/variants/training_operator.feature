@documents @queues @gangs @variant-training-operator
Feature: The documents, carried out by Kubeflow's training-operator
  Version 1.7.0, as it is. Both walk-throughs of Arena's PyTorch jobs go with it as they are written. The one about the
  queue does so up to its last line: this version's definition of a PyTorchJob knows no least number of workers.

  @TRO-3 @must @doc-3
  Scenario: The important job is next in a full queue of the training-operator, and a small one uses what is left of it
    Source: Kubeflow training-operator 1.7.0, manifests/base/crds/kubeflow.org_pytorchjobs.yaml: replicas has no minimum.
    Given nodes:
      | node     | GPUs | taints |
      | worker-1 | 8    |        |
      | worker-2 | 8    |        |
    And what the manifest "high-priority" describes
    And what the manifest "queue" describes
    # 1: the first job runs
    When job "A" is created from the manifest "pytorchjob"
    Then job "A" is Running
    And the whole gang "A" runs
    And the group of the gang "A" went from waiting to running and never back
    And the group of the gang "A" counted 6 running pods
    And the group of the gang "A" needs 6 pods and is in queue "test"
    # 2: two more have to wait: an unimportant one, and after it an important one
    When job "B" is created from the manifest "pytorchjob" without its priority class
    And job "C" is created from the manifest "pytorchjob", more than a second later
    Then the gang "B" is queued
    And the gang "C" is queued
    And job "B" is Created
    And job "C" is Created
    # 3: the important one is next, though it came later
    When job "A" runs to its end
    Then job "A" went from Created to Running to Succeeded
    And the whole gang "C" runs
    And the gang "B" is queued
    # 4: then the other one
    When job "C" runs to its end
    Then the whole gang "B" runs
    And every pod of "C" was bound before any pod of "B"
    When job "B" runs to its end
    Then job "B" went from Created to Running to Succeeded
    And job "C" went from Created to Running to Succeeded
    # 5 and 6: by its place in the order alone, and within the limit
    And nobody was preempted
    And queue "test" never used more than its capability
    # 7: three of the same importance; the last is small, and starts while the second waits
    When job "D" is created from the manifest "pytorchjob"
    Then the whole gang "D" runs
    When job "E" is created from the manifest "pytorchjob"
    Then the gang "E" is queued
    When job "F" is created from the manifest "pytorchjob" without its workers
    Then the whole gang "F" runs
    And the group of the gang "F" needs 1 pod and is in queue "test"
    And the gang "E" is queued
    # 8: when the first ends, the second runs beside the small one
    When job "D" runs to its end
    Then the whole gang "E" runs
    And job "F" is Running
    # 9: all end well
    When job "F" runs to its end
    And job "E" runs to its end
    Then job "D" went from Created to Running to Succeeded
    And job "E" went from Created to Running to Succeeded
    And job "F" went from Created to Running to Succeeded
    And nobody was preempted
    And queue "test" never used more than its capability
    # 10: no workers may also be written as zero of them
    And a job of the manifest "pytorchjob" with 0 workers is taken
