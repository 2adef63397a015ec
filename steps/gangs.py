"""Gangs: submit, change, delete, and assert that they start as a whole. Pods are named "train-0", "train-1", …"""

from pytest_bdd import given, then, when

from muster.assertions.gangs import (
    at_least_running,
    completed_or_released,
    exactly_started,
    gang_unschedulable,
    group_keeps_phase,
    min_member_or_none_bound,
    one_still_runs,
    running_gangs,
)
from muster.assertions.pods import bound, still_runs, unschedulable
from muster.environment import ScenarioContext
from muster.recording.questions import all_of, eventually, never
from muster.schedulers.requests import GangRequest, PodRequest
from steps.parsing import Names, rows, step_pattern

_GANG = 'a gang "{name}" of {size:d} pods with {gpus:GPUs} each'


def _pods(name: str, size: int, gpus: int, priority: int | None = None, *, first: int = 0) -> list[PodRequest]:
    return [PodRequest(f"{name}-{number}", gpus, priority) for number in range(first, first + size)]


@given(step_pattern(_GANG + " running at priority {priority:d} with disruption mode All"))
def gang_with_disruption_mode_all_runs(
    scenario: ScenarioContext, name: str, size: int, gpus: int, priority: int
) -> None:
    request = GangRequest(name, size, priority=priority, disruption_mode_all=True)
    scenario.groups.run_gang(request, _pods(name, size, gpus, priority))


@given(step_pattern(_GANG + " running"))
def gang_runs(scenario: ScenarioContext, name: str, size: int, gpus: int) -> None:
    scenario.groups.run_gang(GangRequest(name, size), _pods(name, size, gpus))


@when(step_pattern(_GANG + " is submitted"))
def gang_is_submitted(scenario: ScenarioContext, name: str, size: int, gpus: int) -> None:
    scenario.groups.submit(GangRequest(name, size), _pods(name, size, gpus))


@when(step_pattern(_GANG + " is submitted at priority {priority:d}"))
def gang_is_submitted_at_priority(scenario: ScenarioContext, name: str, size: int, gpus: int, priority: int) -> None:
    scenario.groups.submit(GangRequest(name, size, priority=priority), _pods(name, size, gpus, priority))


@when(step_pattern('a gang "{name}" of {size:d} pods with {gpus:GPUs} each is submitted with minMember {min_member:d}'))
def gang_is_submitted_with_min_member(
    scenario: ScenarioContext, name: str, size: int, gpus: int, min_member: int
) -> None:
    scenario.groups.submit(GangRequest(name, min_member), _pods(name, size, gpus))


@when(step_pattern('the PodGroup of gang "{name}" is created with minMember {min_member:d}'))
def pod_group_is_created(scenario: ScenarioContext, name: str, min_member: int) -> None:
    scenario.groups.create_group(GangRequest(name, min_member))


@when(step_pattern('{size:d} more pods with {gpus:GPUs} each join the gang "{name}"'))
@when(step_pattern('{size:d} more pod with {gpus:GPUs} joins the gang "{name}"'))
def pods_join_gang(scenario: ScenarioContext, size: int, gpus: int, name: str) -> None:
    scenario.groups.add_pods(name, _pods(name, size, gpus, first=len(scenario.groups.members(name))))


@when(step_pattern('a gang "{name}" with several roles is submitted:'))
def gang_with_roles_is_submitted(scenario: ScenarioContext, name: str, datatable: list[list[str]]) -> None:
    """minMember is the sum of the minima: a scheduler that ignores roles may start the gang with any of its pods."""
    table = rows(datatable)
    minima = {row["role"]: int(row["minimum"]) for row in table}
    pods = [
        PodRequest(f"{name}-{row['role']}-{number}", int(row["GPUs"]), role=row["role"], node=row["node"])
        for row in table
        for number in range(int(row["pods"]))
    ]
    scenario.groups.submit(GangRequest(name, sum(minima.values()), roles=minima), pods)


@when("gangs are submitted while the scheduler is paused:")
def gangs_are_submitted_while_paused(scenario: ScenarioContext, datatable: list[list[str]]) -> None:
    """Create the pods alternately, one of each gang, so that a scheduler without gangs would bind parts of both."""
    table = rows(datatable)
    with scenario.scheduler_paused():
        for row in table:
            gpus = int(row["pods"]) * int(row["GPUs"])
            scenario.groups.create_group(GangRequest(row["gang"], int(row["pods"]), min_gpus=gpus))
        for number in range(max(int(row["pods"]) for row in table)):
            for row in table:
                if number < int(row["pods"]):
                    scenario.groups.add_pods(row["gang"], _pods(row["gang"], 1, int(row["GPUs"]), first=number))


@when(
    step_pattern(
        'the scheduler crashes after binding the first pod of a gang "{name}" of {size:d} pods with {gpus:GPUs} each'
        ' to "{node}", and restarts'
    )
)
def scheduler_crashes_after_first_binding(
    scenario: ScenarioContext, name: str, size: int, gpus: int, node: str
) -> None:
    scenario.groups.submit_partially_bound(GangRequest(name, size), _pods(name, size, gpus), node)


@given(step_pattern('the API server refuses the binding of "{pod}"'))
def binding_is_refused(scenario: ScenarioContext, pod: str) -> None:
    scenario.refused_bindings.refuse(pod)


