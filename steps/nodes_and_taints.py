"""Nodes, their taints, and pods that are evicted by a taint."""

from dataclasses import replace

from pytest_bdd import given, parsers, then, when

from muster.assertions.evaluation import Recording
from muster.assertions.events import event_contains
from muster.assertions.pods import disruption_target, gone
from muster.assertions.taint_eviction import BY_TAINT, evicted_by_taint_after, has_taint
from muster.environment import ScenarioContext
from muster.environment.preconditions import require_added_toleration
from muster.recording.questions import before
from muster.schedulers.requests import NodeRequest, PodRequest, Taint
from steps.parsing import Names, label, rows, step_pattern, toleration

_TOLERATES_FOR = ' with {gpus:GPUs} and tolerates "{taint}" for {seconds:d} s'


@given("a cluster with the ExtendedResourceToleration admission plugin")
def cluster_adds_gpu_toleration(scenario: ScenarioContext) -> None:
    require_added_toleration(scenario)


@given(step_pattern("a node with {gpus:GPUs}"))
def unnamed_node(scenario: ScenarioContext, gpus: int) -> None:
    scenario.add_nodes([NodeRequest(scenario.next_node_name(), gpus)])


@given(step_pattern('a node "{name}" with {gpus:GPUs}'))
def named_node(scenario: ScenarioContext, name: str, gpus: int) -> None:
    scenario.add_nodes([NodeRequest(name, gpus)])


@given(step_pattern('a node "{name}" with {gpus:GPUs} and the taint "{taint}"'))
def tainted_node(scenario: ScenarioContext, name: str, gpus: int, taint: str) -> None:
    scenario.add_nodes([NodeRequest(name, gpus, taints=(Taint.parse(taint),))])


@given(step_pattern('a node "{name}" with {gpus:GPUs} and the label "{text}"'))
def labelled_node(scenario: ScenarioContext, name: str, gpus: int, text: str) -> None:
    scenario.add_nodes([NodeRequest(name, gpus, labels=label(text))])


@given("nodes:")
def nodes(scenario: ScenarioContext, datatable: list[list[str]]) -> None:
    scenario.add_nodes(
        NodeRequest(
            row["node"],
            int(row["GPUs"]),
            taints=tuple(Taint.parse(text) for text in row["taints"].split()),
            labels={f"node-role.kubernetes.io/{row['role']}": ""} if row.get("role") else {},
        )
        for row in rows(datatable)
    )


@given(step_pattern('pod "{name}" runs' + _TOLERATES_FOR))
def pod_tolerates_for_seconds(scenario: ScenarioContext, name: str, gpus: int, taint: str, seconds: int) -> None:
    pod_tolerates_for_seconds_on_node(scenario, name, "", gpus, taint, seconds)


@given(step_pattern('pod "{name}" runs on "{node}"' + _TOLERATES_FOR))
def pod_tolerates_for_seconds_on_node(
    scenario: ScenarioContext, name: str, node: str, gpus: int, taint: str, seconds: int
) -> None:
    limited = replace(toleration(taint), seconds=seconds)
    scenario.run_pods([PodRequest(name, gpus, node=node, tolerations=(limited,))])


@given(step_pattern('pod "{name}" runs with {gpus:GPUs} and tolerates:'))
def pod_tolerates_several_taints(scenario: ScenarioContext, name: str, gpus: int, datatable: list[list[str]]) -> None:
    tolerations = [replace(toleration(row["taint"]), seconds=int(row["seconds"])) for row in rows(datatable)]
    scenario.run_pods([PodRequest(name, gpus, tolerations=tuple(tolerations))])


@when(step_pattern('a node "{name}" with {gpus:GPUs} joins'))
def node_joins(scenario: ScenarioContext, name: str, gpus: int) -> None:
    scenario.add_nodes([NodeRequest(name, gpus)])


@when(step_pattern('node "{name}" gets the taint "{taint}"'))
def node_gets_taint(scenario: ScenarioContext, name: str, taint: str) -> None:
    scenario.set_taints(name, Taint.parse(taint))


@when(step_pattern("the taints of {nodes:Names} are removed"))
def taints_are_removed(scenario: ScenarioContext, nodes: Names) -> None:
    for name in nodes:
        scenario.set_taints(name)


@when(step_pattern('node "{name}" is cordoned'))
def node_is_cordoned(scenario: ScenarioContext, name: str) -> None:
    scenario.cordon(name, on=True)


@when(step_pattern('node "{name}" is uncordoned'))
def node_is_uncordoned(scenario: ScenarioContext, name: str) -> None:
    scenario.cordon(name, on=False)


@when(step_pattern('node "{name}" gets the taints {taints:Names}'))
def node_gets_taints(scenario: ScenarioContext, name: str, taints: Names) -> None:
    scenario.set_taints(name, *(Taint.parse(taint) for taint in taints))


@when(step_pattern('node "{name}" becomes unreachable'))
def node_becomes_unreachable(scenario: ScenarioContext, name: str) -> None:
    scenario.make_unreachable(name)


@then(step_pattern('"{pod}" has DisruptionTarget=DeletionByTaintManager before deletion'))
def victim_has_taint_disruption_target(recording: Recording, pod: str) -> None:
    recording.must(before(disruption_target(pod, BY_TAINT), gone(pod)))


@then(step_pattern('"{pod}" is evicted from "{node}" by the taint after {seconds:d} s'))
def pod_is_evicted_by_taint(recording: Recording, pod: str, node: str, seconds: int) -> None:
    recording.must(evicted_by_taint_after(pod, node, seconds))


@then(step_pattern('node "{name}" has the taint "{taint}"'))
def node_has_taint(recording: Recording, name: str, taint: str) -> None:
    wanted = Taint.parse(taint)
    recording.must(has_taint(name, wanted.key, wanted.effect))


@then(parsers.parse('a "{reason}" event on "{pod}" contains "{text}"'))
def check_event_contains(recording: Recording, reason: str, pod: str, text: str) -> None:
    recording.must(event_contains(pod, reason, text))
