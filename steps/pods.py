"""Pods that run, pods that are created, and what changes about them."""

from pytest_bdd import given, when

from muster.environment import ScenarioContext
from muster.schedulers.requests import PodRequest
from steps.parsing import Names, pods_of, step_pattern, toleration


@given(step_pattern("pods running at priority {priority:d}:"))
def pods_running_at_priority(scenario: ScenarioContext, priority: int, datatable: list[list[str]]) -> None:
    scenario.run_pods(pods_of(datatable, priority=priority))


@given(step_pattern("pods running at priority {priority:d}, each started after the one above:"))
def pods_running_in_start_order(scenario: ScenarioContext, priority: int, datatable: list[list[str]]) -> None:
    scenario.run_pods(pods_of(datatable, priority=priority), apart=True)


@given("pods running:")
def pods_running(scenario: ScenarioContext, datatable: list[list[str]]) -> None:
    scenario.run_pods(pods_of(datatable))


@given(step_pattern('pod "{name}" runs with {gpus:GPUs} at priority {priority:d} with preemptionPolicy Never'))
def non_preempting_pod_runs(scenario: ScenarioContext, name: str, gpus: int, priority: int) -> None:
    scenario.run_pods([PodRequest(name, gpus, priority, may_preempt=False)])


@given(step_pattern("a PodDisruptionBudget that allows no disruption of {pods:Names}"))
def disruption_budget_without_allowance(scenario: ScenarioContext, pods: Names) -> None:
    scenario.protect_pods(*pods)


@when("the grace periods of the victims end")
def grace_periods_end(scenario: ScenarioContext) -> None:
    scenario.end_grace_periods()


@when(step_pattern("the grace period of {pods:Names} ends"))
def grace_period_ends(scenario: ScenarioContext, pods: Names) -> None:
    scenario.end_grace_periods(*pods)


@when(step_pattern('pod "{name}" requests {gpus:GPUs} at priority {priority:d}'))
def pod_is_created_at_priority(scenario: ScenarioContext, name: str, gpus: int, priority: int) -> None:
    scenario.submit(PodRequest(name, gpus, priority))


@when(step_pattern('pod "{name}" requests {gpus:GPUs} at priority {priority:d} with preemptionPolicy Never'))
def non_preempting_pod_is_created(scenario: ScenarioContext, name: str, gpus: int, priority: int) -> None:
    scenario.submit(PodRequest(name, gpus, priority, may_preempt=False))


@when(step_pattern('pod "{name}" requests {gpus:GPUs}'))
def pod_is_created(scenario: ScenarioContext, name: str, gpus: int) -> None:
    scenario.submit(PodRequest(name, gpus))


@when(step_pattern('pod "{name}" requests {gpus:GPUs} and tolerates {keys:Names}'))
def tolerating_pod_is_created(scenario: ScenarioContext, name: str, gpus: int, keys: Names) -> None:
    scenario.submit(PodRequest(name, gpus, tolerations=tuple(toleration(key) for key in keys)))


@when("the scheduler is killed and restarted")
def scheduler_is_restarted(scenario: ScenarioContext) -> None:
    scenario.restart_scheduler()


@when(step_pattern("{pods:Names} finish"))
@when(step_pattern("{pods:Names} finishes"))
def pods_finish(scenario: ScenarioContext, pods: Names) -> None:
    for pod in pods:
        scenario.finish_pods(pod)


@when("pods are created while the scheduler is paused:")
def pods_are_created_while_paused(scenario: ScenarioContext, datatable: list[list[str]]) -> None:
    with scenario.scheduler_paused():
        scenario.submit(*pods_of(datatable))


@when(step_pattern('system-cluster-critical pod "{name}" requests {gpus:GPUs}'))
def critical_pod_is_created(scenario: ScenarioContext, name: str, gpus: int) -> None:
    scenario.submit(PodRequest(name, gpus, priority_class="system-cluster-critical", system=True))


@when(step_pattern('gated pod "{name}" requests {gpus:GPUs} at priority {priority:d}'))
def gated_pod_is_created(scenario: ScenarioContext, name: str, gpus: int, priority: int) -> None:
    scenario.submit(PodRequest(name, gpus, priority, gated=True))


@when(step_pattern('the scheduling gate of "{name}" is removed'))
def scheduling_gate_is_removed(scenario: ScenarioContext, name: str) -> None:
    scenario.remove_scheduling_gate(name)


@when(step_pattern('a controller replaces "{name}" by "{successor}"'))
def pod_is_replaced(scenario: ScenarioContext, name: str, successor: str) -> None:
    scenario.replace_pod(name, by=successor)
