"""The scheduler that comes with Kubernetes.

Its defaults are raised where they would only make the harness wait: client limits (50 requests per second) and the
longest back-off (10 s). Both are printed in the report; neither changes a decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import yaml

from muster.errors import UsageError
from muster.processes import Process
from muster.subject.dialect import Dialect
from muster.subject.subjects import Subject
from muster.suite import manifests

_DOCUMENTATION = "https://kubernetes.io/docs/concepts/scheduling-eviction/"
_CLAIMS = {
    "preemption": _DOCUMENTATION + "pod-priority-preemption/",
    "taints": _DOCUMENTATION + "taint-and-toleration/",
    "documents": _DOCUMENTATION + "pod-priority-preemption/",
    "jobs": "https://www.kubeflow.org/docs/components/trainer/legacy-v1/overview/",
}


class KubeScheduler(Subject):
    """The real kube-scheduler with a configuration from manifests/subjects/kube-scheduler/."""

    name: ClassVar[str] = "kube-scheduler"
    assets: ClassVar[tuple[str, ...]] = ("kube-scheduler",)

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        return _CLAIMS

    @property
    def longest_backoff(self) -> float:
        """As configured: a scheduler with nothing else to do does not wait longer (SchedulerPopFromBackoffQ)."""
        return float(self._configuration().get("podMaxBackoffSeconds", 10))

    @property
    def dialect(self) -> Dialect:
        return Dialect("default-scheduler")

    def settings(self) -> dict[str, str]:
        loaded = self._configuration()
        limits = loaded["clientConnection"]
        return {
            "scheduler": self.title,
            "scheduler client limits": f"{limits.get('qps', 50)} requests/s, burst {limits.get('burst', 100)}",
            "scheduler longest back-off": f"{loaded.get('podMaxBackoffSeconds', 10)} s",
        }

    def _prepare(self) -> list[Process]:
        configuration, directory = self._configuration(), self.workplace.directory
        configuration["clientConnection"]["kubeconfig"] = str(self.workplace.scheduler)
        file = directory / f"{self.name}.yaml"
        file.write_text(yaml.safe_dump(configuration))
        # Port 0: it serves nothing, so that two of them never meet; its log is the only thing we read.
        argv = [str(self.workplace.assets[self.assets[0]]), f"--config={file}", "--secure-port=0", "--v=2"]
        if self.feature_gates:
            argv.append(f"--feature-gates={','.join(f'{gate}={on}' for gate, on in self.feature_gates.items())}")
        return [Process(self.name, argv, directory=directory, log=directory / f"{self.name}.log")]

    def _configuration(self) -> dict[str, Any]:
        return load_configuration(self.configuration)

    @classmethod
    def resolve(cls, configuration: str) -> str:
        """Read it once, so that a mistake is told before anything is started; paths become absolute."""
        load_configuration(configuration)
        return str(_file_of(configuration)) if _is_path(configuration) else configuration


def load_configuration(configuration: str) -> dict[str, Any]:
    file = _file_of(configuration)
    try:
        loaded = yaml.safe_load(file.read_text())
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem).replace("\n", " ")
        raise UsageError(f"cannot read the scheduler's configuration {file}: {reason}") from None
    if not isinstance(loaded, dict) or loaded.get("kind") != "KubeSchedulerConfiguration":
        raise UsageError(
            f"{file} is not a configuration of kube-scheduler: its kind must be KubeSchedulerConfiguration"
        )
    loaded.setdefault("clientConnection", {})
    return loaded


def _file_of(configuration: str) -> Path:
    """One of ours by name, or a user's own by path."""
    if _is_path(configuration):
        return Path(configuration).resolve()
    file = manifests() / "subjects" / KubeScheduler.name / f"{configuration}.yaml"
    if not file.is_file():
        known = sorted(one.stem for one in file.parent.glob("*.yaml"))
        raise UsageError(
            f"{KubeScheduler.name} has no configuration {configuration!r}:"
            f" choose from {', '.join(known)}, or give the path of a .yaml file"
        )
    return file


def _is_path(configuration: str) -> bool:
    return configuration.endswith((".yaml", ".yml"))
