"""Muster's recorder beside the official client's typed watch: same API server, same events, same time.

    python -m bench.recording [--events 10000] [--repeats 3]

Each watcher is a process of its own. Writers stamp every change with the time; lag is arrival minus stamp, cost is the
watcher's CPU time per event. Nothing may be missed: the final state must equal a fresh list.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from muster.cluster.local import LocalCluster
from muster.cluster.resources import POD
from muster.cluster.run_scope import open_api

STAMP = "bench.muster.dev/sent"
LAST = "bench.muster.dev/last"
NAMESPACE = "default"
WRITERS = 2
CHANGES_PER_POD = 10
GIVE_UP_AFTER = 180  # seconds


class Watched(NamedTuple):
    """The measurements of one watcher."""

    name: str
    events: int
    cpu_per_event: float  # microseconds
    lags: list[float]  # milliseconds
    missed: int


def write(kubeconfig: str, writer: int, pods: int) -> None:
    """Create pods and touch each of them, as fast as one process can."""
    api = open_api(Path(kubeconfig))
    for number in range(pods):
        name = f"writer-{writer}-{number}"
        meta: dict[str, Any] = {"name": name, "namespace": NAMESPACE, "annotations": {STAMP: str(time.time())}}
        spec = {"containers": [{"name": "main", "image": "none"}]}
        api.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
        for change in range(1, CHANGES_PER_POD):
            marks = {STAMP: str(time.time())}
            if change == CHANGES_PER_POD - 1:
                marks[LAST] = "yes"
            api.patch(POD, name, {"metadata": {"annotations": marks}}, namespace=NAMESPACE)


def recorded(kubeconfig: str, pods: int, ready: Any, results: Any) -> None:
    from muster.recording.history import History
    from muster.recording.recorder import Recorder

    api = open_api(Path(kubeconfig))
    recorder = Recorder(api, (POD,)).start()
    history = recorder.open(History(NAMESPACE))
    began = time.process_time()
    offset = time.time() - time.monotonic()
    ready.set()
    deadline = time.monotonic() + GIVE_UP_AFTER
    with history.changed:
        while (
            sum(LAST in pod.latest.metadata.annotations for pod in history.pods) < pods and time.monotonic() < deadline
        ):
            history.changed.wait(1)
            history.changed.release()  # let the recorder work: counting on each event is the bench's cost, not its own
            time.sleep(0.5)
            history.changed.acquire()
    cpu = time.process_time() - began
    records = history.records["Pod"]
    lags = [record.moment.at + offset - float(record.object.metadata.annotations[STAMP]) for record in records]
    listed = {one["metadata"]["uid"]: one["metadata"]["resourceVersion"] for one in api.list(POD)["items"]}
    state = {
        one.object.metadata.uid: one.object.metadata.resource_version for one in recorder.kinds["Pod"].state().values()
    }
    missed = pods * CHANGES_PER_POD - len(records) + sum(state.get(uid) != version for uid, version in listed.items())
    recorder.stop()
    results.put(Watched("muster recorder", len(records), cpu / len(records) * 1e6, [lag * 1e3 for lag in lags], missed))


def typed(kubeconfig: str, pods: int, ready: Any, results: Any) -> None:
    from kubernetes import client, config, watch

    config.load_kube_config(kubeconfig)
    core = client.CoreV1Api()
    version = core.list_namespaced_pod(NAMESPACE).metadata.resource_version
    began, lags, done = time.process_time(), [], 0
    ready.set()
    stream = watch.Watch().stream(
        core.list_namespaced_pod, NAMESPACE, resource_version=version, timeout_seconds=GIVE_UP_AFTER
    )
    for event in stream:
        marks = event["object"].metadata.annotations
        lags.append((time.time() - float(marks[STAMP])) * 1e3)
        done += LAST in marks
        if done == pods:
            break
    cpu = time.process_time() - began
    missed = pods * CHANGES_PER_POD - len(lags)
    results.put(Watched("official typed watch", len(lags), cpu / max(1, len(lags)) * 1e6, lags, missed))


def once(events: int) -> list[Watched]:
    with LocalCluster() as cluster:
        kubeconfig = str(cluster.client_kubeconfig("admin"))
        pods = events // CHANGES_PER_POD
        context = multiprocessing.get_context("spawn")
        results = context.Queue()
        watchers: list[Callable[..., None]] = [recorded, typed]
        processes = []
        for watcher in watchers:
            ready = context.Event()
            process = context.Process(target=watcher, args=(kubeconfig, pods, ready, results))
            process.start()
            ready.wait(60)
            processes.append(process)
        began = time.monotonic()
        with ProcessPoolExecutor(WRITERS, mp_context=context) as pool:
            list(pool.map(write, [kubeconfig] * WRITERS, range(WRITERS), [pods // WRITERS] * WRITERS))
        rate = events / (time.monotonic() - began)
        print(f"  {events} events written at {rate:.0f} per second by {WRITERS} processes on {os.cpu_count()} cores")
        watched = [results.get(timeout=GIVE_UP_AFTER) for _ in processes]
        for process in processes:
            process.join()
        return watched


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    costs: dict[str, list[float]] = {}
    for number in range(options.repeats):
        print(f"run {number + 1} of {options.repeats}")
        for one in once(options.events):
            costs.setdefault(one.name, []).append(one.cpu_per_event)
            cuts = statistics.quantiles(one.lags, n=100)
            print(
                f"  {one.name:22} {one.events:6} events, {one.missed} missed, {one.cpu_per_event:7.0f} µs CPU per event"
                f", lag p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms"
            )
    ours, theirs = costs["muster recorder"], costs["official typed watch"]
    ratios = [other / own for own, other in zip(ours, theirs, strict=True)]
    print(f"the typed watch costs {min(ratios):.1f} to {max(ratios):.1f} times as much CPU per event")


if __name__ == "__main__":
    main()
