"""Pods of an MPIJob without SSH (v1, v1alpha1): mpirun in the launcher reaches the workers by kubectl exec.

kubectl comes with an init container, which the training-operator always adds. Here it is added if its image is
configured (--mpi-kubectl-delivery-image): it requests resources that no user asked for. The service account that may
exec into the workers comes with it, since nothing else in the launcher would use it.
"""

from __future__ import annotations

from scheduler.operator.api_objects import Job, Json
from scheduler.operator.containers import with_first_container, with_mount, with_variables, with_volume
from scheduler.operator.job_spec import JobSpec
from scheduler.operator.mpi_config_map import (
    DISCOVER_HOSTS,
    HOSTFILE,
    KUBECTL_PATH,
    KUBEXEC,
    MOUNT_PATH,
    VOLUME,
    config_volume,
    owned,
)
from scheduler.operator.mpi_spec import MpiSpec
from scheduler.operator.replica_names import replica_name

NO_GPUS = {"NVIDIA_VISIBLE_DEVICES": "", "NVIDIA_DRIVER_CAPABILITIES": ""}  # for a launcher in whose image they are set
_KUBECTL_VOLUME = "mpi-job-kubectl"
_DELIVERY_RESOURCES = {"cpu": "100m", "memory": "512Mi", "ephemeral-storage": "5Gi"}
_RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
_USER_FIELDS = ("runAsNonRoot", "runAsUser", "runAsGroup")
_RBAC = "rbac.authorization.k8s.io"


def worker_spec(job: Job, pod_spec: Json) -> Json:
    """A worker does nothing until the launcher execs into it; Open MPI wants kubexec.sh on every host."""
    container = pod_spec["containers"][0]
    if not container.get("command"):
        container = {**container, "command": ["sleep"], "args": ["365d"]}
    container = with_mount(container, VOLUME, MOUNT_PATH)
    return with_volume(with_first_container(pod_spec, container), config_volume(job, KUBEXEC))


def launcher_spec(job: Job, mpi: MpiSpec, pod_spec: Json, kubectl_image: str) -> Json:
    variables = {
        "OMPI_MCA_plm_rsh_agent": f"{MOUNT_PATH}/{KUBEXEC}",
        "OMPI_MCA_orte_default_hostfile": f"{MOUNT_PATH}/{HOSTFILE}",
        **({} if mpi.launcher_is_worker else NO_GPUS),
    }
    container = with_mount(with_variables(pod_spec["containers"][0], variables), VOLUME, MOUNT_PATH)
    if kubectl_image:
        container = with_mount(container, _KUBECTL_VOLUME, KUBECTL_PATH)
        pod_spec = _with_kubectl(job, pod_spec, kubectl_image)
    pod_spec = with_first_container(pod_spec, container)
    return with_volume(pod_spec, config_volume(job, KUBEXEC, HOSTFILE, DISCOVER_HOSTS))


def access_manifests(job: Job, spec: JobSpec) -> list[Json]:
    """Service account, role and role binding of a launcher: it may exec into its workers.

    Without workers there is no rule for it: an empty list of names would mean all pods of the namespace.
    """
    worker, metadata = spec.role("Worker"), owned(job, _account(job))
    workers = [replica_name(job, spec, "Worker", index) for index in range(worker.count if worker else 0)]
    rules: list[Json] = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
    if workers:
        rules.append({"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"], "resourceNames": workers})
    account = {"kind": "ServiceAccount", "name": _account(job), "namespace": job.metadata.namespace}
    role = {"apiGroup": _RBAC, "kind": "Role", "name": _account(job)}
    binding = {"roleRef": role, "subjects": [account]}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {"apiVersion": f"{_RBAC}/v1", "kind": "Role", "metadata": metadata, "rules": rules},
        {"apiVersion": f"{_RBAC}/v1", "kind": "RoleBinding", "metadata": metadata, **binding},
    ]


def _account(job: Job) -> str:
    return f"{job.metadata.name}-launcher"


def _with_kubectl(job: Job, pod_spec: Json, image: str) -> Json:
    """The init container copies kubectl and returns when all hosts of the hostfile are ready.

    Its security context keeps it out of the way of the Pod Security Standard *restricted*; which user runs it is copied
    from the training container, because its image may need root.
    """
    user = pod_spec["containers"][0].get("securityContext") or {}
    container = {
        "name": "kubectl-delivery",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": "TARGET_DIR", "value": KUBECTL_PATH}, {"name": "NAMESPACE", "value": job.metadata.namespace}],
        "resources": {"requests": _DELIVERY_RESOURCES, "limits": _DELIVERY_RESOURCES},
        "securityContext": _RESTRICTED | {field: user[field] for field in _USER_FIELDS if field in user},
    }
    container = with_mount(with_mount(container, _KUBECTL_VOLUME, KUBECTL_PATH), VOLUME, MOUNT_PATH)
    init_containers = [*(pod_spec.get("initContainers") or ()), container]
    pod_spec = {**pod_spec, "serviceAccountName": _account(job), "initContainers": init_containers}
    return with_volume(pod_spec, {"name": _KUBECTL_VOLUME, "emptyDir": {}})
