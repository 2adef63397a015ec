"""Preemption for whole gangs, and the pods that stand in their way."""

from pytest_bdd import given, then, when

from muster.chronicle.job_preemptions import (
    eviction_told,
    no_gang_victim_could_stay,
    nominated_apart,
    nothing_free,
    preempted_for_gang,
    run_where_nominated,
    victim_names,
    victim_says,
    waits_for_victims,
)
from muster.chronicle.questions import all_of
from muster.stage import Scene
from muster.subject.requests import GangRequest, NodeRequest, PodRequest
from steps.words import pods_of, sentence

_MEMORY = "40Mi"  # what the documents ask for beside CPUs


@given(sentence('a node "{name}" with {offered:d} CPUs'))
def a_node_with_cpus(scene: Scene, name: str, offered: int) -> None:
    scene.add_nodes([NodeRequest(name, cpus=offered)])


@given(sentence('pod "{name}" with {asked:GPUs} runs at priority {priority:d} on "{node}" and may not be evicted'))
def a_protected_pod_runs(scene: Scene, name: str, asked: int, priority: int, node: str) -> None:
    scene.running([PodRequest(name, asked, priority, node=node, protected=True)])


@when(
    sentence('pods {pods:Names} ask for {asked:d} CPUs each with the priority class "{chosen}" and leave within {time}')
)
def pods_ask_for_cpus(scene: Scene, pods: tuple[str, ...], asked: int, chosen: str, time: str) -> None:
    scene.submit(*(_plain(name, asked, chosen, time) for name in pods))


@when(sentence('pod "{name}" asks for {asked:d} CPUs with the priority class "{chosen}"'))
def a_pod_asks_for_cpus(scene: Scene, name: str, asked: int, chosen: str) -> None:
    scene.submit(_plain(name, asked, chosen))


@when(
    sentence('a gang "{name}" of {pods:Names} with {asked:d} CPUs each is submitted with the priority class "{chosen}"')
)
def a_gang_asks_for_cpus(scene: Scene, name: str, pods: tuple[str, ...], asked: int, chosen: str) -> None:
    request = GangRequest(name, len(pods), priority_class=chosen)
    scene.groups.submit(request, [_plain(pod, asked, chosen) for pod in pods])


@when(
    sentence(
        'a gang "{name}" of {size:d} pods with {asked:GPUs} each is submitted'
        " at priority {priority:d} and never preempts"
    )
)
def a_patient_gang(scene: Scene, name: str, size: int, asked: int, priority: int) -> None:
    pods = [PodRequest(f"{name}-{number}", asked, priority, may_preempt=False) for number in range(size)]
    scene.groups.submit(GangRequest(name, size, priority=priority), pods)


@when(sentence('a gang "{name}" is submitted at priority {priority:d} with the pods:'))
def a_mixed_gang_at(scene: Scene, name: str, priority: int, datatable: list[list[str]]) -> None:
    pods = pods_of(datatable, priority=priority)
    scene.groups.submit(GangRequest(name, len(pods), priority=priority), pods)


@when(sentence('the gang "{name}" of {minimum:d} pods is declared at priority {priority:d}'))
def a_gang_is_declared_at(scene: Scene, name: str, minimum: int, priority: int) -> None:
    scene.groups.declare(GangRequest(name, minimum, priority=priority))


@when(sentence('1 more pod with {asked:GPUs} joins the gang "{name}" at priority {priority:d}'))
def a_pod_joins_at(scene: Scene, asked: int, name: str, priority: int) -> None:
    number = len(scene.groups.members(name))
    scene.groups.join(name, [PodRequest(f"{name}-{number}", asked, priority)])


