"""Preemption for whole gangs: requests, victims, nominated nodes."""

from pytest_bdd import given, then, when

from muster.assertions.allocation import fully_allocated
from muster.assertions.evaluation import Recording
from muster.assertions.gang_preemption import (
    every_gang_victim_necessary,
    preempted_for_gang,
    victim_event,
    victim_message_contains,
    victim_message_matches,
)
from muster.assertions.nomination import nominated_to_distinct_nodes, run_on_nominated_nodes
from muster.assertions.preemption import pending_while_victims_terminate
from muster.environment import ScenarioContext
from muster.recording.questions import all_of
from muster.schedulers.requests import GangRequest, NodeRequest, PodRequest
from steps.parsing import Names, pods_of, step_pattern

_MEMORY = "40Mi"  # requested beside CPUs, as in the walk-through of job-level preemption


@given(step_pattern('a node "{name}" with {cpus:d} CPUs and {memory:w} of memory'))
def node_with_cpus(scenario: ScenarioContext, name: str, cpus: int, memory: str) -> None:
    scenario.add_nodes([NodeRequest(name, cpus=cpus, memory=memory)])


@given(step_pattern('non-preemptible pod "{name}" with {gpus:GPUs} runs at priority {priority:d} on "{node}"'))
def non_preemptible_pod_runs(scenario: ScenarioContext, name: str, gpus: int, priority: int, node: str) -> None:
    scenario.run_pods([PodRequest(name, gpus, priority, node=node, non_preemptible=True)])


@when(step_pattern('pod "{name}" requests {cpus:d} CPUs with the priority class "{priority_class}"'))
def pod_requests_cpus(scenario: ScenarioContext, name: str, cpus: int, priority_class: str) -> None:
    scenario.submit(_pod_with_cpus(name, cpus, priority_class))


@when(
    step_pattern(
        'a gang "{name}" of {pods:Names} with {cpus:d} CPUs each is submitted'
        ' with the priority class "{priority_class}"'
    )
)
def gang_with_cpus_is_submitted(
    scenario: ScenarioContext, name: str, pods: Names, cpus: int, priority_class: str
) -> None:
    request = GangRequest(name, len(pods), priority_class=priority_class)
    scenario.groups.submit(request, [_pod_with_cpus(pod, cpus, priority_class) for pod in pods])


@when(
    step_pattern(
        'a gang "{name}" of {size:d} pods with {gpus:GPUs} each is submitted'
        " at priority {priority:d} with preemptionPolicy Never"
    )
)
def non_preempting_gang_is_submitted(scenario: ScenarioContext, name: str, size: int, gpus: int, priority: int) -> None:
    pods = [PodRequest(f"{name}-{number}", gpus, priority, may_preempt=False) for number in range(size)]
    scenario.groups.submit(GangRequest(name, size, priority=priority), pods)


@when(step_pattern('a gang "{name}" is submitted at priority {priority:d} with the pods:'))
def gang_of_unequal_pods_is_submitted(
    scenario: ScenarioContext, name: str, priority: int, datatable: list[list[str]]
) -> None:
    pods = pods_of(datatable, priority=priority)
    scenario.groups.submit(GangRequest(name, len(pods), priority=priority), pods)


@when(step_pattern('the PodGroup of gang "{name}" is created with minMember {min_member:d} at priority {priority:d}'))
def pod_group_is_created_at_priority(scenario: ScenarioContext, name: str, min_member: int, priority: int) -> None:
    scenario.groups.create_group(GangRequest(name, min_member, priority=priority))


@when(step_pattern('1 more pod with {gpus:GPUs} joins the gang "{name}" at priority {priority:d}'))
def pod_joins_gang_at_priority(scenario: ScenarioContext, gpus: int, name: str, priority: int) -> None:
    number = len(scenario.groups.members(name))
    scenario.groups.add_pods(name, [PodRequest(f"{name}-{number}", gpus, priority)])


@when(step_pattern("linked gangs {gangs:Names} of 1 pod with {gpus:GPUs} each are submitted at priority {priority:d}"))
def linked_gangs_are_submitted(scenario: ScenarioContext, gangs: Names, gpus: int, priority: int) -> None:
    for name in gangs:
        others = tuple(other for other in gangs if other != name)
        scenario.groups.create_group(GangRequest(name, 1, priority=priority, linked_gangs=others, min_gpus=gpus))
    for name in gangs:
        scenario.groups.add_pods(name, [PodRequest(f"{name}-0", gpus, priority)])


