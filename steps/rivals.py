"""Rivals and special cases of preemption: promises, replacements, gates, budgets, and the cluster's own pods."""

from pytest_bdd import given, then, when

from muster.chronicle.promises import promise_taken_back, promised_while_leaving
from muster.stage import Scene
from muster.subject.requests import PodRequest
from steps.words import sentence


@given(sentence('pod "{name}" runs with {asked:GPUs} at priority {priority:d} and never preempts'))
def a_patient_pod_runs(scene: Scene, name: str, asked: int, priority: int) -> None:
    scene.running([PodRequest(name, asked, priority, may_preempt=False)])


@given(sentence("a disruption budget that can spare none of {pods:Names}"))
def an_exhausted_budget(scene: Scene, pods: tuple[str, ...]) -> None:
    scene.protect(*pods)


@when(sentence('the cluster\'s own critical pod "{name}" asks for {asked:GPUs}'))
def a_critical_pod_asks(scene: Scene, name: str, asked: int) -> None:
    scene.submit(PodRequest(name, asked, priority_class="system-cluster-critical", system=True))


@when(sentence('gated pod "{name}" asks for {asked:GPUs} at priority {priority:d}'))
def a_gated_pod_asks(scene: Scene, name: str, asked: int, priority: int) -> None:
    scene.submit(PodRequest(name, asked, priority, gated=True))


@when(sentence('the gate of "{name}" is opened'))
def a_gate_is_opened(scene: Scene, name: str) -> None:
    scene.ungate(name)


@when(sentence('a controller replaces "{name}" by "{successor}"'))
def a_pod_is_replaced(scene: Scene, name: str, successor: str) -> None:
    scene.replace(name, by=successor)


@then(sentence('"{pod}" is promised the place of "{victim}", which is still leaving'))
def it_is_promised(scene: Scene, pod: str, victim: str) -> None:
    scene.chronicle.must(promised_while_leaving(pod, victim))


@then(sentence('"{pod}" is no longer promised the node of "{holder}"'))
def the_promise_is_taken_back(scene: Scene, pod: str, holder: str) -> None:
    scene.chronicle.must(promise_taken_back(pod, holder))
