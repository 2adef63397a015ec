"""training-operator's admission webhook: certificate, configuration, the file that it waits for, its answers."""

import datetime
import socket
import ssl
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from cryptography import x509

from muster.cluster.api import ApiRefused
from muster.environment.own_clusters import own_cluster
from muster.environment.training_jobs import TrainingJobs
from muster.errors import UsageError
from muster.operators.training_operator import TrainingOperator
from muster.operators.webhook_certificate import CertificateFile, issue
from muster.run_options import RunOptions
from muster.schedulers.base import ProcessContext
from muster.schedulers.dialect import Dialect

SERVICE = "training-operator.kubeflow.svc"
SHIPPED = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "validating-webhook-configuration"},
    "webhooks": [
        {
            "name": f"validator.{kind}.training-operator.kubeflow.org",
            "failurePolicy": "Fail",
            "clientConfig": {
                "service": {
                    "name": "webhook-service",
                    "namespace": "system",
                    "path": f"/validate-kubeflow-org-v1-{kind}",
                }
            },
            "rules": [{"apiGroups": ["kubeflow.org"], "resources": [f"{kind}s"], "operations": ["CREATE", "UPDATE"]}],
        }
        for kind in ("jaxjob", "pytorchjob", "tfjob")
    ],
}


class RecordingApi:
    """Accepts every object; a dry-run of a job has the answer that is set."""

    def __init__(self, answer: ApiRefused | None = None) -> None:
        self.created: list[dict[str, Any]] = []
        self.answer = answer

    def ensure(self, manifest: dict[str, Any]) -> None:
        self.created.append(manifest)

    def list(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"items": []}

    def dry_run(self, manifest: dict[str, Any]) -> dict[str, Any]:
        if self.answer is not None:
            raise self.answer
        return manifest


DENIED = ApiRefused(
    403,
    "Forbidden",
    'admission webhook "validator.pytorchjob.training-operator.kubeflow.org" denied the request: '
    "spec.pytorchReplicaSpecs[Worker].replicas: Forbidden: must be at least 1",
    "create",
)
NO_RIGHTS = ApiRefused(403, "Forbidden", "pytorchjobs.kubeflow.org is forbidden", "create")
BY_SCHEMA = ApiRefused(422, "Invalid", "spec.pytorchReplicaSpecs.Worker.replicas: Invalid value: 0", "create")


@pytest.fixture
def operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    file = tmp_path / "k8s-webhook-server" / "serving-certs" / "tls.crt"
    monkeypatch.setattr("muster.operators.training_operator.CertificateFile", lambda: CertificateFile(file))
    webhooks, crd = tmp_path / "webhooks.yaml", tmp_path / "crd.yaml"
    webhooks.write_text(yaml.safe_dump(SHIPPED))
    crd.write_text("")
    crds = dict.fromkeys(("training-operator-pytorchjobs.yaml", "training-operator-mpijobs.yaml"), crd)
    assets = {"training-operator-webhooks.yaml": webhooks, **crds}
    admin = tmp_path / "admin.kubeconfig"
    made = TrainingOperator(ProcessContext(tmp_path, admin, admin, assets), Dialect("default-scheduler"))
    yield made
    made.close()
    assert not file.parent.parent.exists()


def test_the_api_server_finds_the_webhook_on_the_loopback_address(operator: TrainingOperator) -> None:
    api = RecordingApi()
    operator.install(api)  # type: ignore[arg-type]
    port = operator._port.number
    configuration, secret = api.created[-1], api.created[-2]
    assert configuration["metadata"]["name"] == "validator.training-operator.kubeflow.org"
    (webhook,) = configuration["webhooks"]
    assert webhook["clientConfig"]["url"] == f"https://127.0.0.1:{port}/validate-kubeflow-org-v1-pytorchjob"
    assert webhook["clientConfig"]["caBundle"] == secret["data"]["ca.crt"]
    assert webhook["failurePolicy"] == "Fail"
    assert secret["metadata"] == {"name": "training-operator-webhook-cert", "namespace": "kubeflow"}
    assert f"--webhook-server-port={port}" in operator._flags()
    served = Path(operator._environment()["TMPDIR"], "k8s-webhook-server", "serving-certs")
    assert sorted(file.name for file in served.iterdir()) == ["tls.crt", "tls.key"]


def test_it_is_ready_when_the_api_server_asks_the_webhook(operator: TrainingOperator) -> None:
    api = RecordingApi(answer=DENIED)
    operator.install(api)  # type: ignore[arg-type]
    assert not operator._webhook_answers()  # nothing listens yet
    with socket.create_server(("127.0.0.1", operator._port.number)):
        assert operator._webhook_answers()
        for answer in (None, NO_RIGHTS, BY_SCHEMA):  # the API server does not know the webhook yet
            api.answer = answer
            assert not operator._webhook_answers()


def test_its_certificate_is_trusted_on_the_loopback_address_and_kept_by_the_operator(tmp_path: Path) -> None:
    secret = issue(SERVICE, tmp_path)
    assert secret["ca.key"].startswith(b"-----BEGIN RSA PRIVATE KEY-----")  # the only form that it reads
    in_90_days = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=91)
    for name in ("ca.crt", "tls.crt"):
        assert x509.load_pem_x509_certificate(secret[name]).not_valid_after_utc > in_90_days
    assert (tmp_path / "tls.key").stat().st_mode & 0o077 == 0
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")
    client_side = ssl.create_default_context(cadata=secret["ca.crt"].decode())
    for name in ("127.0.0.1", SERVICE):
        ours, theirs = socket.socketpair()
        answer = threading.Thread(target=lambda end=theirs: server_side.wrap_socket(end, server_side=True).close())
        answer.start()
        client_side.wrap_socket(ours, server_hostname=name).close()
        answer.join()


def test_the_last_run_removes_the_file_that_the_operator_waits_for(tmp_path: Path) -> None:
    file = tmp_path / "k8s-webhook-server" / "serving-certs" / "tls.crt"
    first, second = CertificateFile(file), CertificateFile(file)
    first.release()
    assert file.exists()
    second.release()
    assert list(tmp_path.iterdir()) == []


def test_a_certificate_of_another_program_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "serving-certs" / "tls.crt"
    file.parent.mkdir()
    file.write_text("a certificate")
    CertificateFile(file).release()
    assert file.read_text() == "a certificate"


@pytest.mark.parametrize(
    ("answer", "rejection"), [(DENIED, DENIED.message), (BY_SCHEMA, BY_SCHEMA.message), (None, "")]
)
def test_a_job_is_rejected_by_the_schema_or_by_the_webhook(answer: ApiRefused | None, rejection: str) -> None:
    assert jobs(answer).rejection("pytorchjob", {}) == rejection


def test_missing_rights_are_no_rejection() -> None:
    with pytest.raises(ApiRefused, match="is forbidden"):
        jobs(NO_RIGHTS).rejection("pytorchjob", {})


def jobs(answer: ApiRefused | None) -> TrainingJobs:
    scenario: Any = SimpleNamespace(api=RecordingApi(answer), namespace="here", ensure_operator=lambda _: None)
    return TrainingJobs(scenario)


@pytest.mark.parametrize("cluster", ["kind", "k3s", "container"])
def test_a_cluster_that_does_not_reach_the_webhook_is_refused(cluster: str) -> None:
    options = RunOptions(cluster=cluster, scheduler="reference", operator="training-operator")
    with pytest.raises(
        UsageError, match="training-operator has an admission webhook that only a local cluster reaches"
    ):
        own_cluster(options, print)
