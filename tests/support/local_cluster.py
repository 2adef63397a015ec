"""For tests of the local cluster: nodes, pods and bindings by hand, and a watch that remembers when things happened."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

import tenacity
import urllib3

from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import EVENT, NODE, POD, Resource
from tests.support.processes_left import PATIENCE

Object = dict[str, Any]


def node(name: str, *, gpus: int = 4) -> Object:
    offers = {"cpu": "32", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"capacity": offers, "allocatable": offers},
    }


def pod(name: str, *, job: str = "", **annotations: str) -> Object:
    """Annotations by their last part: `runs_for="1s"` is muster.dev/runs-for."""
    marks = {f"muster.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": {"muster.dev/job": job} if job else {},
            "annotations": marks,
        },
        "spec": {"containers": [{"name": "main", "image": "training"}], "restartPolicy": "Never"},
    }


def bind(api: Api, name: str, node_name: str) -> None:
    target = {"apiVersion": "v1", "kind": "Node", "name": node_name}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
    api.post(POD.path("default", name, "binding"), body)


def mark(api: Api, name: str, **annotations: str) -> None:
    marks = {f"muster.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    api.patch(POD, name, {"metadata": {"annotations": marks}}, namespace="default")


def phase_is(*phases: str) -> Callable[[str, Object], bool]:
    return lambda event, found: event != "DELETED" and found.get("status", {}).get("phase") in phases


def reason_is(reason: str) -> Callable[[str, Object], bool]:
    return lambda _, found: found["reason"] == reason


def is_gone(event: str, _found: Object) -> bool:
    return event == "DELETED"


class Watch:
    """Everything that happens to nodes, pods and events, with the moment of arrival."""

    kinds: ClassVar[tuple[Resource, ...]] = (NODE, POD, EVENT)

    def __init__(self, api: Api) -> None:
        self.seen: list[tuple[float, str, str, Object]] = []
        self._news = threading.Condition()
        for resource in self.kinds:
            stream = _from_now_on(api, resource)
            threading.Thread(target=self._follow, args=(resource, stream), daemon=True).start()

    def until(self, resource: Resource, name: str, holds: Callable[[str, Object], bool], *, since: float = 0) -> float:
        """The moment at which it held for the first time."""
        deadline, looked = time.monotonic() + PATIENCE, 0
        with self._news:
            while True:
                for moment, kind, event, found in self.seen[looked:]:
                    looked += 1
                    named = _name(kind, found) == name and kind == resource.kind
                    if named and moment >= since and holds(event, found):
                        return moment
                left = deadline - time.monotonic()
                assert left > 0, f"never happened to {resource.kind} {name}"
                self._news.wait(left)

    def reasons(self, name: str) -> list[str]:
        with self._news:
            return [
                found["reason"] for _, kind, _, found in self.seen if kind == "Event" and _name(kind, found) == name
            ]

    def _follow(self, resource: Resource, stream: urllib3.BaseHTTPResponse) -> None:
        rest = b""
        try:
            for chunk in stream.stream(65536):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in filter(None, lines):
                    change = json.loads(line)
                    with self._news:  # a moment of its own: two that come in one piece come one after the other
                        self.seen.append((time.monotonic(), resource.kind, change["type"], change["object"]))
                        self._news.notify_all()
        except urllib3.exceptions.HTTPError:  # the cluster was stopped
            return


@tenacity.retry(
    retry=tenacity.retry_if_exception(lambda trouble: _not_yet(trouble)),
    wait=tenacity.wait_fixed(0.05),
    stop=tenacity.stop_after_delay(PATIENCE),
    reraise=True,
)
def _from_now_on(api: Api, resource: Resource) -> urllib3.BaseHTTPResponse:
    """A kind that was defined a moment ago can be listed some milliseconds before it can be watched."""
    version = api.list(resource)["metadata"]["resourceVersion"]
    return api.stream(resource.path(), {"watch": "1", "resourceVersion": version}, idle=600)


def _not_yet(trouble: BaseException) -> bool:
    return isinstance(trouble, urllib3.exceptions.HTTPError) or (
        isinstance(trouble, ApiRefused) and trouble.status == 429
    )


def _name(kind: str, found: Object) -> str:
    name: str = found["involvedObject"]["name"] if kind == "Event" else found["metadata"]["name"]
    return name
