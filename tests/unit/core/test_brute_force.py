"""Small clusters, where every arrangement can be tried: what is found there by trying all of them is what a plan says.

Nothing here is clever, and nothing is shared with the decisions: members times nodes times subsets of victims.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.core.model import Pod
from tests.core_worlds import World, key

THOROUGH = os.environ.get("MUSTER_HYPOTHESIS") == "thorough"
URGENT = 50

moderately = settings(
    max_examples=1500 if THOROUGH else 80,
    deadline=None,
    derandomize=not THOROUGH,
    suppress_health_check=list(HealthCheck),
)


class Runs(NamedTuple):
    """A pod that runs: on which node, how large, how important, since when."""

    node: int
    gpus: int
    cpu: int
    priority: int
    started: int
    guarded: bool  # a disruption budget covers it


nodes = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4)
running = st.lists(
    st.builds(
        Runs, st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.sampled_from([0, 10, 20, 50, 90]),
        st.integers(1, 3), st.booleans(),
    ),
    max_size=6,
)  # fmt: skip
members = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=4)


def scene(offers: Sequence[tuple[int, int]], pods: Sequence[Runs], *, allowed: int | None = None) -> World:
    """The pods that fit, in this order, are there; those that do not are left out."""
    world = World()
    free = {}
    for number, (gpus, cpu) in enumerate(offers):
        world.node(f"n{number}", gpus, cpu, pods=4)
        free[number] = [gpus, cpu, 4]
    for number, pod in enumerate(pods):
        left = free.get(pod.node)
        asked = (pod.gpus, pod.cpu, 1)
        if left is not None and all(has >= asks for has, asks in zip(left, asked, strict=True)):
            free[pod.node] = [has - asks for has, asks in zip(left, asked, strict=True)]
            labels = {"app": "guarded"} if pod.guarded else {}
            more = {"cpu": pod.cpu, "started": float(pod.started), "labels": labels}
            world.pod(f"low{number}", pod.gpus, pod.priority, f"n{pod.node}", **more)  # type: ignore[arg-type]
    if allowed is not None:
        world.budget("guard", allowed, {"app": "guarded"})
    return world


def gang(world: World, sizes: Iterable[tuple[int, int]]) -> list[Pod]:
    sizes = list(sizes)
    world.group("gang", len(sizes))
    return [
        world.pod(f"member{number}", gpus, URGENT, cpu=cpu, group=key("gang"))
        for number, (gpus, cpu) in enumerate(sizes)
    ]


def left_on(node: str, stay: Iterable[Pod], world: World) -> Counter[str]:
    left = Counter(world.cluster.nodes[node].allocatable)
    for pod in stay:
        if pod.node == node:
            left.subtract(dict(pod.requests))
    return left


def fit_together(wanted: Sequence[Pod], stay: Sequence[Pod], world: World) -> bool:
    """Whether some arrangement gives everybody a place beside those who stay."""
    free = {name: left_on(name, stay, world) for name in world.cluster.nodes}
    for places in product(free, repeat=len(wanted)):
        asked = {name: Counter[str]() for name in free}
        for pod, place in zip(wanted, places, strict=True):
            asked[place].update(dict(pod.requests))
        if all(free[name][what] >= amount for name in free for what, amount in asked[name].items()):
            return True
    return False


@moderately
@given(nodes, running, members)
def test_a_gang_starts_or_has_room_made_exactly_when_some_arrangement_allows_it(
    offers: list[tuple[int, int]], pods: list[Runs], sizes: list[tuple[int, int]]
) -> None:
    world = scene(offers, pods)
    there = list(world.cluster.pods.values())
    wanted = gang(world, sizes)
    names = {pod.key[1] for pod in wanted}
    decision = world.plan()
    important = [pod for pod in there if pod.priority >= URGENT]
    if fit_together(wanted, there, world):
        assert set(decision.bound) == names
        assert decision.evicted == set()
    elif fit_together(wanted, important, world):
        assert decision.bound == {}
        assert set(decision.nominated) == names
        victims = decision.evicted
        stay = [pod for pod in there if pod.key[1] not in victims]
        assert fit_together(wanted, stay, world)
        for pod in there:
            if pod.key[1] in victims:
                assert pod.priority < URGENT
                assert not fit_together(wanted, [*stay, pod], world), f"{pod.key} could have stayed"
    else:
        assert decision.bound == decision.nominated == {}
        assert decision.evicted == set()
        assert set(decision.why) == names


@moderately
@given(nodes, running, members)
def test_what_was_promised_comes_true_when_the_victims_are_gone(
    offers: list[tuple[int, int]], pods: list[Runs], sizes: list[tuple[int, int]]
) -> None:
    world = scene(offers, pods)
    gang(world, sizes)
    promised = world.step().nominated
    world.let_go(replaced=True)
    assert not promised or world.step().bound.items() >= promised.items()


@moderately
@given(nodes, running, st.tuples(st.integers(0, 4), st.integers(0, 3)), st.one_of(st.none(), st.integers(0, 1)))
def test_for_a_pod_the_node_is_chosen_whose_victims_weigh_least(
    offers: list[tuple[int, int]], pods: list[Runs], size: tuple[int, int], allowed: int | None
) -> None:
    world = scene(offers, pods, allowed=allowed)
    there = list(world.cluster.pods.values())
    urgent = world.pod("urgent", size[0], URGENT, cpu=size[1])
    decision = world.plan()
    if fit_together([urgent], there, world):
        assert set(decision.bound) == {"urgent"}
        return
    choices = [
        (weight(victims, allowed), name, {pod.key[1] for pod in victims})
        for name in sorted(world.cluster.nodes)
        if (victims := victims_on(name, urgent, there, world, allowed)) is not None
    ]
    if not choices:
        assert decision.evicted == set()
        return
    _, name, who_goes = min(choices, key=lambda choice: choice[:2])
    assert decision.nominated == {"urgent": name}
    assert decision.evicted == who_goes


def victims_on(name: str, urgent: Pod, there: Sequence[Pod], world: World, allowed: int | None) -> list[Pod] | None:
    """All less important pods of the node go; then, one by one, whoever can comes back: the guarded, the important."""
    may_go = sorted((pod for pod in there if pod.node == name and pod.priority < URGENT), key=importance)
    stay = [pod for pod in there if pod not in may_go]
    if not fits_on(name, urgent, stay, world):
        return None
    breaking = broken(may_go, allowed)
    for pod in sorted(may_go, key=lambda pod: (pod not in breaking, importance(pod))):
        if fits_on(name, urgent, [*stay, pod], world):
            stay.append(pod)
    return [pod for pod in may_go if pod not in stay]


def fits_on(name: str, urgent: Pod, stay: Sequence[Pod], world: World) -> bool:
    left = left_on(name, stay, world)
    return all(left[what] >= amount for what, amount in urgent.requests)


def importance(pod: Pod) -> tuple[int, float, tuple[str, str]]:
    return -pod.priority, pod.started, pod.key


def broken(victims: Sequence[Pod], allowed: int | None) -> list[Pod]:
    guarded = [pod for pod in victims if pod.labels.get("app") == "guarded"]
    return [] if allowed is None else guarded[allowed:]


def weight(victims: Sequence[Pod], allowed: int | None) -> tuple[float, ...]:
    """Broken budgets, the highest priority, their sum (more victims always weigh more), their number, the start."""
    highest = max(pod.priority for pod in victims)
    total = sum(pod.priority + 2**40 for pod in victims)
    earliest = min(pod.started for pod in victims if pod.priority == highest)
    return len(broken(victims, allowed)), highest, total, len(victims), -earliest


@moderately
@given(nodes, running, st.tuples(st.integers(0, 4), st.integers(0, 3)), st.tuples(st.integers(1, 4), st.integers(1, 4)))
def test_another_node_never_brings_about_an_eviction_for_a_pod(
    offers: list[tuple[int, int]], pods: list[Runs], size: tuple[int, int], another: tuple[int, int]
) -> None:
    before = scene(offers, pods)
    after = scene(offers, pods)
    after.node("another", *another)
    for world in (before, after):
        world.pod("urgent", size[0], URGENT, cpu=size[1])
    assert after.plan().evicted <= before.plan().evicted
