"""What one workload costs the others: waiting behind a hopeless gang, writes about pending pods, preemption victims."""

from __future__ import annotations

import random
import re
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

from bench.black_box.plane import GPU, GPUS, LIMIT, Case, Namespace, bound_of, pod
from bench.black_box.rest import Manifest, Rest

PLAIN_PODS = 20
LONGER = 0.1  # seconds that a plain pod may wait longer beside a hopeless gang, in the median
PENDING = 500
SECONDS = 20  # that writes are counted, with one pod of another scheduler a second
WRITES = 5.0  # a second, beside those of the change itself
MEMBER_GPUS = 4
SEED = 20261118
_REQUESTS = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')


def _hopeless_gang(here: Namespace) -> None:
    """Workers that fit, and a master whose only node is full. Every plain pod lets the scheduler try it again."""
    cpu_node = here.node_names[0]
    here.change_nodes([cpu_node], labels={"pool": "cpu"})
    here.submit([pod("full", requests={"cpu": "31500m"}, nodeName=cpu_node, labels={"preset": "yes"})])
    for _ in range(3):
        here.probe()
    alone = [here.probe() for _ in range(PLAIN_PODS)]
    workers = [pod(f"worker-{n}", group="mixed", requests={"cpu": "1", GPU: "2"}) for n in range(16)]
    master = pod("master", group="mixed", requests={"cpu": "4"}, nodeSelector={"pool": "cpu"})
    here.submit_gang("mixed", [*workers, master], 17)
    beside = [here.probe() for _ in range(PLAIN_PODS)]
    here.quiet(1, pending=17)
    longer = statistics.median(beside) - statistics.median(alone)
    here.notes.append(
        f"plain pod bound in {1000 * statistics.median(alone):.0f} ms alone (max {1000 * max(alone):.0f}), "
        f"{1000 * statistics.median(beside):.0f} ms beside the gang (max {1000 * max(beside):.0f})"
    )
    here.expect(longer <= LONGER, here.notes[-1])


def _writes(gang: bool, here: Namespace) -> None:
    """The same changes without and with pending pods: the difference is what the pending pods cost."""
    here.submit([])
    here.probe()
    without = _count_writes(here, 0)
    pending = [
        pod(f"pending-{n}", group=f"gang-{n // 10}" if gang else "", requests={"cpu": "1", GPU: str(GPUS + 1)})
        for n in range(PENDING)
    ]
    if gang:
        for number in range(0, PENDING, 10):
            here.submit_gang(f"gang-{number // 10}", pending[number : number + 10], 10)
    else:
        here.submit(pending)
    here.watch.wait(lambda pods: sum(map(_explained, pods)) >= PENDING, LIMIT)
    told = sum(map(_explained, here.watch.pods()))
    _wait_until_quiet(here)
    beside = _count_writes(here, SECONDS)
    more = beside - without
    rate = sum(more.values()) / SECONDS
    largest = ", ".join(f"{what} {count / SECONDS:.1f}" for what, count in more.most_common(3))
    here.notes.append(f"{rate:.1f} writes/s more with {PENDING} pending ({told} with a reason): {largest}")
    here.expect(rate <= WRITES, here.notes[-1])


def _wait_until_quiet(here: Namespace) -> None:
    """Events may come after the conditions that they are about."""
    clock, before = threading.Event(), Counter[str]()
    while (now := writes(here.rest)) != before:
        before = now
        clock.wait(2.0)


def _explained(one: Manifest) -> bool:
    conditions = one["status"].get("conditions", [])
    return any(condition["type"] == "PodScheduled" and condition.get("message") for condition in conditions)


def _count_writes(here: Namespace, first: int) -> Counter[str]:
    """While every second a pod of another scheduler takes the CPUs of one more node."""
    before, began = writes(here.rest), time.monotonic()
    clock = threading.Event()
    for number in range(SECONDS):
        clock.wait(max(0.0, began + number - time.monotonic()))
        node = here.node_names[first + number]
        other = pod(f"other-{first + number}", requests={"cpu": "31500m"}, nodeName=node, schedulerName="another")
        other["metadata"]["labels"]["preset"] = "yes"
        here.rest.request("POST", f"/api/v1/namespaces/{here.name}/pods", other)
    clock.wait(max(0.0, began + SECONDS - time.monotonic()))
    after = writes(here.rest)
    after.subtract(before)
    return after


