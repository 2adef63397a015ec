"""Runs a composite action as GitHub does, on this machine: each `run:` in its shell, with its environment, in order.

The files behind GITHUB_OUTPUT and its brothers are new for each step, as on GitHub, and read when the step has ended.
Other people's actions are not run: a stand-in for each says what they would have put out.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.support.action_expressions import Expressions

StandIn = Callable[[Mapping[str, str]], Mapping[str, str]]
_FILES = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH")
_DELIMITED = re.compile(r"^([\w-]+)<<(\S+)\n(.*?)\n\2$|^([\w-]+)=([^\n]*)$", re.MULTILINE | re.DOTALL)


@dataclass
class Ran:
    """What came of one step."""

    name: str
    code: int
    said: str


@dataclass
class ActionRunner:
    """One use of the action in one job. `stand_ins` are found by the part of `uses:` before the @."""

    action: Path
    work: Path
    stand_ins: Mapping[str, StandIn]
    environment: Mapping[str, str] = field(default_factory=dict)
    ran: list[Ran] = field(default_factory=list)
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    summary: str = ""
    outputs: dict[str, str] = field(default_factory=dict)

    def run(self, **inputs: str) -> int:
        """Every step whose condition holds; the exit code of the first that failed, or 0."""
        definition = yaml.safe_load((self.action / "action.yml").read_text())
        values = self._beginning(definition["inputs"], inputs)
        code = 0
        for step in definition["runs"]["steps"]:
            expressions = Expressions(values, failed=code != 0)
            if not expressions.holds(str(step.get("if", ""))):
                continue
            ended, outputs = self._step(step, expressions)
            code = code or ended
            values |= {f"steps.{step.get('id')}.outputs.{name}": value for name, value in outputs.items()}
        last = Expressions(values)
        self.outputs = {name: last.fill(output["value"]) for name, output in definition["outputs"].items()}
        return code

    def _beginning(self, declared: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, str]:
        named = {name.replace("_", "-"): value for name, value in given.items()}
        assert set(named) <= set(declared), "an input that the action does not have"
        (self.work / "temp").mkdir(parents=True, exist_ok=True)
        (self.work / "workspace").mkdir(exist_ok=True)
        values = {"github.action_path": str(self.action), "runner.temp": str(self.work / "temp"), "runner.os": "Linux"}
        return values | {f"inputs.{name}": named.get(name, one["default"]) for name, one in declared.items()}

    def _step(self, step: Mapping[str, Any], expressions: Expressions) -> tuple[int, Mapping[str, str]]:
        if "uses" in step:
            given = {name: expressions.fill(str(value)) for name, value in step.get("with", {}).items()}
            self.used[step["name"]] = given
            return 0, self.stand_ins[step["uses"].partition("@")[0]](given)
        assert step["shell"] == "bash"
        files = {name: self.work / "files" / str(len(self.ran)) / name for name in _FILES}
        script = self.work / "files" / str(len(self.ran)) / "script.sh"
        for file in (*files.values(), script):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("")
        script.write_text(step["run"])
        environment = {name: expressions.fill(str(value)) for name, value in step.get("env", {}).items()}
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.work / "workspace",
            env={**self._base(), **environment, **{name: str(file) for name, file in files.items()}},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        self.ran.append(Ran(step["name"], ended.returncode, ended.stdout.decode(errors="replace")))
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        return ended.returncode, _written(files["GITHUB_OUTPUT"].read_text())

    def _base(self) -> dict[str, str]:
        """No more than a runner gives, so that nothing of the caller's environment helps."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        given = {"GITHUB_ACTIONS": "true", "CI": "true", "RUNNER_TEMP": str(self.work / "temp"), "LANG": "C.UTF-8"}
        return {**kept, **given, **self.environment}


def _written(text: str) -> dict[str, str]:
    """`name=value`, or `name<<END`, lines, `END`."""
    found = {}
    for name, _, lines, short, value in _DELIMITED.findall(text):
        found[name or short] = lines if name else value
    return found
