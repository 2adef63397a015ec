"""Gangs: pods that start together or not at all. A gang's pods are called after it: "train-0", "train-1", …"""

from pytest_bdd import given, then, when

from muster.chronicle.facts import bound, runs
from muster.chronicle.gangs import (
    at_least_run,
    exactly_one_starts,
    refused_as_a_gang,
    running_gangs,
    stands,
    whole_or_nothing,
)
from muster.chronicle.questions import all_of, eventually, never
from muster.stage import Scene
from muster.stage.queues import dismiss
from muster.subject.requests import GangRequest, PodRequest
from steps.words import pods_of, rows, sentence

_GANG = 'a gang "{name}" of {size:d} pods with {asked:GPUs} each'


def _pods(name: str, size: int, asked: int, priority: int | None = None, *, first: int = 0) -> list[PodRequest]:
    return [PodRequest(f"{name}-{number}", asked, priority) for number in range(first, first + size)]


@given(sentence(_GANG + " running at priority {priority:d}"))
def a_gang_runs(scene: Scene, name: str, size: int, asked: int, priority: int) -> None:
    scene.groups.running(GangRequest(name, size, priority=priority), _pods(name, size, asked, priority))


@given(sentence(_GANG + " running at priority {priority:d}, which leaves as one"))
def a_gang_that_leaves_whole(scene: Scene, name: str, size: int, asked: int, priority: int) -> None:
    request = GangRequest(name, size, priority=priority, leaves_whole=True)
    scene.groups.running(request, _pods(name, size, asked, priority))


@given(sentence(_GANG + " running"))
def a_plain_gang_runs(scene: Scene, name: str, size: int, asked: int) -> None:
    scene.groups.running(GangRequest(name, size), _pods(name, size, asked))


@when(sentence(_GANG + " is submitted"))
def a_gang_is_submitted(scene: Scene, name: str, size: int, asked: int) -> None:
    scene.groups.submit(GangRequest(name, size), _pods(name, size, asked))


@when(sentence(_GANG + " is submitted at priority {priority:d}"))
def an_important_gang_is_submitted(scene: Scene, name: str, size: int, asked: int, priority: int) -> None:
    scene.groups.submit(GangRequest(name, size, priority=priority), _pods(name, size, asked, priority))


@when(
    sentence(
        'a gang "{name}" of {size:d} pods with {asked:GPUs} each is submitted, {minimum:d} of them to start together'
    )
)
def a_gang_with_a_minimum(scene: Scene, name: str, size: int, asked: int, minimum: int) -> None:
    scene.groups.submit(GangRequest(name, minimum), _pods(name, size, asked))


@when(sentence('the gang "{name}" of {minimum:d} pods is declared'))
def a_gang_is_declared(scene: Scene, name: str, minimum: int) -> None:
    scene.groups.declare(GangRequest(name, minimum))


@when(sentence('{size:d} more pods with {asked:GPUs} each join the gang "{name}"'))
@when(sentence('{size:d} more pod with {asked:GPUs} joins the gang "{name}"'))
def pods_join(scene: Scene, size: int, asked: int, name: str) -> None:
    scene.groups.join(name, _pods(name, size, asked, first=len(scene.groups.members(name))))


@when(sentence('a gang "{name}" is submitted with the pods:'))
def a_mixed_gang(scene: Scene, name: str, datatable: list[list[str]]) -> None:
    pods = pods_of(datatable)
    scene.groups.submit(GangRequest(name, len(pods)), pods)


@when(sentence('a gang "{name}" of several roles is submitted:'))
def a_gang_of_roles(scene: Scene, name: str, datatable: list[list[str]]) -> None:
    table = rows(datatable)
    pods = [
        PodRequest(f"{name}-{row['role']}-{number}", int(row["GPUs"]), role=row["role"])
        for row in table
        for number in range(int(row["pods"]))
    ]
    scene.groups.submit(GangRequest(name, len(pods), roles={row["role"]: int(row["pods"]) for row in table}), pods)


