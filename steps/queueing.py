"""Queues, and gangs that are submitted to them."""

from dataclasses import replace

from pytest_bdd import given, then, when

from muster.assertions.events import scheduling_failure_names
from muster.assertions.gangs import (
    bound_before,
    exactly_started,
    group_declares,
)
from muster.assertions.queues import gang_queued, gpus_in_use_by_queue, within_capability
from muster.environment import ScenarioContext
from muster.schedulers.requests import GangRequest, PodRequest, QueueRequest
from steps.parsing import Names, rows, step_pattern

_QUEUE = 'a queue "{name:Name}" with {gpus:GPUs}'
_GANG = 'a gang "{name:Name}" of {pods:Shape}'
_SUBMITTED = _GANG + ' is submitted to queue "{queue:Name}"'
Pods = tuple[PodRequest, ...]
_Gang = tuple[GangRequest, list[PodRequest]]


def _gang(
    name: str, queue: str, pods: Pods, priority: int | None = None, priority_class: str = "", *, gated: bool = False
) -> _Gang:
    """A gang in a queue; its pods have its name and a number, and its priority."""
    request = GangRequest(name, len(pods), queue=queue, priority=priority, priority_class=priority_class)
    members = [
        replace(pod, name=f"{name}-{number}", priority=priority, priority_class=priority_class, gated=gated)
        for number, pod in enumerate(pods)
    ]
    return request, members


@given(step_pattern(_QUEUE))
@when(step_pattern(_QUEUE + " is created"))
def queue_exists(scenario: ScenarioContext, name: str, gpus: int) -> None:
    scenario.groups.add_queue(QueueRequest(name, gpus=gpus))


@given(step_pattern(_QUEUE + " in strict FIFO order"))
def strict_fifo_queue(scenario: ScenarioContext, name: str, gpus: int) -> None:
    scenario.groups.add_queue(QueueRequest(name, gpus=gpus, strict_fifo=True))


@given(step_pattern(_QUEUE + " and EASY backfill"))
def queue_with_easy_backfill(scenario: ScenarioContext, name: str, gpus: int) -> None:
    scenario.groups.add_queue(QueueRequest(name, gpus=gpus, reserves_for_head=True))


@given(step_pattern('a queue "{name:Name}" of weight {weight:d}'))
def weighted_queue(scenario: ScenarioContext, name: str, weight: int) -> None:
    scenario.groups.add_queue(QueueRequest(name, weight=weight))


@given(step_pattern('a reclaimable queue "{name:Name}" of weight {weight:d}'))
def reclaimable_queue(scenario: ScenarioContext, name: str, weight: int) -> None:
    scenario.groups.add_queue(QueueRequest(name, weight=weight, lends=True))


@given(step_pattern('a reclaimable queue "{name:Name}" of weight {weight:d} with {guaranteed:d} guaranteed GPUs'))
def reclaimable_queue_with_guarantee(scenario: ScenarioContext, name: str, weight: int, guaranteed: int) -> None:
    scenario.groups.add_queue(QueueRequest(name, weight=weight, lends=True, guaranteed_gpus=guaranteed))


@when("preemption is disabled")
@given("preemption is disabled")
def preemption_is_disabled(scenario: ScenarioContext) -> None:
    if "preemption" in scenario.scheduler.claims(scenario.scheduler.configuration):
        scenario.configure_scheduler(preemption="off")


@given(step_pattern(_GANG + ' running in queue "{queue:Name}" at priority {priority:d}'))
def gang_runs_in_queue_at_priority(scenario: ScenarioContext, name: str, pods: Pods, queue: str, priority: int) -> None:
    scenario.groups.run_gang(*_gang(name, queue, pods, priority))


@given(step_pattern(_GANG + ' running in queue "{queue:Name}"'))
def gang_runs_in_queue(scenario: ScenarioContext, name: str, pods: Pods, queue: str) -> None:
    scenario.groups.run_gang(*_gang(name, queue, pods))


@given(step_pattern(_GANG + ' running in queue "{queue:Name}" with minMember {min_member:d}'))
def gang_runs_in_queue_with_min_member(
    scenario: ScenarioContext, name: str, pods: Pods, queue: str, min_member: int
) -> None:
    request, members = _gang(name, queue, pods)
    scenario.groups.run_gang(replace(request, min_member=min_member), members)


@when(step_pattern(_SUBMITTED))
def gang_is_submitted_to_queue(scenario: ScenarioContext, name: str, pods: Pods, queue: str) -> None:
    scenario.groups.submit(*_gang(name, queue, pods))


@when(step_pattern(_SUBMITTED + " at priority {priority:d}"))
def gang_is_submitted_to_queue_at_priority(
    scenario: ScenarioContext, name: str, pods: Pods, queue: str, priority: int
) -> None:
    scenario.groups.submit(*_gang(name, queue, pods, priority))


