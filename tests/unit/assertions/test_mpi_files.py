"""Questions about the files, keys and host names of MPI jobs, on made-up histories."""

from __future__ import annotations

from typing import Any

from muster.assertions.mpi_files import discovered_hosts, hostfile_lines, hostfile_named_by, keys_mounted, names_resolve
from muster.recording.questions import Outcome, Question
from tests.unit.assertions.test_operator_objects import JobHistoryBuilder

TRUE, FALSE, PENDING = Outcome.TRUE, Outcome.FALSE, Outcome.PENDING


def ask(question: Question, builder: JobHistoryBuilder) -> Outcome:
    return question.ask(builder.history).outcome


def history(**data: str) -> JobHistoryBuilder:
    builder = JobHistoryBuilder().job("mpi", kind="MPIJob")
    files = {name.replace("_sh", ".sh"): text for name, text in data.items()}
    return builder.made("ConfigMap", "mpi-config", "mpi", data=files)


def pod(builder: JobHistoryBuilder, name: str, **spec: Any) -> JobHistoryBuilder:
    container = {"env": spec.pop("env", []), "volumeMounts": spec.pop("mounts", [])}
    labels = {"labels": {"job": "mpi"}}
    return builder.made("Pod", name, "mpi", metadata=labels, spec={"containers": [container], **spec})


def test_the_hostfile_has_exactly_the_lines() -> None:
    wanted = hostfile_lines("mpi", ["a slots=2", "b slots=2"])
    assert ask(wanted, JobHistoryBuilder().job("mpi", kind="MPIJob")) is PENDING
    assert ask(wanted, history(hostfile="b slots=2\na slots=2\n")) is TRUE
    assert ask(wanted, history(hostfile="a slots=2\n")) is PENDING
    assert ask(wanted, history(hostfile="a slots=2\nb slots=1\n")) is PENDING
    other = JobHistoryBuilder().job("mpi", kind="MPIJob").made("ConfigMap", "c", "other", data={"hostfile": "a"})
    assert ask(hostfile_lines("mpi", ["a"]), other) is PENDING, "it is another job's"


def test_discovered_hosts_are_compared_by_the_name_of_the_pod() -> None:
    script = "#!/bin/sh\necho a:2\necho b.mpi.ns.svc\n"
    assert ask(discovered_hosts("mpi", ["a", "b"]), history(discover_hosts_sh=script)) is TRUE
    assert ask(discovered_hosts("mpi", ["a"]), history(discover_hosts_sh=script)) is PENDING
    assert ask(discovered_hosts("mpi", []), history(discover_hosts_sh="#!/bin/sh\n")) is TRUE
    assert ask(discovered_hosts("mpi", []), history(hostfile="")) is PENDING, "there is no script"


def test_the_variable_names_the_mounted_hostfile() -> None:
    item = {"key": "hostfile", "path": "hostfile"}
    volume = {"name": "v", "configMap": {"name": "mpi-config", "items": [item]}}
    mount = {"name": "v", "mountPath": "/etc/mpi"}
    named = hostfile_named_by("mpi", "mpi-launcher", "HOSTS")
    assert ask(named, history()) is PENDING

    def launcher(path: str, **spec: Any) -> JobHistoryBuilder:
        return pod(history(), "mpi-launcher", env=[{"name": "HOSTS", "value": path}], **spec)

    assert ask(named, launcher("/etc/mpi/hostfile", volumes=[volume], mounts=[mount])) is TRUE
    assert ask(named, launcher("/etc/other", volumes=[volume], mounts=[mount])) is FALSE
    assert ask(named, launcher("/etc/mpi/hostfile", volumes=[volume])) is FALSE
    other = {"name": "v", "configMap": {"name": "other", "items": [item]}}
    assert ask(named, launcher("/etc/mpi/hostfile", volumes=[other], mounts=[mount])) is FALSE


def test_the_keys_of_all_pods_are_those_of_one_secret() -> None:
    def keys(secret: str, path: str = "/root/.ssh") -> Any:
        volume = {"name": "ssh", "secret": {"secretName": secret}}
        return {"volumes": [volume], "mounts": [{"name": "ssh", "mountPath": path}]}

    wanted = keys_mounted("mpi", ["a", "b"], "/root/.ssh")
    builder = pod(history(), "a", **keys("one"))
    assert ask(wanted, builder) is PENDING
    assert ask(wanted, pod(builder, "b", **keys("one"))) is TRUE
    assert ask(wanted, pod(builder, "b", **keys("two"))) is FALSE
    assert ask(wanted, pod(builder, "b", **keys("one", "/root"))) is FALSE
    assert ask(wanted, pod(builder, "b")) is FALSE


def test_a_pod_resolves_behind_a_headless_service_of_its_subdomain() -> None:
    wanted = names_resolve("mpi", ["a"])
    builder = history().made("Service", "mpi", "mpi", spec={"clusterIP": "None", "selector": {"job": "mpi"}})
    assert ask(wanted, builder) is PENDING
    assert ask(wanted, pod(builder, "a", hostname="a", subdomain="mpi")) is TRUE
    assert ask(wanted, pod(builder, "a", hostname="a", subdomain="other")) is FALSE
    assert ask(wanted, pod(builder, "a", subdomain="mpi")) is FALSE
    visible = history().made("Service", "mpi", "mpi", spec={"clusterIP": "10.0.0.1", "selector": {"job": "mpi"}})
    assert ask(wanted, pod(visible, "a", hostname="a", subdomain="mpi")) is FALSE
    unselected = history().made("Service", "mpi", "mpi", spec={"clusterIP": "None", "selector": {"job": "x"}})
    assert ask(wanted, pod(unselected, "a", hostname="a", subdomain="mpi")) is FALSE
