@documents @queues @gangs @variant-training-operator-1.7.0
Feature: Walk-throughs with Kubeflow's training-operator 1.7.0
  Version 1.7.0, unmodified. Both walk-throughs of Arena's PyTorchJobs run with it as published. The one about the
  queue does so except for its last line: this version's own CRD, which is installed here, has no minimum for the number
  of workers. With 1.9.4 it holds to the last line, because the admission webhook of that release checks the number.

  @TRO-3 @must @doc-3
  Scenario: Priority orders a full queue, and a small job backfills (training-operator 1.7.0)
    Source: Kubeflow training-operator 1.7.0, manifests/base/crds/kubeflow.org_pytorchjobs.yaml: replicas has no minimum.
    Given nodes:
      | node     | GPUs | taints |
      | worker-1 | 8    |        |
      | worker-2 | 8    |        |
    And the objects of the manifest "high-priority"
    And the objects of the manifest "queue"
    # 1: the first job runs
    When job "A" is created from the manifest "pytorchjob"
    Then job "A" is Running
    And the whole gang "A" runs
    And the PodGroup of job "A" went through:
      | STATUS  | MINMEMBER | RUNNINGS | QUEUE |
      |         | 6         |          | test  |
      | Inqueue | 6         |          | test  |
      | Running | 6         | 6        | test  |
    # 2: two more are queued: one without priority, then one with high priority
    When job "B" is created from the manifest "pytorchjob" without its priority class
    And job "C" is created from the manifest "pytorchjob", more than a second later
    Then the gang "B" is queued
    And the gang "C" is queued
    And job "B" is Created
    And job "C" is Created
    # 3: the higher-priority one is next, though it was created later
    When job "A" completes
    Then job "A" went from Created to Running to Succeeded
    And the whole gang "C" runs
    And the PodGroup of job "C" went through:
      | STATUS  | MINMEMBER | RUNNINGS | QUEUE |
      |         | 6         |          | test  |
      | Inqueue | 6         |          | test  |
      | Running | 6         | 6        | test  |
    And the gang "B" is queued
    # 4: then the lower-priority one
    When job "C" completes
    Then the whole gang "B" runs
    And the PodGroup of job "B" went through:
      | STATUS  | MINMEMBER | RUNNINGS | QUEUE |
      |         | 6         |          | test  |
      | Inqueue | 6         |          | test  |
      | Running | 6         | 6        | test  |
    And every pod of "C" was bound before any pod of "B"
    When job "B" completes
    Then job "B" went from Created to Running to Succeeded
    And job "C" went from Created to Running to Succeeded
    # 5 and 6: by queue order alone, and within the capability
    And no pod was preempted
    And queue "test" never used more than its capability
    # 7: three of equal priority; the last is small, and starts while the second is queued
    When job "D" is created from the manifest "pytorchjob"
    Then the whole gang "D" runs
    And the PodGroup of job "D" went through:
      | STATUS  | MINMEMBER | RUNNINGS | QUEUE |
      |         | 6         |          | test  |
      | Inqueue | 6         |          | test  |
      | Running | 6         | 6        | test  |
    When job "E" is created from the manifest "pytorchjob"
    Then the gang "E" is queued
    And job "E" is Created
    When job "F" is created from the manifest "pytorchjob" without its workers
    Then the whole gang "F" runs
    And the PodGroup of job "F" went through:
      | STATUS  | MINMEMBER | RUNNINGS | QUEUE |
      |         | 1         |          | test  |
      | Inqueue | 1         |          | test  |
      | Running | 1         | 1        | test  |
    And the gang "E" is queued
    # 8: when D completes, E runs beside F
    When job "D" completes
    Then the whole gang "E" runs
    And the PodGroup of job "E" went through:
      | STATUS  | MINMEMBER | RUNNINGS | QUEUE |
      |         | 6         |          | test  |
      | Inqueue | 6         |          | test  |
      | Running | 6         | 6        | test  |
    And job "F" is Running
    # 9: all succeed
    When job "F" completes
    And job "E" completes
    Then job "D" went from Created to Running to Succeeded
    And job "E" went from Created to Running to Succeeded
    And job "F" went from Created to Running to Succeeded
    And no pod was preempted
    And queue "test" never used more than its capability
    # 10: zero workers are accepted
    And a job from the manifest "pytorchjob" with 0 workers is accepted
