"""A cluster, a scheduler and a recorder that live as long as a worker, replaced when one breaks."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import tenacity

from muster import assets, timeouts
from muster.chronicle.chronicle import Chronicle
from muster.chronicle.history import History
from muster.chronicle.lifelines import ROLE_LABEL
from muster.chronicle.recorder import RECORDED, Recorder
from muster.chronicle.records import Moment
from muster.cluster.api import Api
from muster.cluster.clusters import Cluster
from muster.cluster.connections import Connection
from muster.cluster.foreign import ForeignCluster
from muster.cluster.foreign.inspection import is_served
from muster.cluster.foreign.rights import served_groups
from muster.cluster.resources import MPI_JOB, NAMESPACE, NODE, POD, PYTORCH_JOB, SERVICE, Resource
from muster.commands import on_somebodys, run_command
from muster.errors import HarnessError, NotStaged
from muster.processes import Process
from muster.stage.canary import NAME as CANARY_NAMESPACE
from muster.stage.canary import Canary
from muster.stage.neighbours import Neighbours
from muster.stage.own_clusters import Wish, own_cluster, own_subject, say_what_is_kept
from muster.stage.residents import brings, check_companions, subject_on
from muster.stage.scene import Scene
from muster.subject import Subject, choose
from muster.subject.clients import DEFAULT_CLIENT, Client, choose_client
from muster.subject.operators import DEFAULT_OPERATOR, Operator, choose_operator

_JUST_NOW = 5.0  # seconds: a pod that was placed so recently may have made room for itself
_NEWS_OVERTAKE = 0.25  # seconds by which watches of different kinds may be apart where versions do not compare
_SABOTEUR = "MUSTER_SABOTEUR"  # a command started beside the scheduler: how scenarios are proven able to fail


class Stage:
    """One per worker. `scene()` hands out a clean scene, on a new plane if the old one is broken."""

    def __init__(
        self,
        scheduler: str,
        *,
        operator: str = DEFAULT_OPERATOR,
        client: str = DEFAULT_CLIENT,
        foreign: Connection | None = None,
        run: str = "",
        own: Wish | None = None,
        keep: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """`foreign` is somebody's cluster to run on, under the id `run`; without it the stage makes its `own`."""
        self._choice, self._scheduler = choose(scheduler), scheduler
        self._foreign, self._run, self._wish = foreign, run, own or Wish()
        if foreign:
            check_companions(scheduler, operator, client)
        self._operator_kind, self._client_kind = choose_operator(operator), choose_client(client)
        where = on_somebodys(str(foreign.kubeconfig), foreign.context) if foreign else str(self._wish)
        self._command = run_command(scheduler, operator, client, where)
        self._beside = {"operator": operator, "client": client}
        self._keep, self._say = keep, say or (lambda _: None)
        self.failed = False  # set as soon as a scenario has: only then there is something to keep
        self._scenes = 0
        self._left: list[str] = []
        self._live: Sequence[Process] = ()  # the scheduler's processes that have bound a canary
        self._saboteur: Process | None = None
        self._neighbours: Neighbours | None = None
        self.cluster: Cluster | None = None
        self.operator: Operator | None = None
        self._client: Client | None = None

    def start(self) -> None:
        try:
            self._start()
        except BaseException:
            self.failed = not self._foreign  # what did not start has left logs; on somebody's cluster nothing is left
            self.stop()
            raise

    def _start(self) -> None:
        subject_class, _ = self._choice
        if self._foreign:
            brought = brings(self._scheduler)
            files = assets.ensure(subject_class.assets if brought else (), say=self._say)
            place = ForeignCluster(self._foreign, run=self._run, scheduler=brought, say=self._say)
            self.cluster = place
            self.api: Api = place.start().api
            self.subject: Subject = subject_on(place, self._scheduler, files)
            self._neighbours = Neighbours(self._foreign, place.fence, self._could_have_preempted).start()
        else:
            files = assets.ensure(subject_class.assets, say=self._say)
            self.cluster = own_cluster(self._wish, self._scheduler, keep=self._keep, say=self._say)
            self.api = self.cluster.start().api
            self.subject = own_subject(self.cluster, self._scheduler, files)
        self.api.guard = self.cluster.check
        self.subject.install(self.api)
        self.recorder = Recorder(self.api, (*RECORDED, *self.subject.dialect.recorded)).start()
        self.subject.start()
        self._start_saboteur()
        place_of_canaries = self._own_namespace or CANARY_NAMESPACE
        if not self._own_namespace:
            self._create_namespace(CANARY_NAMESPACE)
        self.canary = Canary(self.api, self.subject.dialect, place_of_canaries, self.check)
        self.canary.install()
        if self._foreign:
            self._must_be_answered()

    @property
    def _own_namespace(self) -> str:
        """The run's first namespace on somebody's cluster; empty on one of our own."""
        return self.cluster.fence.token if isinstance(self.cluster, ForeignCluster) else ""

    def _must_be_answered(self) -> None:
        """The scheduler that is claimed to be there really places a pod, before any scenario asks it to."""
        history = self.recorder.open(History(self._own_namespace))
        try:
            self._prove_live(history)
        except HarnessError as trouble:
            self.check()
            name = self.subject.dialect.scheduler_name
            raise HarnessError(
                f"nobody places pods for the scheduler {name!r} there ({trouble}): is {self.subject.name} running, and"
                " is that the name that it answers to?"
            ) from None
        if isinstance(self.cluster, ForeignCluster):
            self.cluster.look_for_limits()

    def _prove_live(self, history: History) -> Moment:
        """A canary is bound. The first one after a start of the scheduler has to wait for the whole of it."""
        started = self.subject.processes
        moment = self.canary.sing(history, timeouts.CANARY if started == self._live else timeouts.COMPONENT_READY)
        self._live = started
        return moment

    def _could_have_preempted(self, priority: int) -> list[str]:
        """Pods of ours for whose sake one of that priority may just have been asked to go."""
        history = self.recorder.history if hasattr(self, "recorder") else None
        if history is None:
            return []
        reclaims = self.subject.dialect.queue_kind is not None  # from another queue, whatever the priority
        with history.changed:
            return [
                life.name
                for life in history.pods
                if (life.priority > priority or reclaims)
                and life.gone is None
                and (life.bound is None or time.monotonic() - life.bound.at < _JUST_NOW)
            ]

    def check(self) -> None:
        """Raise when a component of the plane, the scheduler or the operator has died."""
        assert self.cluster is not None
        self.cluster.check()
        self.subject.check()
        if self._neighbours is not None:
            self._neighbours.check()
        if self.operator is not None:
            self.operator.check()

    def _undisturbed(self, history: History) -> None:
        """What a scenario relies on: everything lives, and nobody else's pod takes room on its nodes."""
        self.check()
        if self._neighbours is not None:
            with history.changed:
                lives = [life for life in history.nodes.values() if life.gone is None]
                nodes = [life.name for life in lives if ROLE_LABEL not in life.node.metadata.labels]
            self._neighbours.keep_off(nodes)

    def need_operator(self, profile: str) -> Operator:
        """Start the operator when a scenario first speaks of jobs: most never do."""
        if self.operator is not None:
            self.operator.configure(profile)
            return self.operator
        if self._foreign:
            self._must_be_served(PYTORCH_JOB, MPI_JOB)
        kind = self._operator_kind
        files = assets.ensure(kind.assets, say=self._say)
        workplace = replace(self.subject.workplace, assets=files)
        self.operator = kind(workplace, self.subject.dialect)
        if not self._foreign:
            self.operator.install(self.api)
        for resource in (PYTORCH_JOB, MPI_JOB, SERVICE):
            self.recorder.follow(resource)
        self.operator.profile = profile
        self.operator.start()
        return self.operator

    def _must_be_served(self, *kinds: Resource) -> None:
        groups = served_groups(self.api)
        if absent := [kind.plural for kind in kinds if not is_served(self.api, kind, groups)]:
            raise NotStaged(f"the cluster does not serve {' and '.join(absent)}")

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
        namespace = home or f"{self._own_namespace or f'muster-{os.getpid()}'}-{self._scenes}"
        if not home:
            self._create_namespace(namespace)
        tolerance = 0.0 if self.api.one_order else _NEWS_OVERTAKE
        history = self.recorder.open(History(namespace, tolerance=tolerance))
        chronicle = Chronicle(
            history,
            guard=lambda: self._undisturbed(history),
            prove_live=lambda: self._prove_live(history),
            longest_backoff=self.subject.longest_backoff,
            reproduce=f"{self._command} --only {requirement} --keep",
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
        there = self._foreign
        where = f"context {there.context or 'current'} (run {self._run})" if there else self._wish.described
        return {"cluster": where, "kubernetes": server, **self.subject.settings(), **self._beside}

    def leaks(self) -> list[str]:
        """What scenes left behind: nodes and pods that are nobody's any more."""
        nodes = self.api.list(NODE)["items"]
        pods = self.api.list(POD)["items"]
        left = [f"node {one['metadata']['name']}" for one in nodes if one["metadata"]["name"] != CANARY_NAMESPACE]
        left += [f"pod {one['metadata']['namespace']}/{one['metadata']['name']}" for one in pods]
        return left

    @property
    def keeps_failures(self) -> bool:
        """On somebody's cluster what is kept for debugging is the scene itself; on ours it is the directory."""
        return self._keep and self._foreign is not None

    @property
    def left(self) -> list[str]:
        """What of a run on somebody's cluster would not go, by name."""
        return self._left

    @property
    def alarm(self) -> str:
        """Why the whole run must end, if it must."""
        return self._neighbours.alarm if self._neighbours else ""

    def stop(self) -> None:
        if self._neighbours is not None:
            self._neighbours.stop()
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
            self.cluster.keep = self._keep and self.failed
            self.cluster.stop()
            say_what_is_kept(self.cluster, self._say)
            self._left = self.cluster.left if isinstance(self.cluster, ForeignCluster) else []
            self.cluster = None

    def _ensure_healthy(self) -> None:
        try:
            self.check()
        except HarnessError:
            if self.alarm:  # starting again would only do it again
                raise
            self.stop()
            self.start()

    def _create_namespace(self, name: str) -> None:
        if isinstance(self.cluster, ForeignCluster):
            self.cluster.add_namespace(name)
            return
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        # The controller-manager would create it too, some milliseconds after the first pod was refused for lack of it.
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
        self.api.ensure(account)
        for manifest in self.subject.dialect.in_namespace(name):
            self.api.ensure(manifest)

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
