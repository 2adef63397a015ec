"""The fields that the reference scheduler knows, on a real API server with the CRDs of Volcano and Koordinator.

The API server's own schema is compared with the table of fields; pods with refused fields stay pending and say why.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from muster import assets
from muster.cluster.local import LocalCluster
from muster.cluster.resources import EVENT, POD
from muster.schedulers.crds import install_crds
from muster.schedulers.volcano import VOLCANO_GROUP, VOLCANO_QUEUE
from tests.integration.test_scheduler_process import Scheduler
from tests.support.field_schemas import CRD_FIELDS, crd_differences, crd_fields, openapi_schema, pod_spec_differences
from tests.support.local_cluster import Object, Watch, node, phase_is, pod

pytestmark = pytest.mark.plane

_CRDS = ("volcano-crds.yaml", "koordinator-crds.yaml")
_NOT_SUPPORTED = "is not supported by this scheduler"


@pytest.fixture(scope="module")
def plane() -> Iterator[tuple[LocalCluster, Watch]]:
    with LocalCluster() as cluster:
        for path in assets.ensure(_CRDS, print_line=print).values():
            install_crds(cluster.connection.api, path)
        cluster.connection.api.create(node("n", gpus=8))
        yield cluster, Watch(cluster.connection.api)


def test_the_table_has_every_field_of_the_api_servers_pod(plane: tuple[LocalCluster, Watch]) -> None:
    document = json.loads(plane[0].connection.api.read("/openapi/v3/api/v1"))
    assert pod_spec_differences(openapi_schema(document)) == []


def test_the_table_has_every_field_of_the_published_crds() -> None:
    found = {
        part: fields
        for path in assets.ensure(_CRDS, print_line=print).values()
        for part, fields in crd_fields(path).items()
    }
    assert {part: set(names.split()) for part, names in CRD_FIELDS.items()} == found
    assert [line for part, fields in found.items() for line in crd_differences(part, fields)] == []


def test_pods_with_refused_fields_stay_pending_and_name_them(plane: tuple[LocalCluster, Watch]) -> None:
    cluster, watch = plane
    api = cluster.connection.api
    metadata = {"name": "g", "namespace": "default"}
    group = {"minMember": 1, "networkTopology": {"mode": "hard", "highestTierAllowed": 1}}
    api.create({"apiVersion": VOLCANO_GROUP.api_version, "kind": "PodGroup", "metadata": metadata, "spec": group})
    for name, spec in (("shared", {"weight": 2}), ("plain", {"weight": 1, "reclaimable": True, "parent": "root"})):
        queue: Object = {"kind": "Queue", "metadata": {"name": name}, "spec": spec}
        api.create({"apiVersion": VOLCANO_QUEUE.api_version, **queue})
    disk = {"name": "disk", "iscsi": {"targetPortal": "10.0.0.1:3260", "iqn": "iqn.2001-04.com.example:disk", "lun": 0}}
    annotation_gang = "gang.scheduling.koordinator.sh"
    cases: dict[str, tuple[Object, dict[str, str], str]] = {
        "claims": ({"resourceClaims": [{"name": "d", "resourceClaimName": "gpu"}]}, {}, "spec.resourceClaims"),
        "disk": ({"volumes": [disk]}, {}, "spec.volumes.iscsi"),
        "annotated": (
            {},
            {f"{annotation_gang}/name": "a", f"{annotation_gang}/min-available": "2"},
            f"annotation {annotation_gang}/name",
        ),
        "member": ({}, {"scheduling.k8s.io/group-name": "g"}, "PodGroup default/g: spec.networkTopology"),
        "queued": ({}, {"scheduling.volcano.sh/queue-name": "shared"}, "queue shared: spec.weight"),
    }
    running = Scheduler(cluster.client_kubeconfig("admin"))
    try:
        for name, (more, annotations, _) in cases.items():
            api.create(_pod(name, more, annotations))
        for name, (_, _, field) in cases.items():
            watch.until(POD, name, _is_pending_with(f"{field} {_NOT_SUPPORTED}"))
            watch.until(EVENT, name, _has_note(f"{field} {_NOT_SUPPORTED}"))
        api.create(_pod("control", {}, {"scheduling.volcano.sh/queue-name": "plain"}))
        watch.until(POD, "control", phase_is("Running"))
        assert not any(api.get(POD, name, "default")["spec"].get("nodeName") for name in cases)
    finally:
        running.stop()


def _pod(name: str, more: Object, annotations: dict[str, str]) -> Object:
    found = pod(name)
    found["spec"] |= {"schedulerName": "muster-scheduler", **more}
    found["metadata"]["annotations"] |= annotations
    return found


def _is_pending_with(text: str) -> Callable[[str, Object], bool]:
    def holds(_: str, found: Object) -> bool:
        conditions = found["status"].get("conditions", [])
        return any(
            (one["type"], one["status"]) == ("PodScheduled", "False") and text in one.get("message", "")
            for one in conditions
        )

    return holds


def _has_note(text: str) -> Callable[[str, Object], bool]:
    return lambda _, found: found["reason"] == "FailedScheduling" and text in json.dumps(found)
