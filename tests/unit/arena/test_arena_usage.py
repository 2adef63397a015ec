"""Usage errors of the commands on jobs: one message with the fix, exit code 64, before any request is sent."""

from __future__ import annotations

import os
import socket
from argparse import ArgumentTypeError
from collections.abc import Iterator
from pathlib import Path

import pytest

from muster.arena import argument_types, target
from muster.cli import main
from muster.cluster import kubeconfig

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
    "no command": (SUBMIT, "there is no command to run: put it last, in quotes"),
    "bad name": ([*SUBMIT, "--name=Big_1", "true"], "'Big_1' cannot be the name of a job: up to 49 lower-case"),
    "long name": ([*SUBMIT, f"--name={'a' * 50}", "true"], "cannot be the name of a job"),
    "bad GPUs": ([*SUBMIT, "--gpus=-1", "true"], "argument --gpus: '-1' is not a number from 0 upwards"),
    "no workers": ([*SUBMIT, "--workers=0", "true"], "argument --workers: '0' is not a number from 1 upwards"),
    "bad memory": ([*SUBMIT, "--memory=8GB", "true"], "'8GB' is not a quantity: write 4, 500m or 16Gi"),
    "bad CPUs": ([*SUBMIT, "--cpu=many", "true"], "argument --cpu: 'many' is not a quantity: write 4, 500m or 16Gi"),
    "bad retries": ([*SUBMIT, "--retry=x", "true"], "argument --retry: 'x' is not a number from 0 upwards"),
    "bad toleration": ([*SUBMIT, "--toleration=a=b", "true"], "'a=b' is not a toleration: write KEY, KEY=VALUE:EFFECT"),
    "bad effect": ([*SUBMIT, "--toleration=a=b:No", "true"], "unknown effect 'No': choose from NoSchedule"),
    "bad selector": ([*SUBMIT, "--selector=zone", "true"], "'zone' is not a label: write KEY=VALUE"),
    "bad label": ([*SUBMIT, "--label=zone", "true"], "'zone' is not a label: write KEY=VALUE"),
    "reserved label": ([*SUBMIT, "--label=release=x", "true"], "the label release is reserved"),
    "bad annotation": ([*SUBMIT, "--annotation=a b=c", "true"], "'a b=c' is not an annotation: write KEY=VALUE"),
    "bad variable": ([*SUBMIT, "--env=1=2", "true"], "'1=2' is not an environment variable: write NAME=VALUE"),
    "bad time": ([*SUBMIT, "--running-timeout=soon", "true"], "'soon' is not a duration: write 90s, 30m or 2h30m"),
    "source alone": ([*SUBMIT, "--sync-source=s", "true"], "--sync-source needs --sync-mode git"),
    "mode alone": ([*SUBMIT, "--sync-mode=git", "true"], "--sync-mode needs --sync-source"),
    "no repository": (
        [*SUBMIT, "--sync-mode=git", "--sync-source=///", "true"],
        "--sync-source '///' does not name a repository: give its Git URL",
    ),
    "unknown mode": ([*SUBMIT, "--sync-mode=ftp", "--sync-source=s", "true"], "invalid choice: 'ftp'"),
    "unknown clean policy": ([*SUBMIT, "--clean-task-policy=Some", "true"], "invalid choice: 'Some'"),
    "logdir alone": ([*SUBMIT, "--logdir=/x", "true"], "--logdir needs --tensorboard"),
    "unquoted command": (
        [*SUBMIT, "python", "a.py", "--epochs", "5"],
        "muster submit pytorch does not know --epochs 5",
    ),
    "near option": ([*SUBMIT, "--gpu=1", "true"], "muster submit pytorch does not know --gpu=1: did you mean --gpus?"),
    "unknown type": (["get", "a", "--type=tf"], "there is no job type 'tf': choose from pytorchjob,"),
    "events of unknown type": (
        ["events", "a", "--type=tf"],
        "there is no job type 'tf': choose from pytorchjob,",
    ),
    "deletion of unknown type": (
        ["delete", "a", "-T", "tf"],
        "there is no job type 'tf': choose from pytorchjob,",
    ),
    "unknown -o of a list": (["list", "-o", "xml"], "invalid choice: 'xml'"),
    "unknown -o of a job": (
        ["get", "a", "-o", "xml"],
        "invalid choice: 'xml' (choose from 'wide', 'json', 'yaml')",
    ),
    "unknown -o of events": (["events", "a", "-o", "wide"], "invalid choice: 'wide' (choose from 'json', 'yaml')"),
    "unknown -o of nodes": (["top", "node", "-o", "wide"], "invalid choice: 'wide' (choose from 'json', 'yaml')"),
    "get no job": (["get"], "required: NAME"),
    "events of no job": (["events"], "required: NAME"),
    "delete no job": (["delete"], "required: NAME"),
    "top without a kind": (["top"], "required: WHAT"),
    "namespace of nodes": (["top", "node", "-n", "team"], "muster top node does not know -n team"),
    "top of an unknown kind": (["top", "job"], "invalid choice: 'job' (choose from 'node')"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_usage_error_is_one_message(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, message = BAD[case]
    assert main(arguments) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
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
def unreachable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, int]]:
    """A kubeconfig, and its port, which is bound so that no other process can listen on it."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        file = tmp_path / "kubeconfig"
        file.write_text(KUBECONFIG.format(port=port))
        monkeypatch.setenv("KUBECONFIG", str(file))
        yield file, port


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_cluster_that_does_not_answer(
    command: list[str], unreachable: tuple[Path, int], capsys: pytest.CaptureFixture[str]
) -> None:
    file, port = unreachable
    assert main(command) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"the API server https://127.0.0.1:{port} (context 'here' of {file}) does not answer" in err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_context_that_does_not_exist(
    command: list[str], unreachable: tuple[Path, int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command[:1], *command[1:2], "--context=there", *command[2:]]) == 64
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"{unreachable[0]} has no context 'there': known are here, bare" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "is not YAML at line 2: correct it, or name another with --kubeconfig"),
        ("just words", "is not a kubeconfig (no contexts in it)"),
        ("contexts: []\n", "has no current context: choose one with --context (there is none)"),
        ("contexts: [{name: x}]\ncurrent-context: x\n", "the context 'x' of"),
        (b"\xff\xfe\x00", "cannot be read"),
    ],
)
def test_an_invalid_kubeconfig(
    text: str | bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kubeconfig"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert main(["list", "--kubeconfig", str(file)]) == 64
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_the_namespace_is_that_of_the_context(unreachable: tuple[Path, int]) -> None:
    assert target._namespace_of(unreachable[0], None) == "team"
    assert target._namespace_of(unreachable[0], "bare") == "default"


def test_the_error_names_the_kubeconfig_of_a_running_cluster(
    unreachable: tuple[Path, int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(target, "_running_clusters", lambda _: iter([Path("/tmp/muster-1/admin.kubeconfig")]))
    assert main(["list"]) == 2
    assert capsys.readouterr().err.endswith(
        "; muster up is running: export KUBECONFIG=/tmp/muster-1/admin.kubeconfig\n"
    )


@pytest.mark.parametrize("program", ["/usr/bin/muster", "/site-packages/muster/__main__.py"])
def test_a_running_cluster_is_found_by_the_directory_of_its_processes(tmp_path: Path, program: str) -> None:
    directory = tmp_path / "muster-abc"
    directory.mkdir()
    (directory / "admin.kubeconfig").touch()
    for number, argv, children in (
        ("7", ["python", program, "up", "--nodes"], "8 9 10"),
        ("70", ["grep", "up"], "8"),
    ):
        (tmp_path / number / "task" / number).mkdir(parents=True)
        (tmp_path / number / "cmdline").write_text("\0".join(argv))
        (tmp_path / number / "task" / number / "children").write_text(children)
    for child, cwd in (("8", tmp_path), ("9", directory)):
        (tmp_path / child).mkdir()
        os.symlink(cwd, tmp_path / child / "cwd")
    assert list(target._running_clusters(tmp_path)) == [directory / "admin.kubeconfig"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("all", {"operator": "Exists"}),
        ("gpu_node", {"key": "gpu_node", "operator": "Exists"}),
        ("example.com/gpu", {"key": "example.com/gpu", "operator": "Exists"}),
        ("a=b:NoExecute", {"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute"}),
        ("a=:NoSchedule", {"key": "a", "operator": "Equal", "value": "", "effect": "NoSchedule"}),
    ],
)
def test_tolerations(text: str, expected: dict[str, str]) -> None:
    assert argument_types.toleration(text) == argument_types.parse_toleration(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"key": "a", "operator": "Equal", "value": "b"}),
        ("a:NoSchedule", {"key": "a", "operator": "Exists", "effect": "NoSchedule"}),
    ],
)
def test_tolerations_of_steps_that_arena_does_not_have(text: str, expected: dict[str, str]) -> None:
    assert argument_types.parse_toleration(text) == expected
    with pytest.raises(ArgumentTypeError, match="write KEY, KEY=VALUE:EFFECT or all"):
        argument_types.toleration(text)


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("30m", 1800), ("2h30m", 9000), ("1d", 86400)])
def test_durations(text: str, seconds: int) -> None:
    assert argument_types.timeout(text) == seconds


def test_the_command_may_follow_two_dashes_without_quotes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/does/not/exist")
    assert main([*SUBMIT, "--", "python", "a.py", "--epochs", "5"]) == 64
    assert "the kubeconfig /does/not/exist does not exist" in capsys.readouterr().err


def test_the_first_of_several_kubeconfigs_that_has_the_context_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, broken = (tmp_path / name for name in ("one", "two", "broken"))
    one.write_text("{current-context: here, contexts: [{name: here}]}")
    two.write_text("{contexts: [{name: here}, {name: staging}]}")
    broken.write_text("{")
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, (tmp_path / "not-there", broken, one, two))))
    assert [kubeconfig.default_kubeconfig(context) for context in (None, "here", "staging")] == [one, one, two]
    assert kubeconfig.default_kubeconfig("nowhere") == broken  # check_kubeconfig reports what is wrong with it
    monkeypatch.setenv("KUBECONFIG", str(two))
    assert kubeconfig.default_kubeconfig() == two
