"""An existing cluster for tests, on an embedded control plane: tenants with pods, nodes, quotas and queues, and a user.

The user of the run is a service account with the roles that `muster rbac` prints. The audit log of the API server has
every change that it requests, so that a test can see what a run has changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import tenacity
import yaml

from muster import assets
from muster.cluster.api import MERGE_PATCH, Api, ApiRefused
from muster.cluster.existing import rbac
from muster.cluster.interface import Connection
from muster.cluster.local import LocalCluster
from muster.cluster.resources import NAMESPACE, NODE, POD, PRIORITY_CLASS, RESOURCE_QUOTA, SERVICE_ACCOUNT, Resource
from muster.schedulers.base import ProcessContext
from muster.schedulers.crds import install_crds
from muster.schedulers.kube_scheduler import KubeScheduler
from muster.schedulers.volcano import VOLCANO_GROUP, VOLCANO_QUEUE
from muster.suite import paths
from tests.support.existing_webhook import Webhook
from tests.support.local_cluster import Watch

PATIENCE = 300.0  # seconds, on a machine that has other things to do
UNHURRIED = {**os.environ, "MUSTER_TIMEOUT_SCALE": "5"}
_OWN_PLACE, _OWN_NAME = re.compile(r"muster-[a-z0-9]{7}(-\w+)?$"), re.compile(r"-muster-[a-z0-9]{7}$")
TENANT = "tenant=yes"
RUN_USER = "system:serviceaccount:team-a:muster"
KINDS = (NAMESPACE, NODE, POD, PRIORITY_CLASS, RESOURCE_QUOTA, VOLCANO_GROUP, VOLCANO_QUEUE, SERVICE_ACCOUNT)
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "verbs": ["get", "list", "watch"]},
        {"level": "None", "resources": [{"group": "authorization.k8s.io"}, {"group": "authentication.k8s.io"}]},
        {"level": "Metadata", "users": [RUN_USER]},
        {"level": "None"},
    ],
}
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
CRDS = ("volcano-podgroups", "volcano-queues", "volcano-commands", "koordinator-podgroups")
JOB_CRDS = ("kubeflow-pytorchjobs", "kubeflow-mpijobs")


class SharedCluster(LocalCluster):
    """A control plane whose KWOK and simulator manage the tenants only, with an audit log of the API server."""

    @property
    def audit_log(self) -> Path:
        return self.directory / "audit.log"

    def _run(self, name: str, argv: Sequence[str | Path]) -> None:
        if name == "kube-apiserver":
            policy = self.directory / "audit.yaml"
            policy.write_text(json.dumps(AUDIT_POLICY))
            argv = [*argv, f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log}"]
        if name == "kwok":
            argv = [f"--manage-nodes-with-label-selector={TENANT}" if "manage-all" in str(w) else w for w in argv]
        if name == "simulator":
            argv = [*argv, f"--only={TENANT}"]
        super()._run(name, argv)


class World:
    """The shared cluster with its tenants and its scheduler, and a kubeconfig for the user of the run."""

    def __init__(self, cluster: SharedCluster, directory: Path) -> None:
        self.cluster, self.directory = cluster, directory
        self.api: Api = cluster.connection.api
        self.kubeconfig = directory / "run-user.kubeconfig"
        self.settings = directory / "scheduler.yaml"
        files = assets.ensure(KubeScheduler.assets, print_line=lambda _: None)
        self.scheduler = KubeScheduler("default", ProcessContext.on(cluster, files))
        self.webhook = Webhook(directory / "webhook")

    def set_up(self) -> None:
        install_definitions(self.api)
        self.api.post(_WEBHOOKS, self.webhook.configuration())
        self.scheduler.start()
        watch = Watch(self.api)
        for manifest in tenant_objects():
            self.api.ensure(manifest)
        for number in (1, 2):
            seen(watch, "Pod", f"theirs-{number}", lambda pod: pod.get("status", {}).get("phase") == "Running")
        self._create_quota()
        self.grant_roles()
        settings = yaml.safe_load((paths.manifests() / "schedulers" / "kube-scheduler" / "default.yaml").read_text())
        self.settings.write_text(yaml.safe_dump(settings))

    def _create_quota(self) -> None:
        """Once the pods are there, or one of them may be counted only minutes later; done when they are counted."""
        hard = {"pods": "10"}
        self.api.create(_object("v1", "ResourceQuota", "theirs", "team-a", spec={"hard": hard}))
        counted = {"hard": hard, "used": {"pods": "2"}}
        patience = tenacity.stop_after_delay(PATIENCE)
        for attempt in tenacity.Retrying(stop=patience, wait=tenacity.wait_fixed(0.1), reraise=True):
            with attempt:
                assert self.api.get(RESOURCE_QUOTA, "theirs", "team-a").get("status") == counted

    def grant_roles(self, *options: str) -> None:
        """Apply what `muster rbac` prints, and write a kubeconfig for the user of the run."""
        for role in yaml.safe_load_all(muster("rbac", *options, "--service-account", "team-a:muster").stdout):
            version, plural = role["apiVersion"], role["kind"].lower() + "s"
            namespace = role["metadata"].get("namespace")
            path = f"/apis/{version}/{f'namespaces/{namespace}/' if namespace else ''}{plural}"
            name = role["metadata"]["name"]
            with contextlib.suppress(ApiRefused):  # it exists: the patch changes it
                self.api.post(path, role)
            self.api._json("PATCH", f"{path}/{name}", body=role, content_type=MERGE_PATCH)
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 7200},
        }
        answer = self.api.post(SERVICE_ACCOUNT.path("team-a", "muster", "token"), request)
        host = json.loads(self.cluster.client_kubeconfig("admin").read_text())["clusters"][0]
        document = {
            "clusters": [host],
            "users": [{"name": "muster", "user": {"token": answer["status"]["token"]}}],
            "contexts": [{"name": "there", "context": {"cluster": host["name"], "user": "muster"}}],
            "current-context": "there",
        }
        self.kubeconfig.write_text(json.dumps(document))
        self._await_roles(Connection(self.kubeconfig).api, real_nodes=bool(options))

    def _await_roles(self, api: Api, *, real_nodes: bool) -> None:
        """The API server learns of roles and bindings from watches: ask until it has."""
        known = tenacity.Retrying(
            retry=tenacity.retry_if_result(bool),
            wait=tenacity.wait_fixed(0.1),
            stop=tenacity.stop_after_delay(PATIENCE),
        )
        known(rbac.missing_permissions, api, groups=rbac.served_groups(api), real_nodes=real_nodes)

    environment: ClassVar[dict[str, str]] = UNHURRIED

    def run(self, *arguments: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        """`muster run` there, as the user of the run."""
        command = [*_MUSTER, "run", "--kubeconfig", str(self.kubeconfig), *arguments]
        out = subprocess.PIPE
        place = cwd or self.directory
        return subprocess.Popen(
            command, cwd=place, env=self.environment, stdout=out, stderr=subprocess.STDOUT, text=True
        )

    def theirs(self) -> dict[str, Any]:
        """Everything that lasts, without what the API server notes down beside it."""
        found: dict[str, Any] = {}
        for kind in KINDS:
            for one in self.api.list(kind)["items"]:
                metadata = one["metadata"]
                for noise in ("resourceVersion", "managedFields"):
                    metadata.pop(noise, None)
                _forget_heartbeats(kind, one)
                found[f"{kind.kind} {metadata.get('namespace', '')}/{metadata['name']}"] = one
        return found

    def writes(self) -> list[tuple[str, str, str, str]]:
        """What the run changed, or tried to change: verb, resource, namespace, name."""
        lines = self.cluster.audit_log.read_text().splitlines() if self.cluster.audit_log.exists() else []
        return [_written(json.loads(line)) for line in lines]

    def changes(self) -> int:
        """How many there were so far."""
        return self.cluster.audit_log.read_bytes().count(b"\n") if self.cluster.audit_log.exists() else 0

    def stray_writes(self, since: int) -> list[tuple[str, str, str, str]]:
        """Changes that were not to something of a run: neither in a namespace of one, nor by a name of one."""
        return [one for one in self.writes()[since:] if not _is_own(*one)]

    def forbidden(self) -> list[str]:
        """Requests of the run that were forbidden."""
        said = [json.loads(line) for line in self.cluster.audit_log.read_text().splitlines()]
        return [
            f"{one['verb']} {one['requestURI']}"
            for one in said
            if one.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"
        ]


def results_in(place: Path) -> dict[str, dict[str, Any]]:
    """What the newest run in a directory has written of each behaviour."""
    lines = (place / "results" / "latest" / "results.jsonl").read_text().splitlines()
    return {one["id"]: one for one in map(json.loads, lines)}


def install_definitions(api: Api) -> None:
    """The kinds of the schedulers and of training jobs that an existing cluster serves."""
    for name in (*CRDS, *JOB_CRDS):
        install_crds(api, paths.manifests() / "crds" / f"{name}.yaml")


def seen(watch: Watch, kind: str, name: str, holds: Callable[[dict[str, Any]], bool] = lambda _: True) -> str:
    """Wait until there is one whose name begins so and of which it holds; its full name."""
    with watch._news:
        while True:
            for _, found_kind, _, found in watch.seen:
                full: str = found["metadata"]["name"]
                if found_kind == kind and full.startswith(name) and holds(found):
                    return full
            assert watch._news.wait(PATIENCE), f"no {kind} {name} was seen"


@contextlib.contextmanager
def shared_cluster(directory: Path) -> Iterator[World]:
    with SharedCluster() as cluster:
        world = World(cluster, directory)
        try:
            world.set_up()
            yield world
        finally:
            world.scheduler.stop()
            world.webhook.stop()


def tenant_objects() -> list[dict[str, Any]]:
    """Two tenants' nodes and pods, and objects with the names that the walk-throughs use."""
    offers = {"cpu": "16", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "2"}
    nodes = [
        _object("v1", "Node", f"gpu-{n}", labels={"tenant": "yes"}, status={"capacity": offers, "allocatable": offers})
        for n in (1, 2)
    ]
    classes = [
        _object("scheduling.k8s.io/v1", "PriorityClass", "critical", value=5, description="theirs"),
        _object("scheduling.k8s.io/v1", "PriorityClass", "medium", value=3, description="theirs"),
    ]
    queue = _object("scheduling.volcano.sh/v1beta1", "Queue", "test", spec={"weight": 7})
    group = _object(
        "scheduling.volcano.sh/v1beta1", "PodGroup", "theirs", "team-a", spec={"minMember": 1, "queue": "test"}
    )
    limits = {"limits": {"nvidia.com/gpu": "2"}}
    spec = {"priorityClassName": "medium", "containers": [{"name": "main", "image": "theirs", "resources": limits}]}
    pods = [_object("v1", "Pod", f"theirs-{n}", "team-a", labels={"tenant": "yes"}, spec=spec) for n in (1, 2)]
    # The controller-manager makes the default one, too; a pod that comes before it is refused.
    accounts = [_object("v1", "ServiceAccount", name, "team-a") for name in ("muster", "default")]
    return [_object("v1", "Namespace", "team-a"), *accounts, *nodes, *classes, queue, group, *pods]


