"""The events on a pod with their messages and their order, from history alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from muster.assertions.event_order import WantedEvent, events_in_order
from muster.recording.questions import Outcome
from tests.support.history_builder import FALSE, NAMESPACE, PENDING, TRUE, HistoryBuilder, ask

WANTED = tuple(
    WantedEvent("Normal", reason, message)
    for reason, message in (
        ("Scheduled", f"Successfully assigned {NAMESPACE}/victim to gpu-1"),
        ("Pulled", 'Container image "horovod" already present on machine'),
        ("Created", "Created container mpi"),
        ("Started", "Started container mpi"),
        ("Preempted", f"by {NAMESPACE}/urgent on node gpu-1"),
        ("Killing", "Stopping container mpi"),
    )
)
KUBELET, SCHEDULER = "kubelet", "scheduler"
Told = tuple[str, str, str, int]  # component, reason, message, second
SCHEDULED: Told = (SCHEDULER, "Scheduled", f"Successfully assigned {NAMESPACE}/victim to gpu-1", 10)
NEWEST: tuple[Told, ...] = (
    SCHEDULED,
    (KUBELET, "Pulled", 'Container image "horovod" already present on machine and can be accessed by the pod', 10),
    (KUBELET, "Created", "Container created", 10),
    (KUBELET, "Started", "Container started", 10),
    (SCHEDULER, "Preempted", "Preempted by pod uid-urgent on node gpu-1", 20),
    (KUBELET, "Killing", "Stopping container mpi", 20),
)
SIMULATED: tuple[Told, ...] = (
    *NEWEST[:1],
    (KUBELET, "Pulled", "Container image already present on machine and can be accessed by the pod", 10),
    *NEWEST[2:5],
    (KUBELET, "Killing", "Stopping container", 20),
)
AS_SHOWN: tuple[Told, ...] = tuple(
    (component, line.reason, line.message, second)
    for (component, _, _, second), line in zip(NEWEST, WANTED, strict=True)
)


def outcome(told: Sequence[Told]) -> Outcome:
    builder = HistoryBuilder().node("gpu-1", 1).running_pod("victim", "gpu-1", 1).pod("urgent", 1, 100)
    for component, reason, message, second in told:
        builder.event("victim", reason, message, component=component, when=f"2030-01-01T00:00:{second}Z")
    return ask(events_in_order("victim", WANTED), builder)


def changed(position: int, *, message: str = "", second: int = 0) -> list[Told]:
    told = list(NEWEST)
    component, reason, old, when = told[position]
    told[position] = component, reason, message or old, second or when
    return told


@pytest.mark.parametrize("told", [NEWEST, SIMULATED, AS_SHOWN], ids=["newest", "simulated", "as shown"])
def test_every_wording_is_accepted_as_a_whole(told: Sequence[Told]) -> None:
    assert outcome(told) is TRUE


@pytest.mark.parametrize(
    ("position", "message"),
    [
        (0, f"Successfully assigned {NAMESPACE}/victim to gpu-2"),
        (1, 'Container image "other" already present on machine'),
        (2, "Created container other"),
        (4, "Preempted by pod uid-victim on node gpu-1"),
        (4, "Preempted by pod uid-urgent on node gpu-2"),
        (4, "Preempted"),
        (5, "Stopping container other"),
    ],
)
def test_another_message_is_not_the_event_that_is_wanted(position: int, message: str) -> None:
    assert outcome(changed(position, message=message)) is PENDING


def test_a_missing_event_is_pending() -> None:
    assert outcome(NEWEST[:-1]) is PENDING


def test_events_of_one_component_have_an_exact_order() -> None:
    """Within the same second."""
    assert outcome([NEWEST[0], NEWEST[1], NEWEST[3], NEWEST[2], *NEWEST[4:]]) is FALSE


def test_events_of_two_components_have_an_order_by_seconds() -> None:
    """Also where each step between two lines is within the tolerance: only the sum shows that the order is wrong."""
    assert outcome(changed(0, second=11)) is TRUE
    assert outcome(changed(0, second=12)) is FALSE
    assert outcome(changed(5, second=18)) is FALSE
