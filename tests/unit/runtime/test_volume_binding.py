"""WaitForFirstConsumer, on a scripted API: a node is selected, the claim is bound, then the pod."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from scheduler.client import ADDED, ApiError
from scheduler.core.plan import plan
from scheduler.core.policy import Policy
from scheduler.runtime.api_types import CustomResource
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.executor import Executor
from scheduler.runtime.metrics import Metrics
from tests.support.scheduler_requests import RecordingClient
from tests.support.virtual_time import run_in_virtual_time
from tests.support.volume_objects import (
    Object,
    claim,
    observe_claim,
    observe_class,
    observe_node,
    observe_pod,
    observe_volume,
    volume,
)

SELECTED = "volume.kubernetes.io/selected-node"


class Harness(RecordingClient):
    """The scheduling loop on a scripted API, and the part of it that keeps claims and volumes."""

    def __init__(self) -> None:
        self._wake = asyncio.Event()
        self.known = Cache(self._wake.set)
        super().__init__(cache=self.known)
        self.executor = Executor(self, EventRecorder(self), self.known, Metrics())
        self.objects: dict[str, Object] = {}  # by path
        self._loop = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            await asyncio.sleep(0.002)
            self.known.update_pods()
            self._wake.clear()
            actions = plan(self.known.cluster, Policy())
            self.known.cluster.clear_changes()
            for action in actions:
                self.executor.start(action)

    def show(self, found: Object) -> None:
        """A claim or a volume as the API server has it from now on."""
        self.version += 1
        found["metadata"]["resourceVersion"] = str(self.version)
        if "capacity" in found["spec"]:
            self.objects[f"/api/v1/persistentvolumes/{found['metadata']['name']}"] = found
            observe_volume(self.known, found)
        else:
            self.objects[f"/api/v1/namespaces/ns/persistentvolumeclaims/{found['metadata']['name']}"] = found
            observe_claim(self.known, found)

    async def request(self, method: str, path: str, body: object = None, **options: Any) -> bytes:
        answer = await super().request(method, path, body, **options)
        if method == "PATCH" and path in self.objects:
            change, found = msgspec.json.decode(msgspec.json.encode(body)), self.objects[path]
            if change["metadata"].pop("resourceVersion") != found["metadata"]["resourceVersion"]:
                raise ApiError(409, "Conflict", "it has changed")
            found["metadata"] = {**found["metadata"], **change["metadata"]}
            found["spec"] = {**found["spec"], **change.get("spec", {})}
            self.show(found)
            return msgspec.json.encode({"metadata": {"resourceVersion": str(self.version)}})
        return answer

    def bind_claim(self, name: str, to: str) -> None:
        """What the controller of volumes does."""
        found = self.objects[f"/api/v1/namespaces/ns/persistentvolumeclaims/{name}"]
        annotations = {**found["metadata"]["annotations"], "pv.kubernetes.io/bind-completed": "yes"}
        self.show(
            {
                **found,
                "metadata": {**found["metadata"], "annotations": annotations},
                "spec": {**found["spec"], "volumeName": to},
            }
        )

    @property
    def bound(self) -> dict[str, str]:
        found = self.known.api_pods.values()
        return {pod.metadata.name: pod.spec.node_name for pod in found if pod.spec.node_name}

    @property
    def selected(self) -> dict[str, str]:
        """By claim, the selected node."""
        return {
            path.rpartition("/")[2]: found["metadata"]["annotations"][SELECTED]
            for path, found in self.objects.items()
            if SELECTED in found["metadata"].get("annotations", {})
        }

    @property
    def reserved(self) -> dict[str, str]:
        """By volume, the claim that it is reserved for."""
        return {
            path.rpartition("/")[2]: found["spec"]["claimRef"]["name"]
            for path, found in self.objects.items()
            if "claimRef" in found["spec"]
        }


def run(scenario: Callable[[Harness], Awaitable[None]], **nodes: str) -> None:
    """On these nodes, by name and CPUs; two by default."""

    async def go() -> None:
        harness = Harness()
        for name, cpu in (nodes or {"a": "8", "b": "8"}).items():
            observe_node(harness.known, name, cpu=cpu)
        observe_class(harness.known, "local")
        observe_class(harness.known, "fast", provisioner="csi")
        await scenario(harness)

    run_in_virtual_time(go())


def observe_gang(harness: Harness, name: str, min_member: int) -> None:
    metadata = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "5"}
    group = {"metadata": metadata, "spec": {"minMember": min_member}, "status": {"phase": "Inqueue"}}
    harness.known.podgroups.observe("volcano", ADDED, msgspec.convert(group, CustomResource))


def test_a_node_is_selected_once_and_the_pod_is_bound_there_after_its_claim() -> None:
    async def scenario(harness: Harness) -> None:
        harness.show(claim("data", storage_class="fast"))
        observe_pod(harness.known, "first", "data", cpu="8")
        observe_pod(harness.known, "later", cpu="8")
        observe_pod(harness.known, "latest", cpu="8")
        await asyncio.sleep(30)
        assert (harness.selected, harness.bound) == ({"data": "a"}, {"later": "b"})
        assert len(harness.sent("/persistentvolumeclaims/data")) == 1
        harness.show(volume("made", "a", storage_class="fast", claim="data", phase="Bound"))
        await asyncio.sleep(1)
        assert "first" not in harness.bound
        harness.bind_claim("data", "made")
        await asyncio.sleep(1)
        assert harness.bound == {"later": "b", "first": "a"}

    run(scenario)


def test_the_place_is_kept_when_the_claim_is_seen_before_its_volume() -> None:
    async def scenario(harness: Harness) -> None:
        harness.show(claim("data", storage_class="fast"))
        observe_pod(harness.known, "p", "data", cpu="8")
        await asyncio.sleep(1)
        harness.bind_claim("data", "made")
        observe_pod(harness.known, "later", cpu="8")
        await asyncio.sleep(1)
        assert harness.bound == {}
        harness.show(volume("made", "a", storage_class="fast", claim="data", phase="Bound"))
        await asyncio.sleep(1)
        assert harness.bound == {"p": "a"}

    run(scenario, a="8")


def test_a_node_that_the_provisioner_refuses_is_decided_again_after_a_backoff() -> None:
    async def scenario(harness: Harness) -> None:
        harness.show(claim("data", storage_class="fast"))
        observe_pod(harness.known, "p", "data")
        for _ in range(20):
            await asyncio.sleep(10)
            if harness.selected:
                harness.show(claim("data", storage_class="fast"))
            await asyncio.sleep(0.1)
        assert harness.bound == {}
        selections = harness.sent("/persistentvolumeclaims/data")
        assert 4 <= len(selections) <= 10
        conditions = [one.body["status"].get("conditions", [{}]) for one in harness.sent("/pods/p/status")]
        assert 'provisioning failed for PVC "data"' in {condition[0].get("message") for condition in conditions}

    run(scenario)


def test_a_volume_that_exists_is_reserved_and_no_two_pods_get_the_same() -> None:
    async def scenario(harness: Harness) -> None:
        for name in ("a", "b"):
            harness.show(volume(f"on-{name}", name, storage_class="local"))
        for number in range(3):
            harness.show(claim(f"data-{number}", storage_class="local"))
            observe_pod(harness.known, f"p-{number}", f"data-{number}")
        await asyncio.sleep(30)
        assert harness.reserved == {"on-a": "data-0", "on-b": "data-1"}
        assert harness.bound == {}
        reserve = harness.sent("/persistentvolumes/on-a")[0].body
        assert reserve["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}
        assert (reserve["spec"]["claimRef"]["uid"], reserve["spec"]["claimRef"]["namespace"]) == ("data-0", "ns")
        for number, name in enumerate("ab"):
            harness.bind_claim(f"data-{number}", f"on-{name}")
        await asyncio.sleep(1)
        assert harness.bound == {"p-0": "a", "p-1": "b"}
        harness.show(volume("new", "b", storage_class="local"))
        await asyncio.sleep(1)
        assert harness.reserved["new"] == "data-2"

    run(scenario)


def test_a_rejected_write_is_tried_again_and_chooses_anew() -> None:
    async def scenario(harness: Harness) -> None:
        harness.errors["/persistentvolumes/small"] = ApiError(409, "Conflict", "changed")
        harness.show(volume("small", "a", storage_class="local"))
        harness.show(volume("large", "a", storage_class="local", size="9Gi"))
        harness.show(claim("data", storage_class="local"))
        observe_pod(harness.known, "p", "data")
        await asyncio.sleep(0.1)
        harness.show(volume("small", "a", storage_class="local", claim="somebody-elses"))
        await asyncio.sleep(30)
        assert harness.reserved == {"small": "somebody-elses", "large": "data"}

    run(scenario)


def test_a_gang_is_bound_when_all_claims_are_and_its_volumes_are_on_different_nodes() -> None:
    async def scenario(harness: Harness) -> None:
        for name in ("a", "b"):
            harness.show(volume(f"on-{name}", name, storage_class="local"))
        observe_gang(harness, "g", 2)
        for number in range(2):
            harness.show(claim(f"data-{number}", storage_class="local"))
            observe_pod(harness.known, f"m-{number}", f"data-{number}", gang="g")
        await asyncio.sleep(5)
        assert harness.reserved == {"on-a": "data-0", "on-b": "data-1"}
        harness.bind_claim("data-0", "on-a")
        await asyncio.sleep(5)
        assert harness.bound == {}
        harness.bind_claim("data-1", "on-b")
        await asyncio.sleep(1)
        assert harness.bound == {"m-0": "a", "m-1": "b"}

    run(scenario)


def test_members_that_share_a_claim_are_bound_where_its_volume_is() -> None:
    async def scenario(harness: Harness) -> None:
        observe_gang(harness, "g", 3)
        harness.show(claim("shared", storage_class="fast", accessModes=["ReadWriteMany"]))
        for number in range(3):
            observe_pod(harness.known, f"m-{number}", "shared", gang="g", cpu="4")
        await asyncio.sleep(5)
        assert harness.bound == {}
        harness.show(volume("made", "a", "b", storage_class="fast", claim="shared", phase="Bound"))
        harness.bind_claim("shared", "made")
        await asyncio.sleep(5)
        assert sorted(harness.bound) == ["m-0", "m-1", "m-2"]

    run(scenario)


def test_a_gang_with_too_few_volumes_reserves_none() -> None:
    async def scenario(harness: Harness) -> None:
        harness.show(volume("on-a", "a", storage_class="local"))
        observe_gang(harness, "g", 2)
        for number in range(2):
            harness.show(claim(f"data-{number}", storage_class="local"))
            observe_pod(harness.known, f"m-{number}", f"data-{number}", gang="g")
        await asyncio.sleep(60)
        assert (harness.reserved, harness.bound) == ({}, {})

    run(scenario)