@when(step_pattern('the API server accepts the binding of "{pod}" again'))
def binding_is_accepted(scenario: ScenarioContext, pod: str) -> None:
    scenario.refused_bindings.accept(pod)


@when(step_pattern('the released pods of the gang "{name}" are re-created'))
def released_pods_are_recreated(scenario: ScenarioContext, name: str) -> None:
    scenario.groups.recreate_deleted_members(name)


@when(step_pattern('the gang "{name}" finishes'))
def gang_finishes(scenario: ScenarioContext, name: str) -> None:
    for pod in scenario.groups.members(name):
        scenario.finish_pods(pod)


@when(step_pattern("the running one of the gangs {gangs:Names} finishes"))
def running_gang_finishes(scenario: ScenarioContext, gangs: Names) -> None:
    with scenario.recording.history.changed:
        whole = running_gangs(scenario.recording.history, {name: scenario.groups.members(name) for name in gangs})
    for name in whole:
        gang_finishes(scenario, name)


@when(step_pattern("{pods:Names} is deleted"))
@when(step_pattern("{pods:Names} are deleted"))
def pods_are_deleted(scenario: ScenarioContext, pods: Names) -> None:
    for pod in pods:
        scenario.delete_pod(pod)


@when(step_pattern('the gang "{name}" is deleted'))
def gang_is_deleted(scenario: ScenarioContext, name: str) -> None:
    for pod in scenario.groups.members(name):
        scenario.delete_pod(pod)
    scenario.groups.delete_group(name)


@when(step_pattern('"{pod}" is deleted and re-created'))
def pod_is_recreated(scenario: ScenarioContext, pod: str) -> None:
    scenario.groups.recreate_member(pod)


@when(step_pattern('the gang "{name}" is updated to minMember {min_member:d} with {gpus:GPUs} each'))
def min_member_is_updated(scenario: ScenarioContext, name: str, min_member: int, gpus: int) -> None:
    scenario.groups.resize(GangRequest(name, min_member, min_gpus=min_member * gpus))


@then(step_pattern('the whole gang "{name}" runs'))
def whole_gang_runs(scenario: ScenarioContext, name: str) -> None:
    running = [still_runs(pod) for pod in scenario.groups.members(name)]
    scenario.recording.must(all_of(f"the whole gang {name} running", running), lasting=True)


@then(step_pattern('no pod of the gang "{name}" is bound'))
def no_gang_pod_is_bound(scenario: ScenarioContext, name: str) -> None:
    unbound = [never(bound(pod)) for pod in scenario.groups.members(name)]
    scenario.recording.stays(all_of(f"no pod of gang {name} bound", unbound))


@then(step_pattern('at least {min_member:d} pods of the gang "{name}" are bound, or none'))
def check_min_member_or_none_bound(scenario: ScenarioContext, name: str, min_member: int) -> None:
    scenario.recording.stays(min_member_or_none_bound(name, scenario.groups.members(name), min_member))


@then(step_pattern('the gang "{name}" is completed or released, and does not stay partially bound'))
def gang_is_completed_or_released(scenario: ScenarioContext, name: str) -> None:
    scenario.recording.stays(completed_or_released(name, scenario.groups.members(name)))


@then(step_pattern('an unschedulable message names the gang "{name}"'))
def gang_is_reported_unschedulable(scenario: ScenarioContext, name: str) -> None:
    scenario.recording.must(gang_unschedulable(name, scenario.groups.members(name)))


@then(step_pattern('every pod of the gang "{name}" is reported unschedulable'))
def every_gang_pod_is_reported_unschedulable(scenario: ScenarioContext, name: str) -> None:
    reported = [eventually(unschedulable(pod)) for pod in scenario.groups.members(name)]
    scenario.recording.stays(all_of(f"every pod of gang {name} reported unschedulable", reported))


@then(step_pattern('no pod of the gang "{name}" is reported unschedulable'))
def no_gang_pod_is_reported_unschedulable(scenario: ScenarioContext, name: str) -> None:
    reported = [never(unschedulable(pod)) for pod in scenario.groups.members(name)]
    scenario.recording.stays(all_of(f"no pod of gang {name} reported unschedulable", reported))


@then(step_pattern('at least {number:d} pods of the gang "{name}" run, and the others stay pending'))
def some_gang_pods_run(scenario: ScenarioContext, number: int, name: str) -> None:
    scenario.recording.stays(at_least_running(name, scenario.groups.members(name), number))


@then(step_pattern("exactly one of the gangs {gangs:Names} runs, and no pod of the others is bound"))
def exactly_one_gang_runs(scenario: ScenarioContext, gangs: Names) -> None:
    members = {name: scenario.groups.members(name) for name in gangs}
    scenario.recording.stays(exactly_started(members, 1, still_running=True))


@then(step_pattern("the other one of the gangs {gangs:Names} runs"))
def other_gang_runs(scenario: ScenarioContext, gangs: Names) -> None:
    members = {name: scenario.groups.members(name) for name in gangs}
    scenario.recording.must(exactly_started(members, len(gangs)))
    scenario.recording.must(one_still_runs(members), lasting=True)


@then(step_pattern('the PodGroup of gang "{name}" stays in phase "{phase}"'))
def pod_group_stays_in_phase(scenario: ScenarioContext, name: str, phase: str) -> None:
    scenario.scheduler.dialect.check_phase_supported(phase)
    scenario.recording.stays(group_keeps_phase(name, phase, scenario.scheduler.dialect.phase))
