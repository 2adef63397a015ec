"""Gangs: pods that start together or not at all. A gang's pods are called after it: "train-0", "train-1", …"""

from pytest_bdd import given, then, when

from muster.chronicle.facts import bound, runs
from muster.chronicle.questions import all_of, eventually, never
from muster.stage import Scene
from muster.subject.requests import GangRequest, PodRequest
from steps.words import pods_of, sentence

_GANG = 'a gang "{name}" of {size:d} pods with {asked:GPUs} each'


def _pods(name: str, size: int, asked: int, priority: int | None = None, *, first: int = 0) -> list[PodRequest]:
    return [PodRequest(f"{name}-{number}", asked, priority) for number in range(first, first + size)]


@given(sentence(_GANG + " running at priority {priority:d}"))
def a_gang_runs(scene: Scene, name: str, size: int, asked: int, priority: int) -> None:
    scene.groups.running(GangRequest(name, size, priority=priority), _pods(name, size, asked, priority))


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


@then(sentence('the whole gang "{name}" runs'))
def the_whole_gang_runs(scene: Scene, name: str) -> None:
    everybody = [eventually(runs(pod)) for pod in scene.groups.members(name)]
    scene.chronicle.must(all_of(f"the whole gang {name} running", everybody))


@then(sentence('no pod of the gang "{name}" is bound'))
def nobody_of_the_gang_is_bound(scene: Scene, name: str) -> None:
    nobody = [never(bound(pod)) for pod in scene.groups.members(name)]
    scene.chronicle.stays(all_of(f"nobody of gang {name} bound", nobody))