@when(
    sentence(
        "the gangs {gangs:Names} of 1 pod with {asked:GPUs} each are submitted"
        " to start together at priority {priority:d}"
    )
)
def gangs_that_start_together(scene: Scene, gangs: tuple[str, ...], asked: int, priority: int) -> None:
    for name in gangs:
        others = tuple(other for other in gangs if other != name)
        scene.groups.declare(GangRequest(name, 1, priority=priority, with_gangs=others, asks_gpus=asked))
    for name in gangs:
        scene.groups.join(name, [PodRequest(f"{name}-0", asked, priority)])


@then(sentence('exactly {number:Count} of {pods:Names} was preempted for the gang "{gang}"'))
@then(sentence('exactly {number:Count} of {pods:Names} were preempted for the gang "{gang}"'))
def so_many_went_for_the_gang(scene: Scene, number: int, pods: tuple[str, ...], gang: str) -> None:
    scene.chronicle.must(preempted_for_gang(pods, number, gang, scene.groups.members(gang)))


@then(sentence('{pods:Names} was preempted for the gang "{gang}"'))
@then(sentence('{pods:Names} were preempted for the gang "{gang}"'))
def they_went_for_the_gang(scene: Scene, pods: tuple[str, ...], gang: str) -> None:
    scene.chronicle.must(preempted_for_gang(pods, len(pods), gang, scene.groups.members(gang)))


@then(sentence('{pods:Names} say before they go that the scheduler preempted them for the gang "{gang}"'))
def the_victims_say_so(scene: Scene, pods: tuple[str, ...], gang: str) -> None:
    words = scene.subject.dialect.blames(gang, scene.namespace)
    scene.chronicle.must(all_of(f"{', '.join(pods)} saying why they go", [victim_names(pod, words) for pod in pods]))


@then(sentence('{pods:Names} say before they go: "{words}"'))
def the_victims_say(scene: Scene, pods: tuple[str, ...], words: str) -> None:
    scene.chronicle.must(all_of(f"{', '.join(pods)} saying why they go", [victim_says(pod, words) for pod in pods]))


@then(sentence('an event about each of {pods:Names} tells of its preemption for the gang "{gang}"'))
def events_tell(scene: Scene, pods: tuple[str, ...], gang: str) -> None:
    dialect, members = scene.subject.dialect, scene.groups.members(gang)
    told = [eviction_told(pod, dialect.eviction_reason, members, tied=dialect.eviction_names_preemptor) for pod in pods]
    scene.chronicle.must(all_of(f"an event about each of {', '.join(pods)}", told))


@then(sentence('every victim of the gang "{gang}" was necessary'))
def gang_victims_were_necessary(scene: Scene, gang: str) -> None:
    scene.chronicle.must(no_gang_victim_could_stay(gang, scene.groups.members(gang)))


@then(sentence('the gang "{gang}" waits while exactly {number:Count} of {pods:Names} terminate'))
def the_gang_waits_for_victims(scene: Scene, gang: str, number: int, pods: tuple[str, ...]) -> None:
    scene.chronicle.stays(waits_for_victims(gang, scene.groups.members(gang), pods, number))


@then(sentence("{pods:Names} are nominated to a node each while {victims:Names} terminate"))
def they_are_nominated_apart(scene: Scene, pods: tuple[str, ...], victims: tuple[str, ...]) -> None:
    scene.chronicle.must(nominated_apart(pods, victims))


@then(sentence("{pods:Names} run where they were nominated, and no nomination is left"))
def they_run_where_nominated(scene: Scene, pods: tuple[str, ...]) -> None:
    scene.chronicle.must(run_where_nominated(pods))


@then(sentence("no CPU is free on {nodes:Names}"))
def no_cpu_is_free(scene: Scene, nodes: tuple[str, ...]) -> None:
    scene.chronicle.must(nothing_free(nodes, "cpu"))


def _plain(name: str, cpus: int, priority_class: str, leaves_within: str = "") -> PodRequest:
    return PodRequest(name, priority_class=priority_class, leaves_within=leaves_within, cpus=str(cpus), memory=_MEMORY)
