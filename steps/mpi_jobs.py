"""MPI jobs with a template per role: v1, and v2beta1 of the mpi-operator.

Settings are tables of API fields: those of a role start with it, those of the spec are listed below, all others belong
to the job's runPolicy. In a line of a hostfile {pod} is the name of a worker, {host} its name behind the job's service.
"""

from typing import Any

import yaml
from pytest_bdd import then, when

from muster.assertions.evaluation import Recording
from muster.assertions.mpi_files import discovered_hosts, hostfile_lines, hostfile_named_by, keys_mounted, names_resolve
from muster.assertions.operator_objects import created
from muster.environment import ScenarioContext
from muster.errors import ConformanceFailure
from muster.recording.questions import eventually
from steps.parsing import Names, step_pattern

_MANIFESTS = {"v1": "mpi-roles", "v2beta1": "mpi-v2beta1"}
_JOB = 'an MPIJob "{name:Name}" of {version:w} with {workers:d} workers'
_SMALL_JOB = 'an MPIJob "{name:Name}" of {version:w} with 1 worker'
_OF_SPEC = ("slotsPerWorker", "mpiImplementation", "sshAuthMountPath", "launcherCreationPolicy")
_KEYS = ("ssh-privatekey", "ssh-publickey")


def _settings(table: list[list[str]]) -> dict[str, Any]:
    def path(field: str) -> str:
        if field in _OF_SPEC:
            return f"spec.{field}"
        return f"spec.{'mpiReplicaSpecs' if field[0].isupper() else 'runPolicy'}.{field}"

    return {path(field): yaml.safe_load(text) for field, text in table}


@when(step_pattern(_JOB + " is created"))
def mpi_job_of_version(scenario: ScenarioContext, name: str, version: str, workers: int) -> None:
    scenario.jobs.create_job(_MANIFESTS[version], name, changed={"spec.mpiReplicaSpecs.Worker.replicas": workers})


@when(step_pattern(_SMALL_JOB + " is created with:"))
def small_mpi_job_of_version(scenario: ScenarioContext, name: str, version: str, datatable: list[list[str]]) -> None:
    scenario.jobs.create_job(_MANIFESTS[version], name, changed=_settings(datatable))


@when(step_pattern(_JOB + " is created with:"))
def mpi_job_of_version_with(
    scenario: ScenarioContext, name: str, version: str, workers: int, datatable: list[list[str]]
) -> None:
    changed = {"spec.mpiReplicaSpecs.Worker.replicas": workers, **_settings(datatable)}
    scenario.jobs.create_job(_MANIFESTS[version], name, changed=changed)


@then(step_pattern('the hostfile of job "{name:Name}" has the line "{line:Name}" for each of {pods:Names}'))
def hostfile_has_lines(scenario: ScenarioContext, name: str, line: str, pods: Names) -> None:
    lines = [line.format(pod=pod, host=f"{pod}.{name}.{scenario.namespace}.svc") for pod in pods]
    scenario.recording.must(hostfile_lines(name, lines))


@then(step_pattern('"{variable:Name}" of "{launcher:Name}" names the hostfile of job "{name:Name}"'))
def hostfile_is_named(recording: Recording, variable: str, launcher: str, name: str) -> None:
    recording.must(hostfile_named_by(name, launcher, variable))


@then(step_pattern('discover_hosts.sh of job "{name:Name}" prints no host'))
def no_host_is_discovered(recording: Recording, name: str) -> None:
    recording.stays(discovered_hosts(name, ()))


@then(step_pattern('discover_hosts.sh of job "{name:Name}" prints {pods:Names}'))
def hosts_are_discovered(recording: Recording, name: str, pods: Names) -> None:
    recording.stays(discovered_hosts(name, pods))


@then(step_pattern('{pods:Names} of job "{name:Name}" have the SSH keys of the job at "{path:Name}"'))
def keys_are_mounted(scenario: ScenarioContext, pods: Names, name: str, path: str) -> None:
    scenario.recording.must(keys_mounted(name, pods, path))
    seen = scenario.jobs.data_of_secret(f"{name}-ssh")
    if seen != list(_KEYS):
        wanted = f"a Secret {name}-ssh with {', '.join(_KEYS)}"
        raise ConformanceFailure(f"wanted   {wanted}\nseen     {', '.join(seen) or 'no Secret'}")


@then(step_pattern('a headless service of job "{name:Name}" resolves {pods:Names}'))
def service_resolves(recording: Recording, name: str, pods: Names) -> None:
    recording.must(names_resolve(name, pods))


@then(step_pattern('"{pod:Name}" is created'))
def pod_is_created(recording: Recording, pod: str) -> None:
    recording.must(eventually(created(pod)))
