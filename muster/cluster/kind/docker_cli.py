"""The engine behind `docker`, asked by its own command line: contexts and DOCKER_HOST count as the user set them.

Whatever is wrong with it becomes one sentence with the fix. No registry is asked before it is known that an image is
not here.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

from muster.errors import HarnessError, UsageError
from muster.processes import Janitor

_ANSWER_SECONDS = 30.0
_SCRIPT_SECONDS = 120.0
_CARRY_SECONDS = 1800.0  # an image of a gigabyte, over a slow line
# What the environment of the command line must have, for whoever calls it later and has no environment of its own.
_STEERING = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY")
Outcome = subprocess.CompletedProcess[str]
_WITHOUT = "or run without one: --cluster local"


class Engine:
    """An engine that answers, and whether it has what a node needs."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        program = shutil.which("docker")
        if program is None:
            raise HarnessError(f"kind needs Docker, and there is no `docker` on PATH: install it, {_WITHOUT}.")
        self._program = program
        self.cgroup_version = self._ask_cgroup_version()

    def run(self, *arguments: str, seconds: float = _ANSWER_SECONDS, text: str = "") -> Outcome:
        """Carry out one command of `docker`, which reads `text`; how it ended is for the caller to judge."""
        try:
            return subprocess.run(
                [self._program, *arguments],
                env=Janitor.current().tagged(os.environ),
                input=text,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise HarnessError(
                f"`docker {arguments[0]}` did not end within {seconds:g} s: is the engine well (`docker info`)?"
            ) from None

    def inside(self, node: str, script: str, text: str = "") -> str:
        """What a line of shell, which reads `text`, prints inside a node."""
        outcome = self.run("exec", "--interactive", node, "sh", "-c", script, seconds=_SCRIPT_SECONDS, text=text)
        if outcome.returncode:
            raise HarnessError(f"the node {node} does not carry out `{script}`: {_last_line(outcome)}")
        return outcome.stdout

    def removal(self, node: str) -> list[str]:
        """The words that remove a node and its volumes."""
        return ["rm", "--force", "--volumes", node]

    def for_the_janitor(self, *arguments: str) -> list[str]:
        """A command of `docker` for somebody whose environment is empty."""
        settings = [f"{name}={os.environ[name]}" for name in _STEERING if name in os.environ]
        return ["/usr/bin/env", *settings, self._program, *arguments]

    def have_image(self, wanted: str) -> str:
        """The reference of an image that is here now: loaded from an archive, or pulled, if it was not."""
        if wanted.endswith(".tar"):
            return self._have_archive(Path(wanted))
        if not self._has(wanted):
            self._say(f"{wanted.partition('@')[0]}: not here yet, pulling it (about 1 GB)")
            self._carry(wanted, "pull", "--quiet", wanted)
        return wanted

    def _have_archive(self, archive: Path) -> str:
        try:
            with tarfile.open(archive) as content:
                listed = content.extractfile("manifest.json")
                reference: str = json.load(listed)[0]["RepoTags"][0] if listed else ""
        except (OSError, tarfile.TarError, KeyError, ValueError, IndexError) as problem:
            raise UsageError(f"--kind-image {archive} is no image as `make kind-image` writes it: {problem}") from None
        if not self._has(reference):
            self._say(f"{reference}: loading it into Docker")
            self._carry(reference, "load", "--quiet", "--input", str(archive))
        return reference

    def made_from(self, node: str, image: str) -> str:
        """The image that a node was made from, by the name it had then; empty if it is this one, whatever its name."""
        made = self.run("container", "inspect", "--format", "{{.Image}} {{.Config.Image}}", node)
        if made.returncode:
            raise HarnessError(f"the node {node} cannot be looked at: {_last_line(made)}")
        identity, _, name = made.stdout.strip().partition(" ")
        return "" if identity == self._identity(image) else name

    def _has(self, reference: str) -> bool:
        return bool(self._identity(reference))

    def _identity(self, reference: str) -> str:
        """What Docker calls an image itself; empty if it is not here."""
        outcome = self.run("image", "inspect", "--format", "{{.Id}}", reference)
        return "" if outcome.returncode else outcome.stdout.strip()

    def _carry(self, reference: str, *arguments: str) -> None:
        outcome = self.run(*arguments, seconds=_CARRY_SECONDS)
        if outcome.returncode:
            raise disk_full(outcome.stderr) or HarnessError(
                f"The node image {reference} is not here and cannot be had ({_last_line(outcome)}): check the network, "
                f"or make one with `make kind-image` and name what it prints with --kind-image, {_WITHOUT}."
            )

    def _ask_cgroup_version(self) -> str:
        outcome = self.run("info", "--format", "{{json .}}")
        try:
            answer = json.loads(outcome.stdout or "{}")
        except ValueError:
            answer = {}
        trouble = " ".join(answer.get("ServerErrors") or []) or ("" if answer.get("ServerVersion") else outcome.stderr)
        if "permission denied" in trouble.lower():
            raise HarnessError(
                "Docker is there, but you may not use it: join its group (`sudo usermod -aG docker $USER`, then log in "
                f"again), {_WITHOUT}."
            )
        if trouble or outcome.returncode:
            raise HarnessError(
                f"kind needs a Docker engine, and none answers ({trouble.strip()}): start it, {_WITHOUT}."
            )
        return str(answer.get("CgroupVersion") or "2")


def disk_full(output: str) -> HarnessError | None:
    """The error for a full disk, if that is what the output is about."""
    if "no space left on device" not in output.lower():
        return None
    return HarnessError(
        "The disk that Docker keeps its data on is full: free some room (`docker system df` shows what can go, "
        "`docker system prune` removes it)."
    )


def _last_line(outcome: Outcome) -> str:
    lines = (outcome.stderr.strip() or outcome.stdout.strip()).splitlines()
    return lines[-1] if lines else f"exit code {outcome.returncode}"
