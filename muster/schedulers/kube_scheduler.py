"""kube-scheduler, the scheduler of Kubernetes.

Two of its defaults are changed because they would only make the harness wait: client limits (50 requests per second)
and the longest back-off (10 s). The report shows both; neither changes a decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import yaml

from muster.errors import UsageError
from muster.processes import Process
from muster.schedulers.base import ProcessContext, Scheduler
from muster.schedulers.differences import Difference, client_limits
from muster.suite.paths import manifests

_DOCUMENTATION = "https://kubernetes.io/docs/concepts/scheduling-eviction/"
DEFAULT_PREEMPTION = (  # a node's pods are potential victims by their priority, whatever their schedulerName is
    "https://github.com/kubernetes/kubernetes/blob/v1.37.1/"
    "pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go"
)
_DEFAULT_BACKOFF = 10  # seconds; podMaxBackoffSeconds of an unconfigured kube-scheduler


class KubeScheduler(Scheduler):
    """The real kube-scheduler with a configuration from manifests/schedulers/kube-scheduler/ or the user's own file."""

    name: ClassVar[str] = "kube-scheduler"
    assets: ClassVar[tuple[str, ...]] = ("kube-scheduler",)
    capabilities: ClassVar[Mapping[str, str]] = {
        "preemption": _DOCUMENTATION + "pod-priority-preemption/",
        "any-victims": DEFAULT_PREEMPTION,
        "affinity": _DOCUMENTATION + "assign-pod-node/",
        "volumes": "https://kubernetes.io/docs/concepts/storage/persistent-volumes/",
        "taints": _DOCUMENTATION + "taint-and-toleration/",
        "documents": _DOCUMENTATION + "pod-priority-preemption/",
        "jobs": "https://www.kubeflow.org/docs/components/trainer/legacy-v1/overview/",
    }
    existing_cluster_backoff: ClassVar[float | None] = 10.0
    leader_lease: ClassVar[str] = "kube-system/kube-scheduler"
    differences: ClassVar[tuple[Difference, ...]] = (  # of manifests/schedulers/kube-scheduler/default.yaml
        client_limits("50 requests/s, burst 100", 2000, 4000),
        Difference("scheduler longest back-off", f"{_DEFAULT_BACKOFF} s", "1 s", "shorter waits"),
    )

    def __init__(self, configuration: str, context: ProcessContext) -> None:
        super().__init__(configuration, context)
        # As configured: with nothing else to do it does not wait longer (SchedulerPopFromBackoffQ).
        self.longest_backoff = float(self._configuration().get("podMaxBackoffSeconds", _DEFAULT_BACKOFF))

    def settings(self) -> dict[str, str]:
        limits = self._configuration()["clientConnection"]
        return {
            "scheduler": self.title,
            "scheduler client limits": f"{limits.get('qps', 50)} requests/s, burst {limits.get('burst', 100)}",
            "scheduler longest back-off": f"{self.longest_backoff:g} s",
        }

    def _prepare(self) -> list[Process]:
        configuration, directory = self._configuration(), self.context.directory
        configuration["clientConnection"]["kubeconfig"] = str(self.context.scheduler_kubeconfig)
        file = directory / f"{self.name}.yaml"
        file.write_text(yaml.safe_dump(configuration))
        # Port 0: it serves nothing, so two of them never conflict; only its log is read.
        argv = [str(self.context.assets[self.assets[0]]), f"--config={file}", "--secure-port=0", "--v=2"]
        if self.feature_gates:
            argv.append(f"--feature-gates={','.join(f'{gate}={on}' for gate, on in self.feature_gates.items())}")
        return [Process(self.name, argv, directory=directory, log=directory / f"{self.name}.log")]

    def _configuration(self) -> dict[str, Any]:
        return load_configuration(self.configuration)

    @classmethod
    def resolve(cls, configuration: str) -> str:
        """Read it once, so that a mistake is reported before anything is started; paths become absolute."""
        load_configuration(configuration)
        return str(_file_of(configuration)) if _is_path(configuration) else configuration


def load_configuration(configuration: str) -> dict[str, Any]:
    file = _file_of(configuration)
    try:
        loaded = yaml.safe_load(file.read_text())
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem).replace("\n", " ")
        raise UsageError(f"cannot read the scheduler configuration {file}: {reason}") from None
    if not isinstance(loaded, dict) or loaded.get("kind") != "KubeSchedulerConfiguration":
        raise UsageError(
            f"{file} is not a configuration of kube-scheduler: its kind must be KubeSchedulerConfiguration"
        )
    loaded.setdefault("clientConnection", {})
    return loaded


def _file_of(configuration: str) -> Path:
    """A built-in configuration by its name, or a user's own by its path."""
    if _is_path(configuration):
        return Path(configuration).resolve()
    file = manifests() / "schedulers" / KubeScheduler.name / f"{configuration}.yaml"
    if not file.is_file():
        known = sorted(found.stem for found in file.parent.glob("*.yaml"))
        raise UsageError(
            f"{KubeScheduler.name} has no configuration {configuration!r}:"
            f" choose from {', '.join(known)}, or give the path of a .yaml file"
        )
    return file


def _is_path(configuration: str) -> bool:
    return configuration.endswith((".yaml", ".yml"))
