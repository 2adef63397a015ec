"""Connection between pytest and `muster demo`: packets of JSON on a Unix socket, and the end that receives them.

Each event is answered by exactly one `Continue` before the scenario continues, so nothing is lost and a pause of the
demo pauses the scenario. Before that, the demo may send any `RunCommand`; each is answered by a `CommandOutput`.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue

import msgspec

from muster.demo.cluster_map import ClusterMap

LARGEST_PACKET = 1 << 17  # bytes: an output of some hundred lines fits, and it is within the kernel's limits


class ClusterReady(msgspec.Struct, tag=True, frozen=True):
    """The cluster is up, the first step comes next."""

    kubeconfig: str


class StepStarted(msgspec.Struct, tag=True, frozen=True):
    """A step begins: its line in the feature file, its kind (given, when, then), its text and its doc string."""

    line: int
    kind: str
    text: str
    docstring: str


class StepPassed(msgspec.Struct, tag=True, frozen=True):
    """A step passed; with the output, if it ran a command, and the cluster as it is now."""

    output: str
    cluster: ClusterMap | None


class StepFailed(msgspec.Struct, tag=True, frozen=True):
    """A step failed or broke."""


class CommandOutput(msgspec.Struct, tag=True, frozen=True):
    """The output of a command that the demo requested."""

    output: str


class ScenarioFinished(msgspec.Struct, tag=True, frozen=True):
    """The last step has ended; the cluster still exists."""

    cluster: ClusterMap | None


class Continue(msgspec.Struct, tag=True, frozen=True):
    """The demo has shown the event."""


class RunCommand(msgspec.Struct, tag=True, frozen=True):
    """The demo requests the output of this command."""

    command: str


Event = ClusterReady | StepStarted | StepPassed | StepFailed | CommandOutput | ScenarioFinished
Reply = Continue | RunCommand


def encode(message: Event | Reply) -> bytes:
    return msgspec.json.encode(message)


def decode_event(packet: bytes) -> Event:
    event: Event = msgspec.json.decode(packet, type=Event)
    return event


def decode_reply(packet: bytes) -> Reply:
    reply: Reply = msgspec.json.decode(packet, type=Reply)
    return reply


class DemoServer:
    """Listens on an abstract socket name: no file can be left behind."""

    def __init__(self) -> None:
        self.name = f"muster-demo-{os.getpid()}-{os.urandom(4).hex()}"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind("\0" + self.name)
        self._listener.listen(1)
        self._connection: socket.socket | None = None
        self._packets: SimpleQueue[bytes] = SimpleQueue()  # an empty packet is the end

    def __enter__(self) -> DemoServer:
        threading.Thread(target=self._receive, name="demo", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        if self._connection is not None:
            self._connection.close()

    def events(self, wait_for_end: Callable[[], object]) -> Iterator[Event]:
        """Until `wait_for_end`, which blocks, returns; events received before that are still yielded."""
        threading.Thread(target=self._await_end, args=(wait_for_end,), name="end", daemon=True).start()
        while packet := self._packets.get():
            yield decode_event(packet)

    def proceed(self) -> None:
        """Let the scenario continue."""
        self._send(Continue())

    def disconnect(self) -> None:
        """A scenario that waits for a reply, or sends an event later, ends at once."""
        if self._connection is not None:
            with suppress(OSError):  # pytest has ended
                self._connection.shutdown(socket.SHUT_RDWR)  # close() would not wake the receiving thread

    def run_command(self, command: str) -> str:
        """The output of a command on the cluster of the scenario; empty when the scenario has just ended."""
        self._send(RunCommand(command))
        packet = self._packets.get()
        if not packet:
            self._packets.put(b"")
            return ""
        event = decode_event(packet)
        assert isinstance(event, CommandOutput)
        return event.output

    def _send(self, reply: Reply) -> None:
        assert self._connection is not None
        with suppress(OSError):  # pytest has ended: the empty packet follows
            self._connection.send(encode(reply))

    def _await_end(self, wait_for_end: Callable[[], object]) -> None:
        wait_for_end()
        self._packets.put(b"")

    def _receive(self) -> None:
        with suppress(OSError):  # closed before pytest connected, or the connection was lost
            self._connection, _ = self._listener.accept()
            while packet := self._connection.recv(LARGEST_PACKET):
                self._packets.put(packet)
