"""Taints that drive pods out, and pods that put up with them for a time."""

from dataclasses import replace

from pytest_bdd import given, parsers, then, when

from muster.chronicle.evictions import BY_TAINT, carries_taint, driven_out_after, told
from muster.chronicle.facts import gone, marked
from muster.chronicle.questions import before
from muster.stage import Scene
from muster.subject.requests import PodRequest, Taint
from steps.words import rows, sentence, toleration

_FOR_A_TIME = ' with {asked:GPUs} and tolerates "{taint}" for {seconds:d} s'


@given(sentence('pod "{name}" runs' + _FOR_A_TIME))
def a_guest_runs(scene: Scene, name: str, asked: int, taint: str, seconds: int) -> None:
    a_guest_runs_there(scene, name, "", asked, taint, seconds)


@given(sentence('pod "{name}" runs on "{node}"' + _FOR_A_TIME))
def a_guest_runs_there(scene: Scene, name: str, node: str, asked: int, taint: str, seconds: int) -> None:
    patience = replace(toleration(taint), seconds=seconds)
    scene.running([PodRequest(name, asked, node=node, tolerations=(patience,))])


@given(sentence('pod "{name}" runs with {asked:GPUs} and tolerates:'))
def a_guest_with_several_times(scene: Scene, name: str, asked: int, datatable: list[list[str]]) -> None:
    times = [replace(toleration(row["taint"]), seconds=int(row["seconds"])) for row in rows(datatable)]
    scene.running([PodRequest(name, asked, tolerations=tuple(times))])


@when(sentence('node "{name}" gets the taints {taints:Names}'))
def a_node_gets_taints(scene: Scene, name: str, taints: tuple[str, ...]) -> None:
    scene.taint(name, *(Taint.parse(taint) for taint in taints))


@when(sentence('nothing is heard of node "{name}" any more'))
def a_node_falls_silent(scene: Scene, name: str) -> None:
    scene.silence(name)


@then(sentence('"{pod}" says before it goes that a taint drove it out'))
def it_says_that_a_taint(scene: Scene, pod: str) -> None:
    scene.chronicle.must(before(marked(pod, BY_TAINT), gone(pod)))


@then(sentence('"{pod}" is driven out of "{node}" after {seconds:d} s'))
def it_is_driven_out(scene: Scene, pod: str, node: str, seconds: int) -> None:
    scene.chronicle.must(driven_out_after(pod, node, seconds))


@then(sentence('node "{name}" carries the taint "{taint}"'))
def a_node_carries(scene: Scene, name: str, taint: str) -> None:
    wanted = Taint.parse(taint)
    scene.chronicle.must(carries_taint(name, wanted.key, wanted.effect))


@then(parsers.parse('an event "{reason}" about "{pod}" says "{words}"'))
def an_event_says(scene: Scene, reason: str, pod: str, words: str) -> None:
    scene.chronicle.must(told(pod, reason, words))
