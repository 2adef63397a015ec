"""The recorder against a real API server: nothing is missed, whatever happens to the connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from muster.cluster.api import Api
from muster.cluster.local import LocalCluster
from muster.cluster.resources import POD
from muster.errors import HarnessError
from muster.processes import Process
from muster.processes.readiness import wait_until
from muster.recording.history import History
from muster.recording.recorder import KindRecorder, Recorder
from tests.support.processes_left import PATIENCE

pytestmark = pytest.mark.plane


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        yield cluster


@pytest.fixture
def api(cluster: LocalCluster) -> Api:
    return cluster.connection.api


@pytest.fixture
def recorder(api: Api) -> Iterator[Recorder]:
    recorder = Recorder(api).start()
    yield recorder
    recorder.stop()


def pod(name: str) -> dict[str, object]:
    container = {"name": "main", "image": "none"}
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}}


def wait_for(history: History, true: Callable[[], bool], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    with history.changed:
        while not true():
            assert time.monotonic() < deadline, "not true in time"
            history.changed.wait(0.2)


def versions(api: Api) -> dict[str, str]:
    listed = api.list(POD)["items"]
    return {one["metadata"]["uid"]: one["metadata"]["resourceVersion"] for one in listed}


def recorded(recorder: Recorder) -> dict[str, str]:
    state = recorder.kinds["Pod"].state().values()
    return {one.object.metadata.uid: one.object.metadata.resource_version for one in state}


def clear(api: Api, history: History) -> None:
    api.delete_all(POD, "default", gracePeriodSeconds="0")
    wait_for(history, lambda: all(pod.gone for pod in history.pods))


def test_dropped_connections_lose_nothing(api: Api, recorder: Recorder) -> None:
    history = recorder.open(History("default"))
    stop = threading.Event()

    def cut() -> None:
        while not stop.wait(0.05):
            recorder.kinds["Pod"].drop_connection()

    cutter = threading.Thread(target=cut)
    cutter.start()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: api.create(pod(f"dropped-{number}")), range(300)))
    stop.set()
    cutter.join()
    wait_for(history, lambda: len(history.pods) == 300)
    added = [record for record in history.records["Pod"] if record.change == "ADDED"]
    assert len(added) == 300
    assert history.gaps == []
    assert recorded(recorder) == versions(api)
    clear(api, history)


def test_every_update_of_one_object_is_recorded(api: Api, recorder: Recorder) -> None:
    history = recorder.open(History("default"))
    api.create(pod("flooded"))
    updates, began = 300, time.monotonic()

    def touch(number: int) -> None:
        api.patch(POD, "flooded", {"metadata": {"annotations": {"touched": str(number)}}}, namespace="default")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(touch, range(updates)))
    rate = updates / (time.monotonic() - began)
    wait_for(history, lambda: recorded(recorder) == versions(api))
    flooded = history.pod("flooded")
    assert flooded is not None
    seen = {state.metadata.annotations.get("touched") for _, state in flooded.states}
    assert {str(number) for number in range(updates)} <= seen, f"updates lost at {rate:.0f} per second"
    clear(api, history)


def test_an_api_server_restart_is_survived_or_marked_as_a_gap(cluster: LocalCluster, api: Api) -> None:
    recorder = Recorder(api).start()
    history = recorder.open(History("default"))
    api.create(pod("before"))
    wait_for(history, lambda: history.pod("before") is not None)
    old = cluster.processes["kube-apiserver"]
    old.kill()
    restarted = Process(old.name, old.argv, directory=old.directory, log=old.log)
    cluster.processes["kube-apiserver"] = restarted
    restarted.start()
    wait_until(lambda: answers(api), restarted, [restarted])
    for number in range(20):
        api.ensure(pod(f"after-{number}"))
    wait_for(history, lambda: all(history.pod(f"after-{number}") for number in range(20)))
    wait_for(history, lambda: recorded(recorder) == versions(api))
    added = {record.object.metadata.name for record in history.records["Pod"] if record.change == "ADDED"}
    assert "Pod" in history.gaps or {f"after-{number}" for number in range(20)} <= added
    recorder.stop()


def answers(api: Api) -> bool:
    try:
        return api.read("/readyz") == b"ok"
    except HarnessError:
        return False


class Sink(Recorder):
    """A recorder without a server."""

    def __init__(self) -> None:
        super().__init__(Api(None), ())
        self.history = History("default")


def line(change: str, version: int, name: str = "one") -> bytes:
    body = {
        "metadata": {"name": name, "uid": name, "namespace": "default", "resourceVersion": str(version)},
        "spec": {},
    }
    return msgspec.json.encode({"type": change, "object": body})


def test_replayed_events_are_dropped_and_bookmarks_move_on() -> None:
    sink = Sink()
    kind = KindRecorder(Api(None), POD, sink)
    kind._take([line("ADDED", 5), line("MODIFIED", 6)])
    kind._take([line("ADDED", 5), line("MODIFIED", 6), line("MODIFIED", 7)])
    kind._take([line("BOOKMARK", 20)])
    kind._take([line("MODIFIED", 9), line("DELETED", 21)])
    assert sink.history is not None
    assert [record.moment.version for record in sink.history.records["Pod"]] == [5, 6, 7, 21]
    assert kind.state() == {}


def test_410_lists_again_and_marks_a_gap(api: Api) -> None:
    recorder = Recorder(api).start()
    history = recorder.open(History("default"))
    kind = recorder.kinds["Pod"]
    api.create(pod("early"))
    wait_for(history, lambda: history.pod("early") is not None)
    kind.version = 1  # too old for the server
    kind.drop_connection()
    wait_for(history, lambda: history.gaps == ["Pod"])
    api.create(pod("late"))
    wait_for(history, lambda: history.pod("late") is not None)
    assert recorded(recorder) == versions(api)
    recorder.stop()


def test_what_came_before_a_broken_line_is_kept(api: Api) -> None:
    recorder = Recorder(api, (POD,))
    history = recorder.open(History("default"))
    meta = {"name": "whole", "namespace": "default", "uid": "1", "resourceVersion": "7"}
    good = msgspec.json.encode({"type": "ADDED", "object": {**pod("whole"), "metadata": meta}})
    with pytest.raises(msgspec.DecodeError):
        recorder.kinds["Pod"]._take([good, b"\x17\x03\x03 broken"])
    assert [pod.name for pod in history.pods] == ["whole"]
    assert recorder.kinds["Pod"].version == 7
