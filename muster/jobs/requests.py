"""What `muster submit` was asked for, as one value: checked words in, manifests out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from muster.errors import UsageError
from muster.jobs.kinds import Kind

MANAGED_BY = {"app.kubernetes.io/managed-by": "muster"}


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A training job to be. `workers` counts the PyTorch master, and does not count the MPI launcher."""

    kind: Kind
    name: str
    namespace: str
    image: str
    command: str
    gpus: int = 0
    workers: int = 1
    cpu: str | None = None
    memory: str | None = None
    priority: str | None = None
    queue: str | None = None
    gang: bool = False
    scheduler_name: str | None = None
    tolerations: Sequence[Mapping[str, str]] = ()
    selector: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    sync_source: str | None = None
    tensorboard: bool = False
    logdir: str = "/training_logs"
    retry: int = 0
    clean_task_policy: str = "None"
    running_timeout: int | None = None

    def __post_init__(self) -> None:
        if not self.command.strip():
            raise UsageError("say what to run: put the command last, in quotes")
        if self.sync_source is not None and not self.code_directory:
            raise UsageError(f"--sync-source {self.sync_source!r} names no repository: give its address")

    @property
    def identity(self) -> dict[str, str]:
        """The labels by which everything of the job is found."""
        return {"app": self.kind.trainer, "release": self.name, **MANAGED_BY}

    @property
    def record(self) -> str:
        """The name of the ConfigMap that remembers the submission."""
        return f"{self.name}-{self.kind.trainer}"

    @property
    def code_directory(self) -> str:
        """Where under /root/code a repository lands: its own last name."""
        return (self.sync_source or "").rstrip("/").rpartition("/")[2].removesuffix(".git")
