"""docs/commands.md: every command and option on it exists, none is missing, and its session can be repeated."""

from __future__ import annotations

import argparse
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from muster import cli
from muster.arena import in_process
from muster.cluster.api import Api
from muster.cluster.resources import EVENT, POD, Resource
from muster.cluster.run_scope import open_api
from tests.support.local_cluster import Watch, is_gone, phase_is

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "commands.md").read_text(encoding="utf-8")
SESSION = [block for block in re.findall(r"```text\n\$ (muster .*?)```", PAGE, re.DOTALL) if block[:9] != "muster up"]
CHANGING = (
    (r"\d+\.\d+\.\d+\.\d+", "ADDRESS"),
    (r"\b\d+[smh]\b", "TIME"),
    (r"^(INFO|DEBU)\[\d+\]", r"\1[SECONDS]"),
    (r" +", " "),
)
PLACE = (r"\bgpu-\d\b", "NODE")
Holds = Callable[[str, dict[str, Any]], bool]
MEMBERS = ("master-0", "worker-0", "worker-1")  # of the job "medium"


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from parsers(below)


def options(parser: argparse.ArgumentParser) -> set[str]:
    return {name for one in parsers(parser) for action in one._actions for name in action.option_strings}


@pytest.mark.parametrize("page", ["commands.md", "learning.md"])
def test_every_command_and_option_that_is_named_exists(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    parser, subparsers = cli.parser()
    known = options(parser)
    assert {name for name in re.findall(r"(?<![-\w])--[a-z][-a-z]+", text) if name not in known} <= {"--epochs"}
    assert set(re.findall(r"(?:^|[`$] ?)muster ([a-z]+)", text, re.MULTILINE)) <= {*subparsers.choices}
    for line in re.findall(r"^\s*(?:\$ )?muster (.+?)(?:  +#.*)?$", text, re.MULTILINE):
        assert parser.parse_known_args(shlex.split(line))[1] == []


@pytest.mark.parametrize("command", ["up", "submit", "demo", "get", "logs", "list", "top"])
def test_no_option_is_missing(command: str) -> None:
    _, subparsers = cli.parser()
    common = {"-h", "--help", "--kubeconfig", "--context", "-n", "--namespace", "-T", "--type"}
    for action in [action for one in parsers(subparsers.choices[command]) for action in one._actions]:
        names = set(action.option_strings)
        assert not names or names & common or any(name in PAGE for name in names), names


def usual(text: str, *more: tuple[str, str]) -> list[str]:
    for pattern, name in (*CHANGING, *more):
        text = re.sub(pattern, name, text, flags=re.MULTILINE)
    return [line.strip() for line in text.strip().splitlines()]


def happened(reason: str) -> Holds:
    return lambda _, event: event.get("reason") == reason


def crashed_or_gone(change: str, pod: dict[str, Any]) -> bool:
    return is_gone(change, pod) or phase_is("Failed")(change, pod)


# What has come about, by the job that was submitted last, before the next command is typed.
AFTER: dict[str, list[tuple[Resource, str, Holds]]] = {
    "medium": [
        (EVENT, "medium", happened("PyTorchJobRunning")),
        *((POD, f"medium-{member}", phase_is("Running")) for member in MEMBERS),
    ],
    "late": [(EVENT, "late-worker-0", happened("FailedScheduling"))],
    "critical": [
        (EVENT, "critical", happened("PyTorchJobRunning")),
        (EVENT, "critical", happened("SuccessfulCreateService")),
        (EVENT, "critical-master-0", happened("FailedScheduling")),
        (EVENT, "critical-master-0", happened("Scheduled")),
        (EVENT, "critical-master-0", happened("Started")),
        (EVENT, "medium", happened("PyTorchJobFailed")),
        *((POD, f"medium-{member}", crashed_or_gone) for member in MEMBERS),
        (POD, "late-worker-0", phase_is("Running")),
        (EVENT, "late", happened("MPIJobRunning")),
    ],
}


def make_the_master_the_youngest(api: Api) -> None:
    """The youngest goes for "critical"; which one that is, is decided by whole seconds and by who was created first."""
    started = {"status": {"startTime": "2000-01-01T00:00:00Z"}}
    for member in MEMBERS[1:]:
        api.patch(POD, f"medium-{member}", started, namespace="default", subresource="status")


@pytest.mark.plane
def test_the_session_can_be_repeated() -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "muster", "up"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert running.stdout is not None
        kubeconfig = Path(running.stdout.readline().strip().removeprefix("export KUBECONFIG="))
        api = open_api(kubeconfig)
        watch = Watch(api)
        for block in SESSION:
            command, _, wanted = block.partition("\n")
            seen = in_process.run(command, kubeconfig)
            assert seen.exit_code == 0, seen.output
            if command.startswith("muster events"):  # order and nodes are not defined
                assert sorted(usual(seen.output, PLACE)) == sorted(usual(wanted, PLACE))
            else:
                place = (PLACE,) if command.startswith("muster logs") else ()
                assert usual(seen.output, *place) == usual(wanted, *place), command
            if name := re.search(r"--name=(\w+)", command):
                for resource, of, holds in AFTER[name[1]]:
                    watch.until(resource, of, holds)
                if name[1] == "medium":
                    make_the_master_the_youngest(api)
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(60)
    assert running.returncode == 0
