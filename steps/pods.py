"""Pods: who is there, who asks, who leaves."""

from pytest_bdd import given, when

from muster.stage import Scene
from muster.subject.requests import PodRequest
from steps.words import pods_of, sentence, toleration


@given(sentence("pods running at priority {priority:d}:"))
def pods_running_at(scene: Scene, priority: int, datatable: list[list[str]]) -> None:
    scene.running(pods_of(datatable, priority=priority))


@given(sentence("pods running at priority {priority:d}, each started after the one above:"))
def pods_running_one_after_the_other(scene: Scene, priority: int, datatable: list[list[str]]) -> None:
    scene.running(pods_of(datatable, priority=priority), apart=True)


@given("pods running:")
def pods_running(scene: Scene, datatable: list[list[str]]) -> None:
    scene.running(pods_of(datatable))


@given(sentence('the priority class "{name}" of {value:d}'))
def a_priority_class(scene: Scene, name: str, value: int) -> None:
    scene.priority_class(value, name=name)


@given(sentence('pod "{name}" asks for {asked:GPUs} at priority {priority:d}'))
@when(sentence('pod "{name}" asks for {asked:GPUs} at priority {priority:d}'))
def a_pod_asks(scene: Scene, name: str, asked: int, priority: int) -> None:
    scene.submit(PodRequest(name, asked, priority))


@when(sentence('pod "{name}" asks for {asked:GPUs} at priority {priority:d} and never preempts'))
def a_patient_pod_asks(scene: Scene, name: str, asked: int, priority: int) -> None:
    scene.submit(PodRequest(name, asked, priority, may_preempt=False))


@when(sentence('pods {pods:Names} ask for {asked:GPUs} each with the priority class "{chosen}"'))
def pods_ask_with_class(scene: Scene, pods: tuple[str, ...], asked: int, chosen: str) -> None:
    scene.submit(*(PodRequest(name, asked, priority_class=chosen) for name in pods))


@when(sentence('pod "{name}" asks for {asked:GPUs} with the priority class "{chosen}"'))
def a_pod_asks_with_class(scene: Scene, name: str, asked: int, chosen: str) -> None:
    scene.submit(PodRequest(name, asked, priority_class=chosen))


@when(sentence('pod "{name}" asks for {asked:GPUs}'))
def a_plain_pod_asks(scene: Scene, name: str, asked: int) -> None:
    scene.submit(PodRequest(name, asked))


@when(sentence('pod "{name}" asks for {asked:GPUs} and tolerates {keys:Names}'))
def a_tolerant_pod_asks(scene: Scene, name: str, asked: int, keys: tuple[str, ...]) -> None:
    scene.submit(PodRequest(name, asked, tolerations=tuple(toleration(key) for key in keys)))


@when(sentence("{pods:Names} finish"))
@when(sentence("{pods:Names} finishes"))
def pods_finish(scene: Scene, pods: tuple[str, ...]) -> None:
    for pod in pods:
        scene.finish(pod)


@when("pods ask while the scheduler looks away:")
def rivals_ask(scene: Scene, datatable: list[list[str]]) -> None:
    with scene.scheduler_paused():
        scene.submit(*pods_of(datatable))
