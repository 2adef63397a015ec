"""Questions are true, false or pending, from history alone."""

import pytest

from muster.assertions.pods import bound, gone, runs, still_runs
from muster.recording.quantities import readable, thousandths
from muster.recording.questions import all_of, before, eventually, never
from tests.support.history_builder import FALSE, PENDING, TRUE, HistoryBuilder, ask, full_node


def test_eventually_is_pending_until_it_happens() -> None:
    builder = HistoryBuilder().node("n", 1).pod("a", 1)
    assert ask(eventually(runs("a")), builder) is PENDING
    assert ask(eventually(runs("a")), builder.run("a", "n")) is TRUE
    assert ask(still_runs("a", ("m",)), builder) is FALSE
    assert ask(still_runs("a", ("m", "n")), builder) is TRUE


def test_never_is_true_until_it_happens() -> None:
    builder = HistoryBuilder().node("n", 1).pod("a", 1)
    assert ask(never(bound("a")), builder) is TRUE
    assert ask(never(bound("a")), builder.bind("a", "n")) is FALSE


def test_before_compares_moments() -> None:
    builder = full_node().pod("urgent", 1, 100)
    question = before(gone("left"), bound("urgent"))
    assert ask(question, builder) is PENDING
    assert ask(question, full_node().pod("urgent", 1, 100).bind("urgent", "gpu-1")) is FALSE
    assert ask(question, builder.delete("left").gone("left").bind("urgent", "gpu-1")) is TRUE


def test_all_of_prefers_false_to_pending() -> None:
    builder = HistoryBuilder().node("n", 1).pod("a", 1).bind("a", "n")
    assert ask(all_of("both", [eventually(runs("a")), never(bound("a"))]), builder) is FALSE
    assert ask(all_of("both", [eventually(runs("a")), eventually(bound("a"))]), builder) is PENDING


def test_a_recreated_pod_is_another_pod() -> None:
    builder = full_node().delete("left").gone("left").pod("left", 1, 10, uid="uid-left-2")
    assert ask(eventually(runs("left")), builder) is PENDING
    assert len([pod for pod in builder.history.pods if pod.name == "left"]) == 2


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1", 1000),
        ("500m", 500),
        ("1Ki", 1_024_000),
        ("2k", 2_000_000),
        (4, 4000),
        ("1u", 1),
        ("0", 0),
        ("1e3", 1_000_000),
    ],
)
def test_quantities(text: str | int, amount: int) -> None:
    assert thousandths(text) == amount


def test_quantities_are_written_as_people_write_them() -> None:
    assert (readable(4000), readable(500), readable(0)) == ("4", "500m", "0")
    with pytest.raises(ValueError, match="not a Kubernetes quantity"):
        thousandths("1iKi")