@when(step_pattern(_SUBMITTED + ", more than a second later"))
def gang_is_submitted_to_queue_later(scenario: ScenarioContext, name: str, pods: Pods, queue: str) -> None:
    scenario.wait_for_next_second()
    scenario.groups.submit(*_gang(name, queue, pods))


@when(step_pattern(_SUBMITTED + " with its pods gated"))
def gated_gang_is_submitted_to_queue(scenario: ScenarioContext, name: str, pods: Pods, queue: str) -> None:
    scenario.groups.submit(*_gang(name, queue, pods, gated=True))


@when("gangs are submitted to queues while the scheduler is paused:")
def gangs_are_submitted_to_queues_while_paused(scenario: ScenarioContext, datatable: list[list[str]]) -> None:
    with scenario.scheduler_paused():
        for row in rows(datatable):
            pods = (PodRequest("", int(row["GPUs"])),) * int(row["pods"])
            scenario.groups.submit(*_gang(row["gang"], row["queue"], pods))


@when(
    step_pattern(
        "{number:d} gangs of 1 pod with {gpus:GPUs} are submitted to each of the queues {queues:Names}"
        " while the scheduler is paused"
    )
)
def many_gangs_are_submitted_while_paused(scenario: ScenarioContext, number: int, gpus: int, queues: Names) -> None:
    with scenario.scheduler_paused():
        for turn in range(number):
            for queue in queues:
                scenario.groups.submit(*_gang(f"{queue}-{turn}", queue, (PodRequest("", gpus),)))


@when(step_pattern('queue "{name:Name}" is closed'))
def queue_is_closed(scenario: ScenarioContext, name: str) -> None:
    scenario.groups.set_queue_open(name, opened=False)


@when(step_pattern('queue "{name:Name}" is opened'))
def queue_is_opened(scenario: ScenarioContext, name: str) -> None:
    scenario.groups.set_queue_open(name, opened=True)


@when(step_pattern('the gang "{name:Name}" is raised to priority {priority:d}'))
def gang_priority_is_raised(scenario: ScenarioContext, name: str, priority: int) -> None:
    scenario.groups.set_priority(name, priority)


@when(step_pattern('the scheduling gates of the gang "{name:Name}" are removed'))
def gang_gates_are_removed(scenario: ScenarioContext, name: str) -> None:
    for pod in scenario.groups.members(name):
        scenario.remove_scheduling_gate(pod)


@when(step_pattern('the gang "{name:Name}" finishes and its pods are deleted, but not its PodGroup'))
def gang_finishes_without_its_pod_group(scenario: ScenarioContext, name: str) -> None:
    scenario.finish_pods(*scenario.groups.members(name))
    for pod in scenario.groups.members(name):
        scenario.delete_pod(pod)
    scenario.recording.prove_live()  # the scheduler has seen the deletions


@then(step_pattern('the gang "{name:Name}" is queued'))
def gang_is_queued(scenario: ScenarioContext, name: str) -> None:
    scenario.recording.stays(gang_queued(name, scenario.groups.members(name), scenario.scheduler.dialect))


@then(step_pattern('every pod of "{first:Name}" was bound before any pod of "{second:Name}"'))
def gang_was_bound_before(scenario: ScenarioContext, first: str, second: str) -> None:
    wanted = f"every pod of {first} bound before any pod of {second}"
    scenario.recording.must(bound_before(scenario.groups.members(first), scenario.groups.members(second), wanted))


@then(
    step_pattern(
        "exactly {number:Count} of the gangs {gangs:Names} ran with all pods, and no pod of the others is bound"
    )
)
def number_of_gangs_ran(scenario: ScenarioContext, number: int, gangs: Names) -> None:
    scenario.recording.stays(exactly_started({name: scenario.groups.members(name) for name in gangs}, number))


@then(step_pattern('queue "{name:Name}" never used more than its capability'))
def queue_never_exceeded_capability(scenario: ScenarioContext, name: str) -> None:
    scenario.recording.must(within_capability(name, scenario.scheduler.dialect))


@then("the GPUs in use, plus or minus one, are:")
def check_gpus_in_use_by_queue(scenario: ScenarioContext, datatable: list[list[str]]) -> None:
    table = {row["queue"]: int(row["GPUs"]) for row in rows(datatable)}
    scenario.recording.stays(gpus_in_use_by_queue(table, scenario.scheduler.dialect, give_or_take=1))


@then(step_pattern('"{pod:Name}" reports queue "{queue:Name}" as the reason it is pending'))
def pod_reports_queue(scenario: ScenarioContext, pod: str, queue: str) -> None:
    scenario.recording.must(scheduling_failure_names(pod, (queue,)))


@then(step_pattern('the PodGroup of gang "{name:Name}" has minMember {number:d} and queue "{queue:Name}"'))
def pod_group_has_min_member_and_queue(scenario: ScenarioContext, name: str, number: int, queue: str) -> None:
    scenario.recording.must(group_declares(name, number, queue, scenario.scheduler.dialect.queue_of))
