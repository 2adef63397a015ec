"""One cluster of kind's, by its name: made, found, asked for its credentials, removed.

Removal is `docker rm` of its one node: `kind delete` would do the same and then look into the user's kubeconfig, where
we never wrote. The same words are left with the janitor, who has no kind to call.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from muster.cluster.kind.configuration import configuration, may_have_sys_resource
from muster.cluster.kind.engine import Engine, disk_full
from muster.errors import HarnessError
from muster.processes import Janitor, Process

_READY_SECONDS = 180
_MANY_LINES, _FEW_LINES = 500, 12


class Kind:
    """`program` is the binary; everything that it writes goes to `directory`."""

    def __init__(self, name: str, program: Path, engine: Engine, directory: Path, say: Callable[[str], None]) -> None:
        self.name = name
        self._program, self._engine, self._directory, self._say = program, engine, directory, say

    @property
    def node(self) -> str:
        """The container that is the cluster."""
        return f"{self.name}-control-plane"

    def exists(self) -> bool:
        return self.name in self._run("get", "clusters").split()

    def kubeconfig(self) -> str:
        return self._run("get", "kubeconfig", f"--name={self.name}")

    def create(self, image: str) -> None:
        """A cluster whose node is ready. What is half made goes with us, however we end."""
        file = self._directory / "kind.yaml"
        version = self._engine.cgroup_version
        file.write_text(configuration(cgroup_version=version, sys_resource=may_have_sys_resource()))
        self._say(f"kind: making the cluster {self.name} (about a minute)")
        Janitor.current().remember_command(self._removal)
        whereabouts = [f"--image={image}", f"--config={file}", f"--kubeconfig={self._directory / 'kind.kubeconfig'}"]
        try:
            self._run("create", "cluster", f"--name={self.name}", *whereabouts, f"--wait={_READY_SECONDS}s")
        except BaseException:  # ctrl-C as well
            self.remove()
            raise

    def remove(self) -> None:
        outcome = self._engine.run(*self._engine.removal(self.node))
        if outcome.returncode and "no such container" not in outcome.stderr.lower():
            self._say(f"the kind cluster {self.name} is still there, remove it with: docker rm -f -v {self.node}")
        else:
            self.release()

    def release(self) -> None:
        """It may outlive us."""
        Janitor.current().forget_command(self._removal)

    @property
    def _removal(self) -> list[str]:
        return self._engine.for_the_janitor(*self._engine.removal(self.node))

    def _run(self, *words: str) -> str:
        log = self._directory / f"kind-{words[0]}-{words[1]}.log"
        process = Process("kind", [self._program, *words], directory=self._directory, log=log)
        if process.run_to_end():
            said = process.log_tail(_MANY_LINES)
            raise disk_full(said) or HarnessError(f"`kind {words[0]} {words[1]}` failed:\n{_complaints(said)}")
        return log.read_text()


def _complaints(said: str) -> str:
    """What kind and kubeadm call errors, without the stack that follows."""
    lines = said.splitlines()
    return "\n".join([line for line in lines if line.lower().startswith("error")] or lines[-_FEW_LINES:])
