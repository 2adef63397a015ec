"""Bad requests on jobs: one sentence with the fix, the right exit code, before any cluster is asked for anything."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
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
    "bad CPUs": ([*SUBMIT, "--cpu=many", "true"], "argument --cpu: 'many' is not a quantity: write 4, 500m or 16Gi"),
    "bad retries": ([*SUBMIT, "--retry=x", "true"], "argument --retry: 'x' is not a number from 0 upwards"),
    "bad toleration": ([*SUBMIT, "--toleration=a=b", "true"], "'a=b' is not a toleration: write KEY, KEY=VALUE:EFFECT"),
    "bad effect": ([*SUBMIT, "--toleration=a=b:No", "true"], "there is no effect 'No', only NoSchedule"),
    "bad selector": ([*SUBMIT, "--selector=zone", "true"], "'zone' is not a label: write KEY=VALUE"),
    "bad label": ([*SUBMIT, "--label=zone", "true"], "'zone' is not a label: write KEY=VALUE"),
    "reserved label": ([*SUBMIT, "--label=release=x", "true"], "the label release says whose pods they are"),
    "bad annotation": ([*SUBMIT, "--annotation=a b=c", "true"], "'a b=c' is not an annotation: write KEY=VALUE"),
    "bad variable": ([*SUBMIT, "--env=1=2", "true"], "'1=2' is not an environment variable: write NAME=VALUE"),
    "bad time": ([*SUBMIT, "--running-timeout=soon", "true"], "'soon' is no length of time: write 90s, 30m or 2h30m"),
    "source alone": ([*SUBMIT, "--sync-source=s", "true"], "--sync-source needs --sync-mode git"),
    "mode alone": ([*SUBMIT, "--sync-mode=git", "true"], "--sync-mode needs --sync-source"),
    "no repository": (
        [*SUBMIT, "--sync-mode=git", "--sync-source=///", "true"],
        "--sync-source '///' names no repository: give its address",
    ),
    "unknown mode": ([*SUBMIT, "--sync-mode=ftp", "--sync-source=s", "true"], "invalid choice: 'ftp'"),
    "unknown cleaning": ([*SUBMIT, "--clean-task-policy=Some", "true"], "invalid choice: 'Some'"),
    "logdir alone": ([*SUBMIT, "--logdir=/x", "true"], "--logdir is for the tensorboard: add --tensorboard"),
    "unquoted command": (
        [*SUBMIT, "python", "a.py", "--epochs", "5"],
        "muster submit pytorch does not know --epochs 5",
    ),
    "near option": ([*SUBMIT, "--gpu=1", "true"], "muster submit pytorch does not know --gpu=1: did you mean --gpus?"),
    "unknown type": (["get", "a", "--type=tf"], "there is no type 'tf', only pytorchjob and mpijob"),
    "events of unknown type": (["events", "a", "--type=tf"], "there is no type 'tf', only pytorchjob and mpijob"),
    "deletion of unknown type": (["delete", "a", "-T", "tf"], "there is no type 'tf', only pytorchjob and mpijob"),
    "unknown form of a list": (["list", "-o", "xml"], "invalid choice: 'xml'"),
    "unknown form of a job": (["get", "a", "-o", "xml"], "invalid choice: 'xml' (choose from 'wide', 'json', 'yaml')"),
    "unknown form of events": (["events", "a", "-o", "wide"], "invalid choice: 'wide' (choose from 'json', 'yaml')"),
    "unknown form of nodes": (["top", "node", "-o", "wide"], "invalid choice: 'wide' (choose from 'json', 'yaml')"),
    "nothing to get": (["get"], "required: NAME"),
    "nothing to tell": (["events"], "required: NAME"),
    "nothing to delete": (["delete"], "required: NAME"),
    "top of nothing": (["top"], "required: WHAT"),
    "namespace of nodes": (["top", "node", "-n", "team"], "muster top node does not know -n team"),
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


@pytest.fixture
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, int]]:
    """A kubeconfig, and the port where nobody listens: it is held, so that nobody else can."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        file = tmp_path / "kubeconfig"
        file.write_text(KUBECONFIG.format(port=port))
        monkeypatch.setenv("KUBECONFIG", str(file))
        yield file, port


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_cluster_that_does_not_answer(
    command: list[str], nobody: tuple[Path, int], capsys: pytest.CaptureFixture[str]
) -> None:
    file, port = nobody
    assert main(command) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"the API server https://127.0.0.1:{port} (context 'here' of {file}) does not answer" in err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_context_that_does_not_exist(
    command: list[str], nobody: tuple[Path, int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command[:1], *command[1:2], "--context=there", *command[2:]]) == 64
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"{nobody[0]} has no context 'there': known are here, bare" in err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: [", "is not YAML at line 2: mend it, or name another with --kubeconfig"),
        ("just words", "is not a kubeconfig (no contexts in it)"),
        ("contexts: []\n", "has no current context: name one with --context (there is none)"),
        ("contexts: [{name: x}]\ncurrent-context: x\n", "the context 'x' of"),
        (b"\xff\xfe\x00", "cannot be read"),
    ],
)
def test_a_kubeconfig_that_is_none(
    text: str | bytes, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kubeconfig"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert main(["list", "--kubeconfig", str(file)]) == 64
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert sentence in err


def test_the_namespace_is_that_of_the_context(nobody: tuple[Path, int]) -> None:
    assert targets._namespace_of(nobody[0], None) == "team"
    assert targets._namespace_of(nobody[0], "bare") == "default"


def test_who_finds_no_cluster_is_told_of_one_that_is_up(
    nobody: tuple[Path, int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(targets, "_running_planes", lambda _: iter([Path("/tmp/muster-1/admin.kubeconfig")]))
    assert main(["list"]) == 2
    assert capsys.readouterr().err.endswith(
        "; muster up is running: export KUBECONFIG=/tmp/muster-1/admin.kubeconfig\n"
    )


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


def test_of_several_kubeconfigs_the_first_that_knows_the_context_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, broken = (tmp_path / name for name in ("one", "two", "broken"))
    one.write_text("{current-context: here, contexts: [{name: here}]}")
    two.write_text("{contexts: [{name: here}, {name: staging}]}")
    broken.write_text("{")
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, (tmp_path / "not-there", broken, one, two))))
    assert [targets.usual_kubeconfig(context) for context in (None, "here", "staging")] == [one, one, two]
    assert targets.usual_kubeconfig("nowhere") == broken  # whoever uses it says what is wrong with it
    monkeypatch.setenv("KUBECONFIG", str(two))
    assert targets.usual_kubeconfig() == two
