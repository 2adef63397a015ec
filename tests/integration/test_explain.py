"""`muster explain` runs the reference scheduler as a process; an error is one line."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from muster.cli import main
from muster.cluster.local import LocalCluster
from muster.cluster.resources import NODE, POD
from tests.support.local_cluster import Watch, bind, mark, node, phase_is, pod
from tests.unit.arena.test_arena_usage import KUBECONFIG

Output = pytest.CaptureFixture[str]


def test_the_pod_argument_is_required(capsys: Output) -> None:
    assert main(["explain"]) == 64
    assert "the following arguments are required: POD" in capsys.readouterr().err


def test_a_missing_kubeconfig_is_named(capsys: Output, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert main(["explain", "p"]) == 64
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"the kubeconfig {tmp_path / 'none'} does not exist" in err


def test_an_unreachable_api_server_is_an_error(capsys: Output, tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        file = tmp_path / "kubeconfig"
        file.write_text(KUBECONFIG.format(port=unused.getsockname()[1]))
        assert main(["explain", "p", "--kubeconfig", str(file)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "does not answer" in err


@pytest.mark.plane
def test_why_a_pod_is_pending(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalCluster() as cluster:
        api = cluster.connection.api
        monkeypatch.setenv("KUBECONFIG", str(cluster.client_kubeconfig("admin")))
        watch = Watch(api)
        api.create(node("n1", gpus=1))
        big, small = pod("big"), pod("small")
        big["spec"] |= {"schedulerName": "muster-scheduler"}
        big["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "2"}}
        for manifest in (big, small):
            api.create(manifest)
        watch.until(NODE, "n1", lambda _, found: not found["spec"].get("taints"))  # new nodes have one
        assert main(["explain", "big"]) == 0
        answer = capsys.readouterr().out
        assert answer.startswith("default/big is pending: 0/1 nodes are available")
        assert "n1: nvidia.com/gpu 1 free of 1, 2 requested" in answer

        assert main(["explain", "small"]) == 0
        assert "has schedulerName default-scheduler, which this scheduler does not serve" in capsys.readouterr().out

        settings = "{apiVersion: scheduler.muster.dev/v1, kind: SchedulerConfiguration, schedulerNames: [mine]}"
        beside = cluster.directory / "reference.yaml"
        beside.write_text(settings)
        assert main(["explain", "big"]) == 0
        assert "has schedulerName muster-scheduler, which this scheduler does not serve" in capsys.readouterr().out
        beside.write_text("kind: Nothing")
        assert main(["explain", "big"]) == 2
        assert "muster: the reference scheduler failed: " in capsys.readouterr().err
        beside.unlink()
        with monkeypatch.context() as patched:
            patched.setattr("muster.timeouts.EXPLAIN", 0.0)
            assert main(["explain", "big"]) == 2
        assert "muster: the reference scheduler did not answer within 0 s" in capsys.readouterr().err

        bind(api, "small", "n1")
        watch.until(POD, "small", phase_is("Running"))
        mark(api, "small", exit_code="0")
        watch.until(POD, "small", phase_is("Succeeded"))
        assert main(["explain", "small"]) == 64
        assert "is not pending: it has finished (Succeeded)" in capsys.readouterr().err

        assert main(["explain", "big", "-n", "kube-system"]) == 64
        assert "there is no pod 'big' in namespace kube-system" in capsys.readouterr().err