_MUSTER = [sys.executable, "-c", "import sys; from muster.cli import main; sys.exit(main())"]


def muster(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*_MUSTER, *arguments], env=UNHURRIED, capture_output=True, text=True, check=False)


def kill_everything(run: subprocess.Popen[str]) -> None:
    """The command and all that it started, at once, as the out-of-memory killer or a power cut would."""
    family = [run.pid]
    for pid in family:
        with contextlib.suppress(OSError):  # it may have ended by itself
            os.kill(pid, signal.SIGSTOP)  # a stopped process starts no more children
            for thread in Path(f"/proc/{pid}/task").iterdir():
                family += map(int, (thread / "children").read_text().split())
    for pid in family:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    run.communicate(timeout=PATIENCE)


def _is_own(_verb: str, resource: str, namespace: str, name: str) -> bool:
    if resource == "namespaces":
        return bool(_OWN_PLACE.match(name))
    return bool(_OWN_PLACE.match(namespace) or _OWN_NAME.search(name))


def _object(version: str, kind: str, name: str, namespace: str = "", **parts: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": parts.pop("labels", {})} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **parts}


def _forget_heartbeats(kind: Resource, one: dict[str, Any]) -> None:
    if kind is NODE:
        for condition in one.get("status", {}).get("conditions", []):
            condition.pop("lastHeartbeatTime", None)


def _written(line: dict[str, Any]) -> tuple[str, str, str, str]:
    about = line.get("objectRef", {})
    resource = "/".join(filter(None, (about.get("resource", ""), about.get("subresource", ""))))
    return line["verb"], resource, about.get("namespace", ""), about.get("name", "")