@when("gangs ask while the scheduler looks away:")
def rival_gangs_ask(scene: Scene, datatable: list[list[str]]) -> None:
    """Their pods come in turns: one of the first gang, one of the second, and so on."""
    table = rows(datatable)
    with scene.scheduler_paused():
        for row in table:
            asks = int(row["pods"]) * int(row["GPUs"])
            scene.groups.declare(GangRequest(row["gang"], int(row["pods"]), asks_gpus=asks))
        for number in range(max(int(row["pods"]) for row in table)):
            for row in table:
                if number < int(row["pods"]):
                    scene.groups.join(row["gang"], _pods(row["gang"], 1, int(row["GPUs"]), first=number))


@when(
    sentence(
        'the scheduler dies after binding the first pod of a gang "{name}" of {size:d} pods with {asked:GPUs} each'
        ' to "{node}", and starts again'
    )
)
def the_scheduler_dies(scene: Scene, name: str, size: int, asked: int, node: str) -> None:
    scene.groups.left_by_a_crash(GangRequest(name, size), _pods(name, size, asked), node)


@when(sentence('the gang "{name}" finishes'))
def a_gang_finishes(scene: Scene, name: str) -> None:
    for pod in scene.groups.members(name):
        scene.finish(pod)


@when(sentence("the one of the gangs {gangs:Names} that runs finishes"))
def the_running_gang_finishes(scene: Scene, gangs: tuple[str, ...]) -> None:
    with scene.chronicle.history.changed:
        whole = running_gangs(scene.chronicle.history, {name: scene.groups.members(name) for name in gangs})
    for name in whole:
        a_gang_finishes(scene, name)


@when(sentence("{pods:Names} is deleted"))
@when(sentence("{pods:Names} are deleted"))
def members_are_deleted(scene: Scene, pods: tuple[str, ...]) -> None:
    for pod in pods:
        scene.remove(pod)


@when(sentence('the gang "{name}" is deleted'))
def a_gang_is_deleted(scene: Scene, name: str) -> None:
    for pod in scene.groups.members(name):
        scene.remove(pod)
    dismiss(scene, name)


@when(sentence('"{pod}" is deleted and created again'))
def a_member_is_recreated(scene: Scene, pod: str) -> None:
    scene.groups.recreate(pod)


@when(sentence('the gang "{name}" now needs {minimum:d} pods with {asked:GPUs} each to start'))
def the_minimum_changes(scene: Scene, name: str, minimum: int, asked: int) -> None:
    scene.groups.resize(GangRequest(name, minimum, asks_gpus=minimum * asked))


@then(sentence('the whole gang "{name}" runs'))
def the_whole_gang_runs(scene: Scene, name: str) -> None:
    everybody = [eventually(runs(pod)) for pod in scene.groups.members(name)]
    scene.chronicle.must(all_of(f"the whole gang {name} running", everybody))


@then(sentence('no pod of the gang "{name}" is bound'))
def nobody_of_the_gang_is_bound(scene: Scene, name: str) -> None:
    nobody = [never(bound(pod)) for pod in scene.groups.members(name)]
    scene.chronicle.stays(all_of(f"nobody of gang {name} bound", nobody))


@then(sentence('the gang "{name}" has started with {minimum:d} pods or not at all'))
def whole_or_not_at_all(scene: Scene, name: str, minimum: int) -> None:
    scene.chronicle.stays(whole_or_nothing(name, scene.groups.members(name), minimum))


@then(sentence('the refusal names the gang "{name}"'))
def the_gang_is_refused(scene: Scene, name: str) -> None:
    scene.chronicle.must(refused_as_a_gang(name, scene.groups.members(name)))


@then(sentence('at least {number:d} pods of the gang "{name}" run, and the others wait'))
def some_of_the_gang_run(scene: Scene, number: int, name: str) -> None:
    scene.chronicle.stays(at_least_run(name, scene.groups.members(name), number))


@then(sentence("exactly one of the gangs {gangs:Names} runs, and nobody of the others is bound"))
def one_gang_runs(scene: Scene, gangs: tuple[str, ...]) -> None:
    scene.chronicle.stays(exactly_one_starts({name: scene.groups.members(name) for name in gangs}))


@then(sentence('the group of the gang "{name}" says "{phase}" for good'))
def the_group_stands(scene: Scene, name: str, phase: str) -> None:
    scene.subject.dialect.must_know(phase)
    scene.chronicle.stays(stands(name, phase, scene.subject.dialect.phase))
