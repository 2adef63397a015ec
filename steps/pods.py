"""Pods that run, pods that are created, and what changes about them."""

from pytest_bdd import given, when

from muster.environment import ScenarioContext
from muster.environment.preconditions import require_resource_claims
from muster.schedulers.requests import PodRequest
from steps.parsing import Names, label, pods_of, step_pattern, toleration


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


@when(step_pattern('pod "{name}" requests {gpus:GPUs} at priority {priority:d}, more than a second later'))
def later_pod_is_created(scenario: ScenarioContext, name: str, gpus: int, priority: int) -> None:
    scenario.wait_for_next_second()
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


@when(step_pattern('pod "{name}" requests {gpus:GPUs} at priority {priority:d} with nodeSelector "{selected}"'))
def pod_with_node_selector_is_created(
    scenario: ScenarioContext, name: str, gpus: int, priority: int, selected: str
) -> None:
    scenario.submit(PodRequest(name, gpus, priority, node_selector=label(selected)))


@when(step_pattern('pod "{name}" requests {gpus:GPUs} at priority {priority:d} with required node affinity "{wanted}"'))
def pod_with_node_affinity_is_created(
    scenario: ScenarioContext, name: str, gpus: int, priority: int, wanted: str
) -> None:
    scenario.submit(PodRequest(name, gpus, priority, node_affinity=label(wanted)))


@when(
    step_pattern(
        'pod "{name}" requests {gpus:GPUs} at priority {priority:d} with required anti-affinity to app "{app}"'
    )
)
def pod_with_anti_affinity_is_created(scenario: ScenarioContext, name: str, gpus: int, priority: int, app: str) -> None:
    scenario.submit(PodRequest(name, gpus, priority, anti_affinity_app=app))


@when(
    step_pattern(
        'pod "{name}" of app "{app}" requests {gpus:GPUs} at priority {priority:d}'
        " with a DoNotSchedule spread of its app over the nodes"
    )
)
def spread_pod_is_created(scenario: ScenarioContext, name: str, app: str, gpus: int, priority: int) -> None:
    scenario.submit(PodRequest(name, gpus, priority, app=app, spread=True))


@when(step_pattern('pod "{name}" with another schedulerName requests {gpus:GPUs} at priority {priority:d}'))
def pod_of_another_scheduler_is_created(scenario: ScenarioContext, name: str, gpus: int, priority: int) -> None:
    scenario.submit(PodRequest(name, gpus, priority, of_another_scheduler=True))


@given(
    step_pattern(
        'pod "{name}" with another schedulerName, {gpus:GPUs} and priority {priority:d} running on node "{node:Name}"'
    )
)
def pod_of_another_scheduler_runs(scenario: ScenarioContext, name: str, gpus: int, priority: int, node: str) -> None:
    scenario.run_pods([PodRequest(name, gpus, priority, of_another_scheduler=True, bound_to=node)])


@when(step_pattern('pod "{name}" requests {gpus:GPUs} and names a ResourceClaim that does not exist'))
def pod_with_missing_claim_is_created(scenario: ScenarioContext, name: str, gpus: int) -> None:
    require_resource_claims(scenario)
    scenario.submit(PodRequest(name, gpus, resource_claim=f"{name}-claim"))


@when(step_pattern('pod "{name}" requests {gpus:GPUs} and mounts a PersistentVolumeClaim that does not exist'))
def pod_with_missing_volume_claim_is_created(scenario: ScenarioContext, name: str, gpus: int) -> None:
    scenario.submit(PodRequest(name, gpus, volume_claim=f"{name}-data"))


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
