"""Nodes: what the cluster has to offer, and what changes about it."""

from pytest_bdd import given, when

from muster.stage import Scene
from muster.stage.admission import require_added_toleration
from muster.subject.requests import NodeRequest, Taint
from steps.words import rows, sentence


@given("a cluster that adds tolerations for extended resources")
def a_generous_cluster(scene: Scene) -> None:
    require_added_toleration(scene)


@given(sentence("a node with {offered:GPUs}"))
def a_node(scene: Scene, offered: int) -> None:
    scene.add_nodes([NodeRequest(scene.next_node_name(), offered)])


@given(sentence('a node "{name}" with {offered:GPUs}'))
def a_named_node(scene: Scene, name: str, offered: int) -> None:
    scene.add_nodes([NodeRequest(name, offered)])


@given(sentence('a node "{name}" with {offered:GPUs} and the taint "{taint}"'))
def a_tainted_node(scene: Scene, name: str, offered: int, taint: str) -> None:
    scene.add_nodes([NodeRequest(name, offered, taints=(Taint.parse(taint),))])


@given("nodes:")
def a_table_of_nodes(scene: Scene, datatable: list[list[str]]) -> None:
    scene.add_nodes(
        NodeRequest(
            row["node"],
            int(row["GPUs"]),
            taints=tuple(Taint.parse(one) for one in row["taints"].split()),
            labels={f"node-role.kubernetes.io/{row['role']}": ""} if row.get("role") else {},
        )
        for row in rows(datatable)
    )


@when(sentence('a node "{name}" with {offered:GPUs} joins'))
def a_node_joins(scene: Scene, name: str, offered: int) -> None:
    scene.add_nodes([NodeRequest(name, offered)])


@when(sentence('node "{name}" gets the taint "{taint}"'))
def a_node_is_tainted(scene: Scene, name: str, taint: str) -> None:
    scene.taint(name, Taint.parse(taint))


@when(sentence("the taints of {nodes:Names} are removed"))
def taints_are_removed(scene: Scene, nodes: tuple[str, ...]) -> None:
    for name in nodes:
        scene.taint(name)


@given(sentence('node "{name}" is cordoned'))
@when(sentence('node "{name}" is cordoned'))
def a_node_is_cordoned(scene: Scene, name: str) -> None:
    scene.cordon(name, on=True)


@when(sentence('node "{name}" is uncordoned'))
def a_node_is_uncordoned(scene: Scene, name: str) -> None:
    scene.cordon(name, on=False)
