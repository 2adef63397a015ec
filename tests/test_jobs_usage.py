"""Bad requests on jobs: one sentence with the fix, the right exit code, before any cluster is asked for anything."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from muster.cli import main
from muster.jobs import targets, words

SUBMIT = ["submit", "pytorch", "--name=a", "--image=i"]
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: c, user: u, namespace: team}}}}, {{name: bare}}]
clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:{port}"}}}}]
users: [{{name: u, user: {{token: t}}}}]
"""

BAD = {
    "no kind": (["submit"], "required: KIND"),
    "unknown kind": (["submit", "tf"], "invalid choice: 'tf' (choose from 'pytorch', 'pytorchjob', 'mpi', 'mpijob')"),
    "no name": (["submit", "mpi", "--image=i", "true"], "required: --name"),
    "no image": (["submit", "mpi", "--name=a", "true"], "required: --image"),
    "no command": (SUBMIT, "say what to run: put the command last, in quotes"),
    "bad name": ([*SUBMIT, "--name=Big_1", "true"], "'Big_1' cannot be the name of a job: up to 49 lower-case"),
    "long name": ([*SUBMIT, f"--name={'a' * 50}", "true"], "cannot be the name of a job"),
    "bad GPUs": ([*SUBMIT, "--gpus=-1", "true"], "argument --gpus: '-1' is not a number from 0 upwards"),
    "no workers": ([*SUBMIT, "--workers=0", "true"], "argument --workers: '0' is not a number from 1 upwards"),
    "bad memory": ([*SUBMIT, "--memory=8GB", "true"], "'8GB' is not a quantity: write 4, 500m or 16Gi"),
    "bad toleration": ([*SUBMIT, "--toleration=a=b", "true"], "'a=b' is not a toleration: write KEY, KEY=VALUE:EFFECT"),
    "bad effect": ([*SUBMIT, "--toleration=a=b:No", "true"], "there is no effect 'No', only NoSchedule"),
    "bad selector": ([*SUBMIT, "--selector=zone", "true"], "'zone' is not a label: write KEY=VALUE"),
    "reserved label": ([*SUBMIT, "--label=release=x", "true"], "the label release says whose pods they are"),
    "bad annotation": ([*SUBMIT, "--annotation=a b=c", "true"], "'a b=c' is not an annotation: write KEY=VALUE"),
    "bad variable": ([*SUBMIT, "--env=1=2", "true"], "'1=2' is not an environment variable: write NAME=VALUE"),
    "bad time": ([*SUBMIT, "--running-timeout=soon", "true"], "'soon' is no length of time: write 90s, 30m or 2h30m"),
    "source alone": ([*SUBMIT, "--sync-source=s", "true"], "--sync-source needs --sync-mode git"),
    "mode alone": ([*SUBMIT, "--sync-mode=git", "true"], "--sync-mode needs --sync-source"),
    "logdir alone": ([*SUBMIT, "--logdir=/x", "true"], "--logdir is for the tensorboard: add --tensorboard"),
    "unquoted command": (
        [*SUBMIT, "python", "a.py", "--epochs", "5"],
        "muster submit pytorch does not know --epochs 5",
    ),
    "near option": ([*SUBMIT, "--gpu=1", "true"], "muster submit pytorch does not know --gpu=1: did you mean --gpus?"),
    "unknown type": (["get", "a", "--type=tf"], "there is no type 'tf', only pytorchjob and mpijob"),
    "unknown form": (["list", "-o", "xml"], "invalid choice: 'xml'"),
    "nothing to delete": (["delete"], "required: NAME"),
    "top of what": (["top", "job"], "invalid choice: 'job' (choose from 'node')"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_request_is_one_sentence(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, sentence = BAD[case]
    assert main(arguments) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.startswith("muster: ")
    assert err.count("\n") == 1


COMMANDS = ([*SUBMIT, "true"], ["get", "a"], ["list"], ["top", "node"], ["events", "a"], ["delete", "a"])


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_kubeconfig(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(command) == 64
    expected = f"the kubeconfig {tmp_path}/.kube/config does not exist: name another with --kubeconfig"
    assert expected in capsys.readouterr().err


def test_a_cluster_that_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    file = tmp_path / "kubeconfig"
    file.write_text(KUBECONFIG.format(port=port))
    monkeypatch.setenv("KUBECONFIG", str(file))
    assert main(["list"]) == 2
    assert (
        f"the API server https://127.0.0.1:{port} (context 'here' of {file}) does not answer" in capsys.readouterr().err
    )
    assert main(["list", "--context=there"]) == 64
    assert "has no context 'there': known are here, bare" in capsys.readouterr().err
    assert targets._namespace_of(file, None) == "team"
    assert targets._namespace_of(file, "bare") == "default"


@pytest.mark.parametrize("program", ["/usr/bin/muster", "/site-packages/muster/__main__.py"])
def test_a_running_plane_is_found_by_the_directory_of_its_parts(tmp_path: Path, program: str) -> None:
    plane = tmp_path / "muster-abc"
    plane.mkdir()
    (plane / "admin.kubeconfig").touch()
    for number, words_, children in (
        ("7", ["python", program, "up", "--nodes"], "8 9 10"),
        ("70", ["grep", "up"], "8"),
    ):
        (tmp_path / number / "task" / number).mkdir(parents=True)
        (tmp_path / number / "cmdline").write_text("\0".join(words_))
        (tmp_path / number / "task" / number / "children").write_text(children)
    for child, place in (("8", tmp_path), ("9", plane)):
        (tmp_path / child).mkdir()
        os.symlink(place, tmp_path / child / "cwd")
    assert list(targets._running_planes(tmp_path)) == [plane / "admin.kubeconfig"]


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("all", {"operator": "Exists"}),
        ("gpu_node", {"key": "gpu_node", "operator": "Exists"}),
        ("example.com/gpu", {"key": "example.com/gpu", "operator": "Exists"}),
        ("a=b:NoExecute", {"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute"}),
        ("a=:NoSchedule", {"key": "a", "operator": "Equal", "value": "", "effect": "NoSchedule"}),
    ],
)
def test_tolerations(word: str, meaning: dict[str, str]) -> None:
    assert words.toleration(word) == meaning


@pytest.mark.parametrize(("word", "seconds"), [("90", 90), ("30m", 1800), ("2h30m", 9000), ("1d", 86400)])
def test_lengths_of_time(word: str, seconds: int) -> None:
    assert words.timeout(word) == seconds


def test_the_command_may_come_without_quotes_after_two_dashes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/does/not/exist")
    assert main([*SUBMIT, "--", "python", "a.py", "--epochs", "5"]) == 64
    assert "the kubeconfig /does/not/exist does not exist" in capsys.readouterr().err
