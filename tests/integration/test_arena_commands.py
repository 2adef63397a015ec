"""The commands on jobs against a real API server; the tests act as operator and scheduler."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tenacity
import yaml

from muster.arena import submission
from muster.arena.node_usage import node_address
from muster.arena.queries import served_kinds
from muster.cli import main
from muster.cluster.api import Api, ApiRefused
from muster.cluster.job_kinds import MPI, PYTORCH
from muster.cluster.local import LocalCluster
from muster.cluster.resources import (
    CONFIG_MAP,
    DEFINITION,
    DEPLOYMENT,
    EVENT,
    NODE,
    POD,
    PRIORITY_CLASS,
    SERVICE,
    job_resource,
)
from tests.support.local_cluster import Watch, bind, is_gone, node, phase_is, reason_is
from tests.support.processes_left import PATIENCE

pytestmark = pytest.mark.plane
JOBS = job_resource(PYTORCH)
Muster = Callable[..., tuple[int, str, str]]
Object = dict[str, Any]


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as running:
        yield running


@pytest.fixture
def api(cluster: LocalCluster) -> Api:
    return cluster.connection.api


@pytest.fixture
def muster(cluster: LocalCluster, capsys: pytest.CaptureFixture[str]) -> Muster:
    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        place = 2 if arguments[0] in ("submit", "top") else 1
        options = ["--kubeconfig", str(cluster.client_kubeconfig("admin"))]
        code = main([*arguments[:place], *options, *arguments[place:]])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def crd(kind: str, *versions: str) -> Object:
    """A minimal CRD, with one rule so that a job can be rejected."""
    policy = {"type": "string", "enum": ["None", "Running"]}
    run_policy = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {"cleanPodPolicy": policy},
    }
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"runPolicy": run_policy}}
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": DEFINITION.api_version,
        "kind": DEFINITION.kind,
        "metadata": {"name": f"{plural}.kubeflow.org"},
        "spec": {
            "group": "kubeflow.org",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[0],
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                }
                for version in versions
            ],
        },
    }


def test_without_crds_no_object_is_created(muster: Muster, api: Api) -> None:
    code, out, err = muster("submit", "pytorch", "--name=a", "--image=i", "true")
    assert (code, out) == (2, "")
    assert "does not serve PyTorchJob (kubeflow.org/v1): install the operator" in err
    code, _, err = muster("list")
    assert code == 2
    assert "does not serve PyTorchJob (kubeflow.org/v1) nor MPIJob (kubeflow.org/v1alpha1 or v1)" in err
    for arguments in (("get", "a"), ("events", "a"), ("delete", "a"), ("get", "a", "--type=mpi")):
        code, out, err = muster(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "MPIJob (kubeflow.org/v1alpha1 or v1): install the operator" in err
    made = {one["metadata"]["name"] for one in api.list(CONFIG_MAP, "default")["items"]}
    assert made <= {"kube-root-ca.crt"}  # which a controller writes, sooner or later


@pytest.fixture(scope="module")
def served(cluster: LocalCluster) -> None:
    api = cluster.connection.api
    for manifest in (crd("PyTorchJob", "v1"), crd("MPIJob", "v1alpha1")):
        api.ensure(manifest)
    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_not_result(lambda ready: ready),
        wait=tenacity.wait_fixed(0.05),
        stop=tenacity.stop_after_delay(PATIENCE),
    )  # discovery follows Established after some milliseconds, and no event tells when
    attempts(lambda: _answers(api))
    for name, value in (("medium", 1_000_000), ("critical", 1_100_000)):
        meta = {"name": name}
        api.ensure(
            {"apiVersion": PRIORITY_CLASS.api_version, "kind": "PriorityClass", "metadata": meta, "value": value}
        )


def _answers(api: Api) -> bool:
    try:
        return len([api.list(one.resource) for one in served_kinds(api)]) == 2
    except ApiRefused:
        return False


def create_pods(api: Api, name: str) -> list[Object]:
    """Create the pods of a PyTorchJob, as an operator would."""
    job = api.get(JOBS, name, "default")
    owner = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": name, "uid": job["metadata"]["uid"]}
    pods = []
    for role, spec in job["spec"]["pytorchReplicaSpecs"].items():
        for index in range(spec["replicas"]):
            template = spec["template"]
            labels = {**template["metadata"]["labels"], "training.kubeflow.org/replica-type": role.lower()}
            pod_name = f"{name}-{role.lower()}-{index}"
            meta = {"name": pod_name, "namespace": "default", "labels": labels, "ownerReferences": [owner]}
            meta["annotations"] = template["metadata"]["annotations"]
            policy = {"restartPolicy": "Never"}
            pods.append(
                api.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"] | policy})
            )
    return pods


def set_condition(api: Api, name: str, kind: str, **more: str) -> None:
    condition = {"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": more.get("at")}
    api.patch(JOBS, name, {"status": {"conditions": [condition]}}, namespace="default", subresource="status")


@pytest.mark.usefixtures("served")
def test_a_job_from_submission_to_deletion(muster: Muster, api: Api) -> None:
    watch = Watch(api)
    for number in (1, 2):
        api.create(node(f"n{number}", gpus=4))
    asked = ("--name=big", "--gpus=4", "--workers=2", "--priority=medium", "--image=i", "--tensorboard", "python a.py")
    code, out, err = muster("submit", "pytorch", *asked)
    assert code == 0
    assert [line.partition(" level=info msg=")[2] for line in err.splitlines()] == [
        '"The Job big has been submitted successfully"',
        '"You can run `muster get big --type pytorchjob -n default` to check the job status"',
    ]
    assert out.splitlines() == [
        "configmap/big-pytorchjob created",
        "configmap/big-pytorchjob labeled",
        "service/big-tensorboard created",
        "deployment.apps/big-tensorboard created",
        "pytorchjob.kubeflow.org/big created",
    ]
    assert api.get(CONFIG_MAP, "big-pytorchjob", "default")["metadata"]["labels"]["createdBy"] == "muster"
    uid = api.get(JOBS, "big", "default")["metadata"]["uid"]
    for resource, name in (
        (CONFIG_MAP, "big-pytorchjob"),
        (SERVICE, "big-tensorboard"),
        (DEPLOYMENT, "big-tensorboard"),
    ):
        assert api.get(resource, name, "default")["metadata"]["ownerReferences"][0]["uid"] == uid

    pods = [pod["metadata"]["name"] for pod in create_pods(api, "big")]
    assert json.loads(muster("get", "big", "-o", "json")[1])["status"] == "PENDING"
    for number, name in enumerate(pods, start=1):
        bind(api, name, f"n{number}")
        watch.until(POD, name, phase_is("Running"))
    watch.until(NODE, "n1", lambda _, found: bool(node_address(found)))  # pods run on a node that has none yet
    set_condition(api, "big", "Running")
    code, out, _ = muster("get", "big", "-o", "json")
    seen = json.loads(out)
    assert (code, seen["status"], seen["priority"], seen["chiefName"]) == (0, "RUNNING", "medium", "big-master-0")
    assert [(one["name"], one["node"], one["requestGPUs"]) for one in seen["instances"]] == [
        ("big-master-0", "n1", 4),
        ("big-worker-0", "n2", 4),
    ]
    assert seen["tensorboard"].startswith("http://172.")
    assert "8/8 (100%)" in muster("top", "node")[1]
    detail = muster("top", "node", "-d")[1]
    assert "default    big-worker-0  4             4" in detail
    assert "big" in muster("list")[1]
    simulated = "there is no log of big-master-0: its node n1 is simulated, no process runs there\n"
    assert muster("logs", "big") == (0, "", simulated)

    api.delete(POD, "big-worker-0", "default")
    watch.until(POD, "big-worker-0", is_gone)
    watch.until(POD, "big-master-0", phase_is("Failed"))  # the workload simulator knows them as members of one job
    set_condition(api, "big", "Failed", at="2099-01-01T00:00:00Z")
    out = muster("get", "big", "-e")[1]
    assert out.startswith("STATUS: FAILED\nNAMESPACE: default\nPRIORITY: medium\n")
    assert "big-worker-0  " not in out.partition("Events:")[0]
    reasons = ("Pulled", "Created", "Started", "Killing")
    for reason in reasons:
        watch.until(EVENT, "big-worker-0", reason_is(reason))
    events = muster("events", "big")[1]
    for reason in reasons:
        assert any(reason in line and "pod/big-worker-0" in line for line in events.splitlines()), events
    assert "0/8 (0%)" in muster("top", "node")[1]

    code, out, _ = muster("delete", "big")
    assert (code, out) == (0, "The training job big has been deleted successfully\n")
    assert muster("get", "big")[0] == 64
    for resource in (JOBS, SERVICE, DEPLOYMENT, CONFIG_MAP):
        assert not [one for one in api.list(resource, "default")["items"] if "big" in one["metadata"]["name"]]
    assert "pod/big-worker-0" in muster("events", "big")[1]


@pytest.mark.usefixtures("served")
def test_a_rejected_job_leaves_no_objects(muster: Muster, api: Api) -> None:
    code, out, err = muster(
        "submit", "pytorch", "--name=no", "--image=i", "--tensorboard", "--clean-task-policy=All", "true"
    )
    assert (code, out) == (2, "")
    assert "rejects pytorchjob.kubeflow.org/no: " in err
    assert err.endswith("no object of the job was kept\n")
    for resource in (CONFIG_MAP, SERVICE, DEPLOYMENT):
        assert not [one for one in api.list(resource, "default")["items"] if one["metadata"]["name"].startswith("no-")]


@pytest.mark.usefixtures("served")
def test_existing_objects_are_not_touched(muster: Muster, api: Api) -> None:
    theirs = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "his-tensorboard"}}
    api.post(SERVICE.path("default"), {**theirs, "spec": {"ports": [{"port": 80}]}})
    code, _, err = muster("submit", "pytorch", "--name=his", "--image=i", "--tensorboard", "true")
    assert code == 64
    assert "service/his-tensorboard exists already in namespace default" in err
    assert not [one for one in api.list(CONFIG_MAP, "default")["items"] if one["metadata"]["name"].startswith("his-")]
    assert muster("submit", "pytorch", "--name=his", "--image=i", "true")[0] == 0
    for kind in ("pytorch", "mpi"):
        code, _, err = muster("submit", kind, "--name=his", "--image=i", "true")
        assert code == 64
        assert "pytorchjob 'his' exists already in namespace default: choose another name, or delete it" in err
    assert muster("delete", "his", "hers")[0] == 64
    assert api.get(JOBS, "his", "default")
    assert muster("delete", "his", "his")[0] == 0
    assert api.get(SERVICE, "his-tensorboard", "default")


@pytest.mark.usefixtures("served")
def test_a_name_that_two_jobs_have_needs_a_type(muster: Muster, api: Api) -> None:
    assert muster("submit", "pytorch", "--name=twin", "--image=i", "true")[0] == 0
    other = {"apiVersion": "kubeflow.org/v1alpha1", "kind": "MPIJob", "metadata": {"name": "twin"}, "spec": {}}
    api.post(job_resource(MPI, "v1alpha1").path("default"), other)
    for arguments in (("get", "twin"), ("events", "twin"), ("delete", "twin")):
        code, out, err = muster(*arguments)
        assert (code, out) == (64, "")
        assert "2 training jobs are named 'twin': say which with --type pytorchjob or --type mpijob" in err
    for kind in ("mpi", "pytorch"):
        assert muster("delete", "twin", f"--type={kind}")[0] == 0


@pytest.mark.usefixtures("served")
def test_an_object_that_is_created_meanwhile_is_not_touched(
    muster: Muster, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late-pytorchjob"}, "data": {"a": "b"}}
    api.post(CONFIG_MAP.path("default"), theirs)
    monkeypatch.setattr(submission, "look_up", lambda *_: None)  # as if it did not exist yet
    code, out, err = muster("submit", "pytorch", "--name=late", "--image=i", "true")
    assert (code, out) == (64, "")
    assert "configmap/late-pytorchjob exists already in namespace default: choose another name" in err
    assert api.get(CONFIG_MAP, "late-pytorchjob", "default")["data"] == {"a": "b"}
    api.delete(CONFIG_MAP, "late-pytorchjob", "default")


@pytest.mark.usefixtures("served")
def test_an_object_that_cannot_be_deleted_again_is_named(
    muster: Muster, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_rights(*_: object, **__: object) -> None:
        raise ApiRefused(403, "Forbidden", "deletion is forbidden", "delete it")

    with monkeypatch.context() as patched:
        patched.setattr(Api, "delete", no_rights)
        code, out, err = muster("submit", "pytorch", "--name=half", "--image=i", "--clean-task-policy=All", "true")
    assert (code, out) == (2, "")
    assert err.endswith("configmap/half-pytorchjob could not be deleted again\n")
    api.delete(CONFIG_MAP, "half-pytorchjob", "default")


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    "arguments",
    [
        ("submit", "pytorch", "--name=a", "--image=i", "true"),
        ("get", "a"),
        ("list",),
        ("events", "a"),
        ("delete", "a"),
        ("top", "node"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_missing_rights_are_one_message(
    arguments: tuple[str, ...], cluster: LocalCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without credentials, and with an unknown token."""
    known = yaml.safe_load(cluster.client_kubeconfig("admin").read_text())
    place = 2 if arguments[0] in ("submit", "top") else 1
    for user, message in (({}, "(403 Forbidden)"), ({"token": "wrong"}, "rejected the request: 401 Unauthorized")):
        known["users"][0]["user"] = user
        file = tmp_path / "kubeconfig"
        file.write_text(yaml.safe_dump(known))
        assert main([*arguments[:place], "--kubeconfig", str(file), *arguments[place:]]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert message in err


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("submit", "pytorch", "--name=x", "--image=i", "-p=urgent", "true"),
            "there is no PriorityClass 'urgent': choose",
        ),
        (("submit", "pytorch", "--name=x", "--image=i", "-n=nowhere", "true"), "there is no namespace 'nowhere'"),
        (("get", "x"), "there is no training job 'x' in namespace default"),
        (("events", "x"), "there is no training job 'x' in namespace default"),
        (("delete", "x"), "nothing was deleted"),
    ],
)
def test_a_missing_object_is_one_message(muster: Muster, api: Api, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = muster(*arguments)
    assert (code, out) == (64, "")
    assert message in err
    assert err.count("\n") == 1
    assert api.list(JOBS)["items"] == []


@pytest.mark.usefixtures("served")
def test_an_mpi_job_in_the_version_that_is_served(muster: Muster) -> None:
    code, out, _ = muster("submit", "mpi", "--name=m", "--image=i", "--gpus=1", "--dry-run", "mpirun true")
    assert code == 0
    record, job = yaml.safe_load_all(out)
    assert (record["metadata"]["name"], job["apiVersion"]) == ("m-mpijob", "kubeflow.org/v1alpha1")
    assert job["spec"]["replicas"] == 1
    assert muster("list") == (0, "", "there are no training jobs in namespace default\n")
    assert muster("submit", "mpi", "--name=m", "--image=i", "--gpus=1", "mpirun true")[0] == 0
    assert "MPIJOB" in muster("list", "-A")[1]
    assert muster("delete", "m", "--type=mpi")[0] == 0


@pytest.mark.usefixtures("served")
def test_events_of_an_earlier_job_of_the_same_name_are_left_out(muster: Muster, api: Api) -> None:
    about = {"kind": "Pod", "name": "again-worker-0", "namespace": "default"}
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "old", "namespace": "default"}}
    long_ago = {"lastTimestamp": "2020-01-01T00:00:00Z", "reason": "Killing", "type": "Normal"}
    api.post(EVENT.path("default"), {**event, "involvedObject": about, **long_ago})
    assert "Killing" in muster("events", "again")[1]
    assert muster("submit", "pytorch", "--name=again", "--image=i", "true")[0] == 0
    assert muster("events", "again") == (0, "", "there are no events of again yet\n")
    muster("delete", "again")
