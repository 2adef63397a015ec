"""A cluster, a scheduler and a recorder that live as long as a worker, replaced when one breaks."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace

import tenacity

from muster import assets, timeouts
from muster.chronicle.chronicle import Chronicle
from muster.chronicle.history import History
from muster.chronicle.recorder import RECORDED, Recorder
from muster.cluster.api import Api
from muster.cluster.local import LocalCluster
from muster.cluster.resources import MPI_JOB, NAMESPACE, NODE, POD, PYTORCH_JOB, SERVICE
from muster.errors import HarnessError
from muster.processes import Process
from muster.stage.canary import NAME as CANARY_NAMESPACE
from muster.stage.canary import Canary
from muster.stage.scene import Scene
from muster.subject import Subject, Workplace, choose
from muster.subject.clients import DEFAULT_CLIENT, Client, choose_client
from muster.subject.operators import DEFAULT_OPERATOR, Operator, choose_operator

_SABOTEUR = "MUSTER_SABOTEUR"  # a command started beside the scheduler: how scenarios are proven able to fail


class Stage:
    """One per worker. `scene()` hands out a clean scene, on a new plane if the old one is broken."""

    def __init__(
        self,
        scheduler: str,
        *,
        operator: str = DEFAULT_OPERATOR,
        client: str = DEFAULT_CLIENT,
        keep: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._choice = choose(scheduler)
        self._operator_kind, self._client_kind = choose_operator(operator), choose_client(client)
        beside = "".join(
            f" --{option} {name}"
            for option, name, usual in (("operator", operator, DEFAULT_OPERATOR), ("client", client, DEFAULT_CLIENT))
            if name != usual
        )
        self._chosen = f"--scheduler {scheduler}{beside}"
        self._beside = {"operator": operator, "client": client}
        self._keep, self._say = keep, say or (lambda _: None)
        self._scenes = 0
        self._saboteur: Process | None = None
        self.cluster: LocalCluster | None = None
        self.operator: Operator | None = None
        self._client: Client | None = None

    def start(self) -> None:
        subject_class, configuration = self._choice
        files = assets.ensure(subject_class.assets, say=self._say)
        self.cluster = LocalCluster(keep=self._keep, say=self._say)
        try:
            connection = self.cluster.start()
            self.api: Api = connection.api
            self.api.guard = self.cluster.check
            self.subject: Subject = subject_class(configuration, Workplace.on(self.cluster, files))
            self.subject.install(self.api)
            self.recorder = Recorder(self.api, (*RECORDED, *self.subject.dialect.recorded)).start()
            self.subject.start()
            self._start_saboteur()
            self._create_namespace(CANARY_NAMESPACE)
            self.canary = Canary(self.api, self.subject.dialect, CANARY_NAMESPACE, self.check)
            self.canary.install()
        except BaseException:
            self.stop()
            raise

    def check(self) -> None:
        """Raise when a component of the plane, the scheduler or the operator has died."""
        assert self.cluster is not None
        self.cluster.check()
        self.subject.check()
        if self.operator is not None:
            self.operator.check()

    def need_operator(self, profile: str) -> Operator:
        """Start the operator when a scenario first speaks of jobs: most never do."""
        if self.operator is not None:
            self.operator.configure(profile)
            return self.operator
        kind = self._operator_kind
        files = assets.ensure(kind.assets, say=self._say)
        workplace = replace(self.subject.workplace, assets=files)
        self.operator = kind(workplace, self.subject.dialect)
        self.operator.install(self.api)
        for resource in (PYTORCH_JOB, MPI_JOB, SERVICE):
            self.recorder.follow(resource)
        self.operator.profile = profile
        self.operator.start()
        return self.operator

    def client(self) -> Client | None:
        """A foreign command line, if one was chosen, ready to be typed at."""
        if self._client is None and self._client_kind is not None:
            files = assets.ensure(self._client_kind.assets, say=self._say)
            self._client = self._client_kind(replace(self.subject.workplace, assets=files))
            self._client.install()
        return self._client

    def scene(self, requirement: str, *, home: str = "") -> Scene:
        """A clean scene in a namespace of its own or at home, and a canary that proves the scheduler ready for it."""
        self._ensure_healthy()
        self._scenes += 1
        namespace = home or f"muster-{os.getpid()}-{self._scenes}"
        if not home:
            self._create_namespace(namespace)
        history = self.recorder.open(History(namespace))
        chronicle = Chronicle(
            history,
            guard=self.check,
            prove_live=lambda: self.canary.sing(history),
            longest_backoff=self.subject.longest_backoff,
            reproduce=f"muster run {self._chosen} --only {requirement} --keep",
        )
        chronicle.prove_live()
        history.began = time.monotonic()
        return Scene(self.api, self.subject, chronicle, namespace, self.need_operator, self.client)

    def strike(self, scene: Scene) -> None:
        """Clear the scene away, unless there is nothing left to clear it from."""
        try:
            scene.strike()
        except HarnessError:
            self.check()  # a dead component explains it
            raise

    def facts(self) -> dict[str, str]:
        """What a reader of the report must know about where and on what the verdicts were made."""
        server = json.loads(self.api.read("/version"))["gitVersion"]
        return {"cluster": "local (embedded)", "kubernetes": server, **self.subject.settings(), **self._beside}

    def leaks(self) -> list[str]:
        """What scenes left behind: nodes and pods that are nobody's any more."""
        nodes = self.api.list(NODE)["items"]
        pods = self.api.list(POD)["items"]
        left = [f"node {one['metadata']['name']}" for one in nodes if one["metadata"]["name"] != CANARY_NAMESPACE]
        left += [f"pod {one['metadata']['namespace']}/{one['metadata']['name']}" for one in pods]
        return left

    def stop(self) -> None:
        for part in ("recorder", "subject"):
            if hasattr(self, part):
                getattr(self, part).stop()
        if self.operator is not None:
            self.operator.kill()
            self.operator = None
        self._client = None
        if self._saboteur is not None:
            self._saboteur.kill()
        if self.cluster is not None:
            self.cluster.stop()
            self.cluster = None

    def _ensure_healthy(self) -> None:
        try:
            self.check()
        except HarnessError:
            self.stop()
            self.start()

    def _create_namespace(self, name: str) -> None:
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        # The controller-manager would create it too, some milliseconds after the first pod was refused for lack of it.
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
        self.api.ensure(account)

    def _start_saboteur(self) -> None:
        command = os.environ.get(_SABOTEUR)
        if not command or self.cluster is None:
            return
        directory = self.cluster.directory
        argv = [*command.split(), str(self.cluster.client_kubeconfig("admin"))]
        self._saboteur = Process("saboteur", argv, directory=directory, log=directory / "saboteur.log")
        self._saboteur.start()
        ready = tenacity.Retrying(
            wait=tenacity.wait_fixed(0.05), stop=tenacity.stop_after_delay(timeouts.SETTING_UP), reraise=True
        )
        ready(self.api.get, NAMESPACE, "saboteur-at-work")
