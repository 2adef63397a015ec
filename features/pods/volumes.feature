@volumes
Feature: Volumes
  A pod is bound only where it can have its volumes. As long as it cannot, it stays pending and stops no other pod.

  @VOL-01 @must
  Scenario: A pod whose PersistentVolumeClaim does not exist stays pending and other pods are bound
    Source: Kubernetes documentation, Persistent Volumes: claims must exist in the same namespace as the pod using the claim.
    Given a node with 2 GPUs
    When pod "reader" requests 1 GPU and mounts a PersistentVolumeClaim that does not exist
    Then "reader" stays pending
    When pod "other" requests 1 GPU
    Then "other" runs
    And "reader" stays pending

  @VOL-02 @should
  Scenario: A pod whose PersistentVolumeClaim does not exist is reported unschedulable with the reason
    Source: Kubernetes documentation, Debug Pods: for a pending pod there should be messages from the scheduler about why it cannot be scheduled.
    Given a node with 1 GPU
    When pod "reader" requests 1 GPU and mounts a PersistentVolumeClaim that does not exist
    Then "reader" is reported unschedulable, and the condition contains "persistentvolumeclaim"
    And "reader" stays pending
