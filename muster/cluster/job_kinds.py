"""The table of training job kinds (kubeflow.org). Resources, commands, manifests and assertions derive from it.

A new kind is one entry here, its CRD in manifests/crds, its resources in manifests/rbac/muster.yaml, and a class in the
reference operator's own table (scheduler/operator/job_kinds.py: the reference shares no code with the harness).
Scenarios about it also need a manifest in manifests/jobs. On an existing cluster all kinds must be served.
Nothing heavy may be imported here: the parser of every command is built from it.
"""

from __future__ import annotations

from dataclasses import dataclass

GROUP = "kubeflow.org"
VERSION = "v1"  # the version that the operators reconcile
OTHER_MANAGER = "kueue.x-k8s.io/multikueue"  # of managedBy: jobs that the operators leave alone


@dataclass(frozen=True)
class JobKind:
    """One kind of training job, with the versions that the commands create, preferred version first."""

    kind: str
    framework: str  # the argument of `muster submit`, and the name of the training container
    article: str
    roles: tuple[str, ...]  # the first one decides the result of the job, and has one replica where there are others
    replica_specs: str  # the field of the spec with a replica spec per role
    versions: tuple[str, ...]
    job_label: str  # of earlier operators, beside training.kubeflow.org/job-name
    role_labels: tuple[str, ...]  # of earlier operators, beside training.kubeflow.org/replica-type
    workers_help: str
    has_launcher: bool = False  # the first role needs no GPU and is created when all workers are ready
    single_template_version: str = ""  # a version with one template for all roles
    other_versions: tuple[str, ...] = ()  # that the commands do not create

    @property
    def trainer(self) -> str:
        """The value of --type, of the label `app`, and of the column TRAINER."""
        return self.kind.lower()

    @property
    def plural(self) -> str:
        return f"{self.trainer}s"

    @property
    def chief(self) -> str:
        return self.roles[0].lower()

    @property
    def crd(self) -> str:
        """The name of the file in manifests/crds."""
        return f"kubeflow-{self.plural}"

    @property
    def description(self) -> str:
        older, preferred = self.single_template_version, self.versions[0]
        versions = f"{GROUP}/{preferred}"
        if older:
            versions += f" as Arena does, or {self.versions[1]} where the cluster serves only that"
        return f"{self.article} {self.kind} ({versions})"


PYTORCH = JobKind(
    kind="PyTorchJob",
    framework="pytorch",
    article="a",
    roles=("Master", "Worker"),
    replica_specs="pytorchReplicaSpecs",
    versions=("v1",),
    job_label="pytorch-job-name",
    role_labels=("pytorch-replica-type",),
    workers_help="pods, the master included (default: 1)",
)
MPI = JobKind(
    kind="MPIJob",
    framework="mpi",
    article="an",
    roles=("Launcher", "Worker"),
    replica_specs="mpiReplicaSpecs",
    versions=("v1alpha1", "v1"),  # the older one first, as Arena does
    job_label="mpi_job_name",
    role_labels=("mpi_role_type", "mpi-replica-type"),
    workers_help="workers; a launcher without GPUs comes on top (default: 1)",
    has_launcher=True,
    single_template_version="v1alpha1",
    other_versions=("v2beta1",),  # of the mpi-operator
)

JOB_KINDS = (PYTORCH, MPI)
KIND_NAMES = tuple(kind.kind for kind in JOB_KINDS)
