"""The reference scheduler that comes with this suite: a process of its own, spoken to in the words of the documents."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import ClassVar

import yaml

from muster import __version__, suite
from muster.cluster.api import Api
from muster.processes import Process
from muster.subject.definitions import define
from muster.subject.dialect import Dialect
from muster.subject.reference_dialect import NAMES, KoordinatorWords, VolcanoWords
from muster.subject.subjects import Subject

_MODULE = "MUSTER_REFERENCE"  # a module and its words to run instead: how scenarios are proven able to fail
SCHEDULER = NAMES[0]
_DEFINITIONS = ("volcano-podgroups", "volcano-queues", "volcano-commands", "koordinator-podgroups")
_SOURCE = "scheduler/core"
_CLAIMS = {
    "gangs": f"{_SOURCE}/placing.py",
    "taints": f"{_SOURCE}/nodes.py",
    "preemption": f"{_SOURCE}/preempt.py",
    "job-preemption": f"{_SOURCE}/preempt.py",
    "documents": f"{_SOURCE}/plan.py",
    "jobs": "scheduler/operator/reconciling.py",
}
_QUEUES = {"queues": f"{_SOURCE}/admit.py"}


class Reference(Subject):
    """`default` speaks to it in Volcano's words, `koordinator` in Koordinator's."""

    name: ClassVar[str] = "reference"
    assets: ClassVar[tuple[str, ...]] = ()
    configurations: ClassVar[tuple[str, ...]] = ("default", "koordinator")
    answers_to: tuple[str, ...] = NAMES

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        return {**_CLAIMS, **(_QUEUES if configuration == "default" else {})}

    @property
    def dialect(self) -> Dialect:
        return VolcanoWords(SCHEDULER) if self.configuration == "default" else KoordinatorWords(SCHEDULER)

    @property
    def longest_backoff(self) -> float:
        """It has none: whoever waits is looked at again with every change, and only then."""
        return 0.0

    def _release(self) -> str:
        return __version__

    def settings(self) -> dict[str, str]:
        instead = {"instead of it": os.environ[_MODULE]} if _MODULE in os.environ else {}
        return {"scheduler": self.title, "scheduler client limits": "none", **instead}

    def install(self, api: Api) -> None:
        for name in _DEFINITIONS:
            define(api, suite.manifests() / "crds" / f"{name}.yaml")

    def _prepare(self) -> list[Process]:
        directory = self.workplace.directory
        file = directory / "reference.yaml"
        configuration = {
            "apiVersion": "scheduler.muster.dev/v1",
            "kind": "SchedulerConfiguration",
            "schedulerNames": list(self.answers_to),
            "preemption": self.policy.get("preemption") != "off",
        }
        file.write_text(yaml.safe_dump(configuration))
        flags = ["--kubeconfig", str(self.workplace.admin), "--config", str(file), "--listen", "127.0.0.1:0"]
        argv = [sys.executable, "-m", *os.environ.get(_MODULE, "scheduler").split(), *flags]
        environment = suite.scheduler_environment()
        return [
            Process("reference", argv, directory=directory, log=directory / "reference.log", env=environment),
        ]

    def configure(self, policy: Mapping[str, str]) -> None:
        """By a restart: it keeps nothing that the cluster does not know."""
        self._restart_with(policy)