def writes(rest: Rest) -> Counter[str]:
    """Requests that change something, as the API server counts them. Leases are heartbeats of simulated kubelets."""
    counts: Counter[str] = Counter()
    for fields, value in _REQUESTS.findall(rest.text("GET", "/metrics")):
        of = dict(_LABEL.findall(fields))
        if of["verb"] in ("POST", "PUT", "PATCH", "APPLY", "DELETE") and of["resource"] != "leases":
            counts[f"{of['verb']} {of['resource']}/{of['subresource']}".rstrip("/")] += int(float(value))
    return counts


def _preemption(here: Namespace) -> None:
    """Nodes differ in free GPUs and in the size of their low-priority pods. The gang has as many members as nodes."""
    for name, value in (("low", 10), ("high", 100)):
        manifest = {"metadata": {"name": f"{here.name}-{name}"}, "value": value}
        here.rest.request("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", manifest)
    dice = random.Random(SEED)
    sizes = {name: _filling(dice) for name in here.node_names}
    low = [
        pod(
            f"low-{node}-{number}",
            requests={"cpu": "100m", GPU: str(size)},
            nodeName=node,
            priorityClassName=f"{here.name}-low",
            labels={"preset": "yes"},
        )
        for node, filling in sizes.items()
        for number, size in enumerate(filling)
    ]
    here.submit(low)
    here.watch.wait(lambda pods: all(one["status"].get("phase") == "Running" for one in pods), LIMIT)
    members = len(here.nodes)
    needed = fewest_victims(list(sizes.values()), members)
    requests = {"cpu": "100m", GPU: str(MEMBER_GPUS)}
    high = f"{here.name}-high"
    gang = [pod(f"gang-{n}", group="gang", requests=requests, priorityClassName=high) for n in range(members)]
    here.submit_gang("gang", gang, members, priorityClassName=high)
    placed = here.watch.wait(lambda pods: _members(bound_of(pods)) == members, LIMIT + 0.1 * members)
    here.expect(placed, f"the gang of {members} is not bound")
    taken = sum(name.startswith("low-") for name in here.watch.deleted)
    here.notes.append(f"{taken} victims for {members} members, {needed} needed")
    here.expect(taken == needed, here.notes[-1])
    here.quiet(len(low) - taken + members, pending=0)


def _members(pods: list[Manifest]) -> int:
    return sum(one["metadata"]["name"].startswith("gang-") for one in pods)


def _filling(dice: random.Random) -> list[int]:
    """Sizes of the low-priority pods of one node: alike, so that the number of victims is the same in any order."""
    size = dice.choice((1, 2, 4))
    return [size] * ((GPUS - dice.randrange(6)) // size)


def fewest_victims(nodes: list[list[int]], members: int) -> int:
    """Exact: for each node the fewest victims for 0, 1, … members, combined over all nodes."""
    best = {0: 0}
    for sizes in nodes:
        costs = {count: _fewest_on_node(sizes, count) for count in range(GPUS // MEMBER_GPUS + 1)}
        combined: dict[int, int] = {}
        for have, victims in best.items():
            for count, cost in costs.items():
                total = min(members, have + count)
                combined[total] = min(combined.get(total, victims + cost), victims + cost)
        best = combined
    return best[members]


def _fewest_on_node(sizes: list[int], members: int) -> int:
    """The largest first: any GPU is as good as another."""
    free, victims = GPUS - sum(sizes), 0
    for size in sorted(sizes, reverse=True):
        if free >= members * MEMBER_GPUS:
            break
        free, victims = free + size, victims + 1
    return victims


def cases() -> Iterator[Case]:
    yield Case("plain pods beside a hopeless mixed gang", _hopeless_gang, gangs=True)
    for gang in (False, True):
        yield Case(f"writes, {PENDING} pending {'in gangs' if gang else 'pods'}", partial(_writes, gang), gangs=gang)
    yield Case("fewest victims of a gang", _preemption, gangs=True)
