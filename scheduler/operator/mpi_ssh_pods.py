"""Pods of an MPIJob with SSH (v2beta1): the launcher reaches the workers by their names behind a headless service.

All pods share one key pair, in a Secret that is mounted where sshAuthMountPath says.
"""

from __future__ import annotations

from scheduler.operator.api_objects import JOB_NAME, OPERATOR_NAME, Job, Json
from scheduler.operator.containers import with_first_container, with_mount, with_variables, with_volume
from scheduler.operator.job_kinds import KINDS
from scheduler.operator.mpi_config_map import DISCOVER_HOSTS, HOSTFILE, MOUNT_PATH, VOLUME, config_volume, owned
from scheduler.operator.mpi_exec_pods import NO_GPUS
from scheduler.operator.mpi_spec import INTEL, MPICH, OPEN_MPI, MpiSpec

PRIVATE_KEY, PUBLIC_KEY = "ssh-privatekey", "ssh-publickey"  # keys of the Secret
_VOLUME = "ssh-auth"
_FILES = ((PRIVATE_KEY, "id_rsa"), (PUBLIC_KEY, "id_rsa.pub"), (PUBLIC_KEY, "authorized_keys"))
_ROOT_SSH, _OWNER_ONLY = "/root/.ssh", 0o600  # sshd refuses a key of root that others may read
_ROLE = "K_MPI_JOB_ROLE"
_HOSTFILE_PATH = f"{MOUNT_PATH}/{HOSTFILE}"
_SSH_ARGUMENTS = "-o ConnectionAttempts=10"  # workers may start later than the launcher
_VARIABLES = {
    OPEN_MPI: {
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "OMPI_MCA_orte_default_hostfile": _HOSTFILE_PATH,
        "OMPI_MCA_plm_rsh_args": _SSH_ARGUMENTS,
    },
    INTEL: {"I_MPI_HYDRA_HOST_FILE": _HOSTFILE_PATH, "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": _SSH_ARGUMENTS},
    MPICH: {"HYDRA_HOST_FILE": _HOSTFILE_PATH, "HYDRA_LAUNCH_EXTRA_ARGS": _SSH_ARGUMENTS},
}
_SLOTS_VARIABLE = {OPEN_MPI: "OMPI_MCA_orte_set_default_slots", INTEL: "I_MPI_PERHOST"}


def worker_spec(job: Job, mpi: MpiSpec, name: str, pod_spec: Json) -> Json:
    """A worker runs an SSH server; with Intel MPI and MPICH it has to resolve the launcher's host name."""
    container = with_variables(pod_spec["containers"][0], {_ROLE: "worker"})
    if not container.get("command") and not container.get("args"):
        container = {**container, "command": ["/usr/sbin/sshd", "-De"]}
    dns = pod_spec.get("dnsConfig") or {}
    domain = f"{job.metadata.name}.{job.metadata.namespace}.svc.cluster.local"
    pod_spec = {**pod_spec, "dnsConfig": {**dns, "searches": [*(dns.get("searches") or ()), domain]}}
    return _with_host_name(job, name, _with_keys(job, mpi, pod_spec, container))


def launcher_spec(job: Job, mpi: MpiSpec, name: str, pod_spec: Json) -> Json:
    variables = {_ROLE: "launcher", **_VARIABLES[mpi.implementation]}
    if mpi.implementation in _SLOTS_VARIABLE:
        variables[_SLOTS_VARIABLE[mpi.implementation]] = str(mpi.slots)
    variables |= {} if mpi.launcher_is_worker else NO_GPUS
    container = with_mount(with_variables(pod_spec["containers"][0], variables), VOLUME, MOUNT_PATH)
    pod_spec = with_volume(pod_spec, config_volume(job, HOSTFILE, DISCOVER_HOSTS))
    return _with_host_name(job, name, _with_keys(job, mpi, pod_spec, container))


def secret_manifest(job: Job) -> Json:
    """Without its keys: the executor generates them."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": owned(job, _secret(job)),
        "type": "kubernetes.io/ssh-auth",
    }


def with_keys(secret: Json) -> Json:
    """The manifest of a Secret with a new key pair, ECDSA on P-521: as PEM, and as a line of authorized_keys."""
    # Imported here: cryptography is slow to import, and few operators ever need it.
    from cryptography.hazmat.primitives.asymmetric.ec import SECP521R1, generate_private_key
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    key = generate_private_key(SECP521R1())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    return {**secret, "stringData": {PRIVATE_KEY: private, PUBLIC_KEY: f"{public}\n"}}


def service_manifest(job: Job, mpi: MpiSpec) -> Json:
    """One headless service for all pods. A launcher that runs processes must be found before it is ready."""
    selector = {OPERATOR_NAME: KINDS[job.kind].operator_name(job.spec), JOB_NAME: job.metadata.name}
    spec = {"clusterIP": "None", "selector": selector, "publishNotReadyAddresses": mpi.launcher_is_worker}
    return {"apiVersion": "v1", "kind": "Service", "metadata": owned(job, job.metadata.name), "spec": spec}


def _secret(job: Job) -> str:
    return f"{job.metadata.name}-ssh"


def _with_keys(job: Job, mpi: MpiSpec, pod_spec: Json, container: Json) -> Json:
    secret: Json = {"secretName": _secret(job), "items": [{"key": key, "path": path} for key, path in _FILES]}
    if mpi.ssh_mount_path == _ROOT_SSH:
        secret["defaultMode"] = _OWNER_ONLY
    pod_spec = with_first_container(pod_spec, with_mount(container, _VOLUME, mpi.ssh_mount_path))
    return with_volume(pod_spec, {"name": _VOLUME, "secret": secret})


def _with_host_name(job: Job, name: str, pod_spec: Json) -> Json:
    """The subdomain is the name of the service; without its own DNS policy a host network would not resolve it."""
    policy = {"dnsPolicy": "ClusterFirstWithHostNet"} if pod_spec.get("hostNetwork") else {}
    return {**pod_spec, **policy, "hostname": name, "subdomain": job.metadata.name}
