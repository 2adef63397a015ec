@documents @variant-arena
Feature: The documents, typed at the Arena of today
  The same commands, carried out by Arena's own command line, version 0.15.5. Its chart gives the master the restart
  policy Never and the workers OnFailure (since 0.8.8), and the job the clean-up policy Running (since 0.9.5) and a
  back-off limit of 0 (since 0.14.1). Its answers have the form they have since 0.7.0.

  Background:
    Given an operator that follows the restart policy of each role

  @ARN-1 @must @preemption @doc-1
  Scenario: A critical job takes the place of one member of a medium job, as the Arena of today shows it
    Source: Kubeflow Arena 0.15.5, charts/pytorchjob and the commands submit, get and top node; Kubeflow training-operator 1.7, RestartPolicy: a lost master of policy Never fails the job, a lost worker of policy OnFailure is made again.
    Given nodes:
      | node     | role   | GPUs | taints                                    |
      | master-1 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | worker-1 |        | 4    |                                           |
      | worker-2 |        | 4    |                                           |
      | worker-3 |        | 4    |                                           |
    And what the manifest "priority-classes" describes
    # 1: four nodes, nothing in use
    When a person types:
      """
      muster top node
      """
    Then the answer reads:
      """
      NAME      IPADDRESS  ROLE    STATUS  GPU(Total)  GPU(Allocated)
      master-1  *          master  Ready   0           0
      worker-1  *          <none>  Ready   4           0
      worker-2  *          <none>  Ready   4           0
      worker-3  *          <none>  Ready   4           0
      Allocated/Total GPUs In Cluster:
      0/12 (0.0%)
      """
    # 2: a medium job of three that fills the cluster
    When a person types:
      """
      muster submit pytorch --name=pytorch-priority-medium --gpus=4 --workers=3 --image=training --priority=medium "python mnist.py --epochs 200"
      """
    Then the answer reads:
      """
      pytorchjob.kubeflow.org/pytorch-priority-medium created
      """
    # 3: all of it runs
    And job "pytorch-priority-medium" is Running
    And "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" run on three different nodes
    When a person types:
      """
      muster get pytorch-priority-medium
      """
    Then the answer reads:
      """
      Name:       pytorch-priority-medium
      Status:     RUNNING
      Namespace:  default
      Priority:   medium
      Trainer:    PYTORCHJOB
      Instances:
      NAME                              STATUS   AGE  IS_CHIEF  GPU(Requested)  NODE
      pytorch-priority-medium-master-0  Running  *    true      4               worker-*
      pytorch-priority-medium-worker-0  Running  *    false     4               worker-*
      pytorch-priority-medium-worker-1  Running  *    false     4               worker-*
      """
    # 4: every GPU is in use
    When a person types:
      """
      muster top node
      """
    Then the answer reads:
      """
      worker-1  *  <none>  Ready  4  4
      worker-2  *  <none>  Ready  4  4
      worker-3  *  <none>  Ready  4  4
      12/12 (100.0%)
      """
    # 5: a critical job of one runs
    When a person types:
      """
      muster submit pytorch --name=pytorch-priority-critical --gpus=1 --image=training --priority=critical "python mnist.py --epochs 50"
      """
    Then job "pytorch-priority-critical" is Running
    When a person types:
      """
      muster get pytorch-priority-critical
      """
    Then the answer reads:
      """
      Status:     RUNNING
      Priority:   critical
      pytorch-priority-critical-master-0  Running  *  true  1  worker-*
      """
    # 6: one member of the medium job made room, and an event says why
    And exactly one of "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" was preempted for "pytorch-priority-critical-master-0"
    And "pytorch-priority-critical-master-0" runs in the place of one of "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1"
    And an event about the preempted one of "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" names "pytorch-priority-critical-master-0" and the node
    # 7: with its master the medium job is lost, and what still ran is cleared away; a worker comes back, and waits
    And job "pytorch-priority-medium" fails and has nobody left if it lost its master, and else gets a new worker
    When a person types:
      """
      muster get pytorch-priority-medium
      """
    Then the answer shows job "pytorch-priority-medium" without instances if it lost its master, and else its new worker
    And at no time more than 12 GPUs were in use

  @ARN-4 @must @taints @doc-4
  Scenario: A toleration opens nodes only when it is written out, and "all" opens every node
    Source: Kubeflow Arena 0.15.5, --toleration: KEY=VALUE:EFFECT,OPERATOR or all; a bare key, as the document has it, is dropped without a word (since 0.9.2).
    Given nodes:
      | node     | role   | GPUs | taints                                    |
      | master-1 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | worker-1 |        | 1    | gpu_node=invalid:NoSchedule               |
      | worker-2 |        | 1    | gpu_node=invalid:NoSchedule               |
      | worker-3 |        | 4    | ssd_node=invalid:NoSchedule               |
    # 1: a bare key is taken, and opens nothing
    When a person types:
      """
      muster submit pytorch --name=bare --gpus=1 --image=training --toleration gpu_node "python mnist.py"
      """
    Then the answer reads:
      """
      pytorchjob.kubeflow.org/bare created
      """
    And "bare-master-0" is refused, and the reason names "untolerated taint"
    And "bare-master-0" keeps waiting
    # 2: the whole taint, or its key with an effect, opens the nodes with that taint, and no others
    When a person types:
      """
      muster submit pytorch --name=whole --gpus=1 --workers=2 --image=training --toleration gpu_node=:NoSchedule,Exists "python mnist.py"
      """
    Then job "whole" is Running
    And "whole-master-0", "whole-worker-0" run on "worker-1" and "worker-2" only
    When a person types:
      """
      muster get whole
      """
    Then the answer reads:
      """
      Status:     RUNNING
      Priority:   N/A
      whole-master-0  Running  *  true   1  worker-*
      whole-worker-0  Running  *  false  1  worker-*
      """
    # 3: "all" opens every node; the others are full
    When a person types:
      """
      muster submit pytorch --name=everywhere --gpus=1 --image=training --toleration all "python mnist.py"
      """
    Then job "everywhere" is Running
    And "everywhere-master-0" runs on "worker-3"
    # 4: without the taints everybody may come
    When the taints of "worker-1", "worker-2" and "worker-3" are removed
    Then job "bare" is Running
    And "bare-master-0" runs on "worker-3"
