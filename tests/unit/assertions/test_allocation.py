"""Resource usage, from history alone."""

from muster.assertions.allocation import fully_allocated, gpus_in_use_never_above, gpus_in_use_on, spread_over
from tests.support.history_builder import FALSE, PENDING, TRUE, HistoryBuilder, ask, full_node


def test_gpus_in_use_and_spread() -> None:
    builder = full_node()
    assert ask(gpus_in_use_on({"gpu-1": 2}), builder) is TRUE
    assert ask(gpus_in_use_on({"gpu-1": 1}), builder) is PENDING
    assert ask(spread_over(("left", "right"), 2), builder) is FALSE
    assert ask(spread_over(("left", "right"), 1), builder) is TRUE
    assert ask(gpus_in_use_never_above(2), builder) is TRUE
    assert ask(gpus_in_use_never_above(1), builder) is FALSE


def test_fully_allocated() -> None:
    builder = HistoryBuilder().node("east", 4).node("west", 4).running_pod("a", "east", 4).running_pod("b", "west", 4)
    question = fully_allocated(("east", "west"), "nvidia.com/gpu")
    assert ask(question, builder) is TRUE
    assert ask(question, HistoryBuilder().node("east", 4)) is PENDING


def test_a_pod_that_ran_once_is_on_no_node() -> None:
    spread = spread_over(("left", "right"), 2)
    two_nodes = HistoryBuilder().node("east", 1).node("west", 1).running_pod("left", "east", 1).pod("right", 1)
    assert ask(spread, two_nodes) is PENDING
    assert ask(spread, two_nodes.run("right", "west")) is TRUE
    assert ask(spread, two_nodes.delete("left")) is FALSE
    assert ask(spread, two_nodes.gone("left")) is FALSE
    assert ask(spread_over(("left", "right"), 1), full_node().finish("left", "Failed")) is FALSE
