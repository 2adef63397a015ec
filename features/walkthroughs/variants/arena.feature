@documents @variant-arena
Feature: Walk-throughs with the current Arena CLI
  The same commands, run by Arena's own command line, version 0.15.5. Its chart gives the master the restartPolicy
  Never and the workers OnFailure (since 0.8.8), and the job the cleanPodPolicy Running (since 0.9.5) and a
  backoffLimit of 0 (since 0.14.1). Its output has the format that it has since 0.7.0.

  Background:
    Given an operator that applies the restartPolicy of each role

  @ARN-1 @must @preemption @doc-1
  Scenario: A critical job preempts one pod of a medium job (Arena CLI)
    Source: Kubeflow Arena 0.15.5, charts/pytorchjob and the commands submit, get and top node; Kubeflow training-operator 1.7, RestartPolicy: a lost master of policy Never fails the job, a lost worker of policy OnFailure is made again.
    Given nodes:
      | node     | role   | GPUs | taints                                    |
      | master-1 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | worker-1 |        | 4    |                                           |
      | worker-2 |        | 4    |                                           |
      | worker-3 |        | 4    |                                           |
    And the objects of the manifest "priority-classes"
    # 1: four nodes, no GPU in use
    When the user runs:
      """
      muster top node
      """
    Then the output is:
      """
      NAME      IPADDRESS  ROLE    STATUS  GPU(Total)  GPU(Allocated)
      master-1  <address>  master  Ready   0           0
      worker-1  <address>  <none>  Ready   4           0
      worker-2  <address>  <none>  Ready   4           0
      worker-3  <address>  <none>  Ready   4           0
      ---------------------------------------------------------------------------------------------------
      Allocated/Total GPUs In Cluster:
      0/12 (0.0%)
      """
    # 2: a medium job of three pods that fills the cluster
    When the user runs:
      """
      muster submit pytorch --name=pytorch-priority-medium --gpus=4 --workers=3 --image=training --priority=medium "python mnist.py --epochs 200"
      """
    Then the output is:
      """
      pytorchjob.kubeflow.org/pytorch-priority-medium created
      time=* level=info msg="The Job pytorch-priority-medium has been submitted successfully"
      time=* level=info msg="You can run `arena get pytorch-priority-medium --type pytorchjob -n default` to check the job status"
      """
    # 3: all of its pods run
    And job "pytorch-priority-medium" is Running
    And "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" run on three different nodes
    When the user runs:
      """
      muster get pytorch-priority-medium
      """
    Then the output is:
      """
      Name:        pytorch-priority-medium
      Status:      RUNNING
      Namespace:   default
      Priority:    medium
      Trainer:     PYTORCHJOB
      Duration:    <time>
      CreateTime:  * *
      EndTime:
      Instances:
      NAME                              STATUS   AGE     IS_CHIEF  GPU(Requested)  NODE
      ----                              ------   ---     --------  --------------  ----
      pytorch-priority-medium-master-0  Running  <time>  true      4               <node>
      pytorch-priority-medium-worker-0  Running  <time>  false     4               <node>
      pytorch-priority-medium-worker-1  Running  <time>  false     4               <node>
      """
    # 4: every GPU is in use
    When the user runs:
      """
      muster top node
      """
    Then the output is:
      """
      NAME      IPADDRESS  ROLE    STATUS  GPU(Total)  GPU(Allocated)
      master-1  <address>  master  Ready   0           0
      worker-1  <address>  <none>  Ready   4           4
      worker-2  <address>  <none>  Ready   4           4
      worker-3  <address>  <none>  Ready   4           4
      ---------------------------------------------------------------------------------------------------
      Allocated/Total GPUs In Cluster:
      12/12 (100.0%)
      """
    # 5: a critical job of one pod runs
    When the user runs:
      """
      muster submit pytorch --name=pytorch-priority-critical --gpus=1 --image=training --priority=critical "python mnist.py --epochs 50"
      """
    Then the output is:
      """
      pytorchjob.kubeflow.org/pytorch-priority-critical created
      time=* level=info msg="The Job pytorch-priority-critical has been submitted successfully"
      time=* level=info msg="You can run `arena get pytorch-priority-critical --type pytorchjob -n default` to check the job status"
      """
    And job "pytorch-priority-critical" is Running
    When the user runs:
      """
      muster get pytorch-priority-critical
      """
    Then the output is:
      """
      Name:        pytorch-priority-critical
      Status:      RUNNING
      Namespace:   default
      Priority:    critical
      Trainer:     PYTORCHJOB
      Duration:    <time>
      CreateTime:  * *
      EndTime:
      Instances:
      NAME                                STATUS   AGE     IS_CHIEF  GPU(Requested)  NODE
      ----                                ------   ---     --------  --------------  ----
      pytorch-priority-critical-master-0  Running  <time>  true      1               <node>
      """
    # 6: one pod of the medium job was preempted, and an event says why
    And exactly one of "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" was preempted for "pytorch-priority-critical-master-0"
    And "pytorch-priority-critical-master-0" runs on the node of one of the victims "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1"
    And a Preempted event on the victim among "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0", "pytorch-priority-medium-worker-1" names "pytorch-priority-critical-master-0" and the node
    # 7: without its master the medium job fails and its running pods are deleted; a lost worker is re-created and is pending
    And job "pytorch-priority-medium" fails and keeps no pods if it lost its master, otherwise gets a new worker
    When the user runs:
      """
      muster get pytorch-priority-medium
      """
    Then the output shows job "pytorch-priority-medium" without instances if it lost its master, otherwise its new worker
    And at no time more than 12 GPUs were in use

  @ARN-4 @must @taints @doc-4
  Scenario: submit --toleration KEY=VALUE:EFFECT,OPERATOR tolerates a taint, KEY alone none (Arena CLI)
    Source: Kubeflow Arena 0.15.5, --toleration: KEY=VALUE:EFFECT,OPERATOR or all; a bare key, as the document has it, is dropped without a word (since 0.9.2).
    Given nodes:
      | node     | role   | GPUs | taints                                    |
      | master-1 | master | 0    | node-role.kubernetes.io/master:NoSchedule |
      | worker-1 |        | 1    | gpu_node=invalid:NoSchedule               |
      | worker-2 |        | 1    | gpu_node=invalid:NoSchedule               |
      | worker-3 |        | 4    | ssd_node=invalid:NoSchedule               |
    # 1: a bare key is accepted, and tolerates nothing
    When the user runs:
      """
      muster submit pytorch --name=bare --gpus=1 --image=training --toleration gpu_node "python mnist.py"
      """
    Then the output is:
      """
      pytorchjob.kubeflow.org/bare created
      time=* level=info msg="The Job bare has been submitted successfully"
      time=* level=info msg="You can run `arena get bare --type pytorchjob -n default` to check the job status"
      """
    And "bare-master-0" is reported unschedulable, and the condition contains "untolerated taint"
    And "bare-master-0" stays pending
    # 2: the whole taint, or its key with an effect, tolerates that taint, and no other
    When the user runs:
      """
      muster submit pytorch --name=whole --gpus=1 --workers=2 --image=training --toleration gpu_node=:NoSchedule,Exists "python mnist.py"
      """
    Then the output is:
      """
      pytorchjob.kubeflow.org/whole created
      time=* level=info msg="The Job whole has been submitted successfully"
      time=* level=info msg="You can run `arena get whole --type pytorchjob -n default` to check the job status"
      """
    And job "whole" is Running
    And "whole-master-0", "whole-worker-0" run on "worker-1" and "worker-2" only
    When the user runs:
      """
      muster get whole
      """
    Then the output is:
      """
      Name:        whole
      Status:      RUNNING
      Namespace:   default
      Priority:    N/A
      Trainer:     PYTORCHJOB
      Duration:    <time>
      CreateTime:  * *
      EndTime:
      Instances:
      NAME            STATUS   AGE     IS_CHIEF  GPU(Requested)  NODE
      ----            ------   ---     --------  --------------  ----
      whole-master-0  Running  <time>  true      1               <node>
      whole-worker-0  Running  <time>  false     1               <node>
      """
    # 3: "all" tolerates every taint; the other nodes are full
    When the user runs:
      """
      muster submit pytorch --name=everywhere --gpus=1 --image=training --toleration all "python mnist.py"
      """
    Then the output is:
      """
      pytorchjob.kubeflow.org/everywhere created
      time=* level=info msg="The Job everywhere has been submitted successfully"
      time=* level=info msg="You can run `arena get everywhere --type pytorchjob -n default` to check the job status"
      """
    And job "everywhere" is Running
    And "everywhere-master-0" runs on "worker-3"
    # 4: without the taints every pod can be scheduled
    When the taints of "worker-1", "worker-2" and "worker-3" are removed
    Then job "bare" is Running
    And "bare-master-0" runs on "worker-3"