@then(step_pattern('exactly {number:Count} of {pods:Names} was preempted for the gang "{gang}"'))
@then(step_pattern('exactly {number:Count} of {pods:Names} were preempted for the gang "{gang}"'))
def number_was_preempted_for_gang(scenario: ScenarioContext, number: int, pods: Names, gang: str) -> None:
    scenario.recording.must(preempted_for_gang(pods, number, gang, scenario.groups.members(gang)), lasting=True)


@then(step_pattern('{pods:Names} was preempted for the gang "{gang}"'))
@then(step_pattern('{pods:Names} were preempted for the gang "{gang}"'))
def pods_were_preempted_for_gang(scenario: ScenarioContext, pods: Names, gang: str) -> None:
    scenario.recording.must(preempted_for_gang(pods, len(pods), gang, scenario.groups.members(gang)), lasting=True)


@then(step_pattern("{pods:Names} was preempted for the gangs {gangs:Names}"))
def pods_were_preempted_for_gangs(scenario: ScenarioContext, pods: Names, gangs: Names) -> None:
    members = tuple(pod for gang in gangs for pod in scenario.groups.members(gang))
    scenario.recording.must(preempted_for_gang(pods, len(pods), " and ".join(gangs), members), lasting=True)


@then(
    step_pattern(
        '{pods:Names} have a DisruptionTarget message that names the scheduler and the gang "{gang}" before deletion'
    )
)
def victims_name_gang(scenario: ScenarioContext, pods: Names, gang: str) -> None:
    parts = scenario.scheduler.dialect.victim_message_parts(gang, scenario.namespace)
    scenario.recording.must(
        all_of(
            f"{', '.join(pods)} with a DisruptionTarget message before deletion",
            [victim_message_contains(pod, parts) for pod in pods],
        )
    )


@then(step_pattern('{pods:Names} have the DisruptionTarget message "{text}" before deletion'))
def victims_have_message(recording: Recording, pods: Names, text: str) -> None:
    recording.must(
        all_of(
            f"{', '.join(pods)} with a DisruptionTarget message before deletion",
            [victim_message_matches(pod, text) for pod in pods],
        )
    )


@then(step_pattern('each of {pods:Names} has a preemption event for the gang "{gang}"'))
def victims_have_preemption_event(scenario: ScenarioContext, pods: Names, gang: str) -> None:
    dialect, members = scenario.scheduler.dialect, scenario.groups.members(gang)
    events = [
        victim_event(pod, dialect.victim_event_reason, members, names_member=dialect.victim_event_names_preemptor)
        for pod in pods
    ]
    scenario.recording.must(all_of(f"a preemption event on each of {', '.join(pods)}", events))


@then(step_pattern('every victim of the gang "{gang}" was necessary'))
def gang_victims_were_necessary(scenario: ScenarioContext, gang: str) -> None:
    scenario.recording.must(every_gang_victim_necessary(gang, scenario.groups.members(gang)))


@then(step_pattern('the gang "{gang}" stays pending while exactly {number:Count} of {pods:Names} terminate'))
def gang_stays_pending_while_victims_terminate(scenario: ScenarioContext, gang: str, number: int, pods: Names) -> None:
    members = scenario.groups.members(gang)
    scenario.recording.stays(pending_while_victims_terminate(members, pods, number, f"gang {gang}"))


@then(step_pattern("{pods:Names} are nominated to different nodes while {victims:Names} terminate"))
def pods_are_nominated_to_different_nodes(recording: Recording, pods: Names, victims: Names) -> None:
    recording.must(nominated_to_distinct_nodes(pods, victims))


@then(step_pattern("{pods:Names} run on their nominated nodes, and no longer have a nominated node"))
def pods_run_on_nominated_nodes(recording: Recording, pods: Names) -> None:
    recording.must(run_on_nominated_nodes(pods))


@then(step_pattern("no CPU is free on {nodes:Names}"))
def no_cpu_is_free(recording: Recording, nodes: Names) -> None:
    recording.must(fully_allocated(nodes, "cpu"))


def _pod_with_cpus(name: str, cpus: int, priority_class: str) -> PodRequest:
    return PodRequest(name, priority_class=priority_class, cpus=str(cpus), memory=_MEMORY)
