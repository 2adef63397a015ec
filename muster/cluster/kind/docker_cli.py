"""The Docker engine of kind, through the `docker` command: contexts and DOCKER_HOST apply as the user set them.

Every error says what to do. An image is pulled only when the engine does not have it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

from muster import timeouts
from muster.errors import HarnessError, UsageError
from muster.processes import Reaper

# Variables that `docker` reads: the reaper, which has an empty environment, needs them in its command.
_VARIABLES = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY")
Outcome = subprocess.CompletedProcess[str]
_ALTERNATIVE = "or run without one: --cluster local"


class Engine:
    """An engine that answers."""

    def __init__(self, print_line: Callable[[str], None]) -> None:
        self._print_line = print_line
        program = shutil.which("docker")
        if program is None:
            raise HarnessError(f"kind needs Docker, and there is no `docker` on PATH: install it, {_ALTERNATIVE}.")
        self._program = program
        self.cgroup_version = self._find_cgroup_version()

    def run(self, *arguments: str, seconds: float = timeouts.ENGINE_COMMAND, text: str = "") -> Outcome:
        """Run one `docker` command with `text` as its standard input; the caller checks the exit code."""
        try:
            return subprocess.run(
                [self._program, *arguments],
                env=Reaper.current().tagged(os.environ),
                input=text,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise HarnessError(
                f"`docker {arguments[0]}` did not end within {seconds:g} s: is the engine healthy (`docker info`)?"
            ) from None

    def run_in_node(self, node: str, script: str, text: str = "", *, seconds: float = timeouts.ENGINE_SCRIPT) -> str:
        """Run a line of shell in a node with `text` as its standard input, and return its output."""
        outcome = self.run("exec", "--interactive", node, "sh", "-c", script, seconds=seconds, text=text)
        if outcome.returncode:
            raise HarnessError(f"in the node {node} `{script}` failed: {_last_line(outcome)}")
        return outcome.stdout

    def removal(self, *nodes: str) -> list[str]:
        """The arguments of `docker` that remove nodes and their volumes."""
        return ["rm", "--force", "--volumes", *nodes]

    def command_for_reaper(self, *arguments: str) -> list[str]:
        """A `docker` command for the reaper, whose environment is empty."""
        settings = [f"{name}={os.environ[name]}" for name in _VARIABLES if name in os.environ]
        return ["/usr/bin/env", *settings, self._program, *arguments]

    def ensure_image(self, wanted: str) -> str:
        """Load the image from an archive, or pull it, unless the engine has it; return its reference."""
        if wanted.endswith(".tar"):
            return self._ensure_archive(Path(wanted))
        if not self._has(wanted):
            self._print_line(f"{wanted.partition('@')[0]}: not present, pulling it (about 1 GB)")
            self._transfer(wanted, "pull", "--quiet", wanted)
        return wanted

    def _ensure_archive(self, archive: Path) -> str:
        try:
            with tarfile.open(archive) as content:
                listed = content.extractfile("manifest.json")
                reference: str = json.load(listed)[0]["RepoTags"][0] if listed else ""
        except (OSError, tarfile.TarError, KeyError, ValueError, IndexError) as problem:
            raise UsageError(f"--kind-image {archive} is not an image of `make kind-image`: {problem}") from None
        if not self._has(reference):
            self._print_line(f"{reference}: loading it into Docker")
            self._transfer(reference, "load", "--quiet", "--input", str(archive))
        return reference

    def require(self, reference: str) -> None:
        """Pull an image of the user's unless the engine has it."""
        if self._has(reference):
            return
        self._print_line(f"{reference}: not present, pulling it")
        outcome = self.run("pull", "--quiet", reference, seconds=timeouts.ENGINE_IMAGE)
        if outcome.returncode:
            raise disk_full_error(outcome.stderr) or HarnessError(
                f"Docker does not have the image {reference}, and cannot pull it ({_last_line(outcome)}): "
                "build or load it first, or name an archive of it (.tar)."
            )

    def image_of(self, node: str, image: str) -> str:
        """The name of the image that a node was made from; empty if it is `image`, under whatever name."""
        made = self.run("container", "inspect", "--format", "{{.Image}} {{.Config.Image}}", node)
        if made.returncode:
            raise HarnessError(f"the node {node} cannot be inspected: {_last_line(made)}")
        identity, _, name = made.stdout.strip().partition(" ")
        return "" if identity == self._identity(image) else name

    def _has(self, reference: str) -> bool:
        return bool(self._identity(reference))

    def _identity(self, reference: str) -> str:
        """Docker's id of an image; empty if the engine does not have it."""
        outcome = self.run("image", "inspect", "--format", "{{.Id}}", reference)
        return "" if outcome.returncode else outcome.stdout.strip()

    def _transfer(self, reference: str, *arguments: str) -> None:
        outcome = self.run(*arguments, seconds=timeouts.ENGINE_IMAGE)
        if outcome.returncode:
            raise disk_full_error(outcome.stderr) or HarnessError(
                f"The node image {reference} is not present and cannot be loaded ({_last_line(outcome)}): check the "
                f"network, or make one with `make kind-image` and name what it prints with "
                f"--kind-image, {_ALTERNATIVE}."
            )

    def _find_cgroup_version(self) -> str:
        outcome = self.run("info", "--format", "{{json .}}")
        try:
            info = json.loads(outcome.stdout or "{}")
        except ValueError:
            info = {}
        trouble = " ".join(info.get("ServerErrors") or []) or ("" if info.get("ServerVersion") else outcome.stderr)
        if "permission denied" in trouble.lower():
            raise HarnessError(
                "Docker is installed, but you have no permission to use it: join its group "
                f"(`sudo usermod -aG docker $USER`, then log in again), {_ALTERNATIVE}."
            )
        if trouble or outcome.returncode:
            raise HarnessError(
                f"kind needs a Docker engine, and none answers ({trouble.strip()}): start it, {_ALTERNATIVE}."
            )
        return str(info.get("CgroupVersion") or "2")


def disk_full_error(output: str) -> HarnessError | None:
    """The error for a full disk, if the output says so."""
    if "no space left on device" not in output.lower():
        return None
    return HarnessError(
        "The disk that Docker keeps its data on is full: free some space (`docker system df` shows what can be "
        "removed, `docker system prune` removes it)."
    )


def _last_line(outcome: Outcome) -> str:
    lines = (outcome.stderr.strip() or outcome.stdout.strip()).splitlines()
    return lines[-1] if lines else f"exit code {outcome.returncode}"
