"""Where pods would fit, from history alone."""

from muster.environment.given_pods import nodes_that_fit, placement_of_all
from muster.recording.pod_history import PodHistory
from tests.support.history_builder import HistoryBuilder

TAINT = [{"key": "gpu", "value": "true", "effect": "NoSchedule"}]


def test_a_pod_fits_where_its_requests_are_free_and_its_taints_tolerated() -> None:
    builder = HistoryBuilder().node("full", 2).running_pod("old", "full", 1).node("tainted", 2, taints=TAINT)
    builder.node("cordoned", 2, unschedulable=True).node("free", 2).pod("new", 2)
    builder.pod("tolerant", 2, tolerations=[{"key": "gpu", "operator": "Exists"}]).pod("large", 3)
    fitting = {
        name: nodes_that_fit(builder.history, pod)
        for name in ("new", "tolerant", "large")
        if (pod := builder.history.pod(name))
    }
    assert fitting == {"new": ["free"], "tolerant": ["tainted", "free"], "large": []}


def placement(builder: HistoryBuilder, *names: str, only: str = "") -> dict[str, str]:
    def allowed(_: PodHistory, node: str) -> bool:
        return only in ("", node)

    return placement_of_all(builder.history, builder.history.pods_named(names), allowed)


def test_pods_that_fit_one_by_one_do_not_always_fit_together() -> None:
    builder = HistoryBuilder().node("east", 3).node("west", 2).pod("a", 2).pod("b", 2).pod("c", 2).pod("small", 1)
    assert placement(builder, "a", "small", "b") == {"a": "east", "b": "west", "small": "east"}
    assert placement(builder, "a", "b", "c") == {}
    assert placement(builder, "a", "b", only="east") == {}
    assert placement(builder.run("c", "west"), "a", "b") == {}
