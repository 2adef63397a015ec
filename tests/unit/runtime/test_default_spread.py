"""Default topology spread: which pods get one, by which selector, and what becomes of it when objects change."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import msgspec
import pytest

from scheduler.client import ADDED, DELETED, MODIFIED, Client
from scheduler.core.actions import Bind
from scheduler.core.plan import plan
from scheduler.core.pod_constraints import Selector, SelectorRequirement
from scheduler.core.policy import Policy
from scheduler.runtime.api_types import ApiPod
from scheduler.runtime.cache import Cache
from scheduler.runtime.default_spread import REPLICA_SET, STATEFUL_SET, ApiReplicaSet, ApiService
from tests.support.volume_objects import NAMESPACE, observe_node

LABELS = {"app": "web", "tier": "front"}
APP, TIER = SelectorRequirement("app", "In", ("web",)), SelectorRequirement("tier", "In", ("front",))
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}


class World:
    """A cache, and the selectors by which its pods are spread."""

    def __init__(self) -> None:
        self.wakes = 0
        self.cache = Cache(self._wake)

    def _wake(self) -> None:
        self.wakes += 1

    def pod(self, name: str = "p", change: str = ADDED, **more: Any) -> None:
        """A pod whose uid is its name; `more` are fields of its metadata, or of its spec."""
        metadata = {"namespace": NAMESPACE, "name": name, "uid": name, "resourceVersion": "5", "labels": LABELS}
        metadata |= {
            key: more.pop(key) for key in ("labels", "annotations", "ownerReferences", "namespace") if key in more
        }
        spec = {"schedulerName": "muster-scheduler", "containers": [{"name": "main"}], **more}
        self.cache.observe_pod(change, msgspec.convert({"metadata": metadata, "spec": spec}, ApiPod))

    def service(self, name: str, change: str = ADDED, /, **selector: str) -> None:
        self.cache.selectors.observe_service(change, _with_labels(name, selector))

    def replication_controller(self, name: str, change: str = ADDED, /, **selector: str) -> None:
        self.cache.selectors.observe_replication_controller(change, _with_labels(name, selector))

    def controller(self, kind: tuple[str, str], name: str, selector: dict[str, Any], change: str = ADDED) -> None:
        found = {"metadata": {"namespace": NAMESPACE, "name": name, "uid": name}, "spec": {"selector": selector}}
        self.cache.selectors.observe_controller(kind, change, msgspec.convert(found, ApiReplicaSet))

    def selector(self, pod: str = "p") -> Selector:
        self.cache.update_pods()
        return self.cache.cluster.pods[pod].default_spread


def _with_labels(name: str, selector: dict[str, str]) -> ApiService:
    found = {"metadata": {"namespace": NAMESPACE, "name": name, "uid": name}, "spec": {"selector": selector or None}}
    return msgspec.convert(found, ApiService)


def owned_by(kind: str, name: str = "owner", version: str = "apps/v1", *, controller: bool = True) -> dict[str, Any]:
    return {
        "ownerReferences": [{"uid": "u", "apiVersion": version, "kind": kind, "name": name, "controller": controller}]
    }


@pytest.fixture
def world() -> World:
    return World()


def test_a_pod_without_a_service_or_controller_has_none(world: World) -> None:
    world.service("other", app="db")
    world.service("more", app="web", tier="back")
    world.service("without-selector")
    world.pod()
    assert world.selector() == ()


def test_the_selectors_of_all_matching_services_must_match(world: World) -> None:
    world.service("one", app="web")
    world.service("two", tier="front")
    world.service("other", app="db")
    world.pod()
    assert world.selector() == (APP, TIER)


@pytest.mark.parametrize("kind", [REPLICA_SET, STATEFUL_SET])
def test_the_selector_of_the_controller_must_match_too(world: World, kind: tuple[str, str]) -> None:
    hashed = {"key": "hash", "operator": "Exists"}
    world.controller(kind, "owner", {"matchLabels": {"app": "web"}, "matchExpressions": [hashed]})
    world.pod(**owned_by(kind[1]))
    assert world.selector() == (APP, SelectorRequirement("hash", "Exists"))
    world.service("front", app="web", tier="front")
    assert world.selector() == (APP, SelectorRequirement("hash", "Exists"), TIER)


def test_a_replication_controller_selects_by_labels(world: World) -> None:
    world.replication_controller("owner", tier="front")
    world.pod(**owned_by("ReplicationController", version="v1"))
    assert world.selector() == (TIER,)


@pytest.mark.parametrize(
    "owner",
    [
        owned_by("ReplicaSet", controller=False),
        owned_by("ReplicaSet", name="other"),
        owned_by("ReplicaSet", version="example.com/v1"),
    ],
)
def test_an_owner_that_is_not_the_controller_does_not_count(world: World, owner: dict[str, Any]) -> None:
    world.controller(REPLICA_SET, "owner", {"matchLabels": LABELS})
    world.pod(**owner)
    assert world.selector() == ()


@pytest.mark.parametrize(
    "packed",
    [
        {"topologySpreadConstraints": [SPREAD]},
        {"annotations": {"scheduling.k8s.io/group-name": "gang"}},
        owned_by("PyTorchJob", version="kubeflow.org/v1"),
        owned_by("Job", version="batch/v1"),
        {"nodeName": "a"},
        {"schedulerName": "default-scheduler"},
        {"namespace": "elsewhere"},
    ],
)
def test_these_pods_have_none(world: World, packed: dict[str, Any]) -> None:
    """Those with a spread of their own, members of a gang and of training jobs, bound ones, those of others."""
    world.service("front", app="web")
    world.pod(**packed)
    world.pod("control")
    assert (world.selector(), world.selector("control")) == ((), (APP,))


def test_a_changed_selector_concerns_the_pending_pods_that_it_matches(world: World) -> None:
    world.pod()
    world.pod("other", labels={"app": "db"})
    other = world.cache.cluster.pods["other"]
    world.wakes = 0
    world.service("front", app="web")
    assert (world.wakes, world.selector()) == (1, (APP,))
    world.wakes = 0
    world.service("front", MODIFIED, app="web")
    assert world.wakes == 0
    world.service("front", MODIFIED, tier="front")
    assert world.selector() == (TIER,)
    world.service("front", DELETED, tier="front")
    assert world.selector() == ()
    assert world.cache.cluster.pods["other"] is other


def test_a_controller_may_be_seen_after_its_pods(world: World) -> None:
    world.pod(**owned_by("ReplicaSet"))
    world.controller(REPLICA_SET, "owner", {"matchLabels": LABELS})
    assert world.selector() == (APP, TIER)
    world.controller(REPLICA_SET, "owner", {"matchLabels": LABELS}, DELETED)
    assert world.selector() == ()


def test_changes_concern_no_pod_that_is_gone_or_bound(world: World) -> None:
    world.pod("gone")
    world.pod("bound")
    world.service("front", app="web")
    world.pod("gone", DELETED)
    world.pod("bound", MODIFIED, nodeName="a")
    world.wakes = 0
    world.cache.update_pods()
    world.service("front", MODIFIED, tier="front")
    assert (world.wakes, world.selector("bound")) == (0, ())


def test_pods_of_different_services_are_alike(world: World) -> None:
    """A default only ranks nodes: what decides whether a pod fits is one object for all of them."""
    world.service("front", app="web")
    world.service("back", app="db")
    world.pod("one")
    world.pod("two", labels={"app": "db"})
    one, two = (world.cache.cluster.pending[name] for name in ("one", "two"))
    assert one.default_spread != two.default_spread
    assert one.requirements is two.requirements


def test_a_confirmed_binding_is_no_change(world: World) -> None:
    world.service("front", app="web")
    world.pod()
    world.cache.assumed_pods.assume_bound("p", "a")
    assert world.selector() == ()
    world.wakes = 0
    world.pod(change=MODIFIED, nodeName="a")
    assert world.wakes == 0


def test_a_rejected_binding_leaves_the_default_as_it_was(world: World) -> None:
    world.service("front", app="web")
    world.pod()
    world.cache.assumed_pods.assume_bound("p", "a")
    world.cache.assumed_pods.forget_binding("p")
    assert world.selector() == (APP,)


def test_the_pods_of_a_service_are_bound_to_all_zones(world: World) -> None:
    for zone in "abc":
        observe_node(world.cache, f"{zone}1", **{"topology.kubernetes.io/zone": zone})
    world.service("front", app="web")
    for number in range(6):
        world.pod(f"p{number}")
        world.pod(f"bare{number}", labels={})
    actions = plan(world.cache.cluster, Policy())
    nodes = {one.pod.key[1]: one.node for one in actions if isinstance(one, Bind)}
    of_service = [nodes[f"p{number}"] for number in range(6)]
    assert sorted(of_service) == ["a1", "a1", "b1", "b1", "c1", "c1"]
    assert len({nodes[f"bare{number}"] for number in range(6)}) == 1


@pytest.mark.parametrize("scoped", [True, False])
def test_on_an_existing_cluster_these_kinds_are_not_asked_for(
    world: World, monkeypatch: pytest.MonkeyPatch, *, scoped: bool
) -> None:
    monkeypatch.setattr("scheduler.runtime.cache.IS_SCOPED", scoped)
    requested: list[str] = []

    def note(_client: object, path: str, *_: object, **_options: object) -> None:
        requested.append(path)

    monkeypatch.setattr("scheduler.runtime.cache.Reflector", note)
    world.cache.reflectors(MagicMock(Client))
    kinds = {path.rpartition("/")[2] for path in requested}
    assert "pods" in kinds
    assert kinds.isdisjoint({"services", "replicationcontrollers", "replicasets", "statefulsets"}) == scoped
