"""What the performance tells and what the watcher answers, as packets of JSON on a Unix socket.

Each message is answered by exactly one word before the performance goes on: so nothing is lost, and a pause of the
watcher is a pause of the scenario. Trap: a look is itself answered, by `Looked`, so words can follow each other.
"""

from __future__ import annotations

import msgspec

from muster.demo.maps import ClusterMap

LONGEST = 1 << 17  # bytes of one packet: an answer of some hundred lines fits, and so do the kernel's own limits


class Opens(msgspec.Struct, tag=True, frozen=True):
    """The cluster is there, the first sentence comes next."""

    kubeconfig: str


class Begins(msgspec.Struct, tag=True, frozen=True):
    """A sentence begins: its place in the feature file, its kind (given, when, then) and what is typed in it."""

    line: int
    kind: str
    text: str
    docstring: str


class Ends(msgspec.Struct, tag=True, frozen=True):
    """A sentence held; with the answer, if it was a command, and the cluster as it is now."""

    answer: str
    picture: ClusterMap | None


class Fails(msgspec.Struct, tag=True, frozen=True):
    """A sentence did not hold, or could not be judged."""


class Looked(msgspec.Struct, tag=True, frozen=True):
    """The answer to a command that the watcher asked for."""

    answer: str


class Closes(msgspec.Struct, tag=True, frozen=True):
    """The last sentence was spoken; the cluster is still there."""

    picture: ClusterMap | None


class GoOn(msgspec.Struct, tag=True, frozen=True):
    """The watcher has seen it."""


class Look(msgspec.Struct, tag=True, frozen=True):
    """The watcher wants to see what this command says now."""

    command: str


Message = Opens | Begins | Ends | Fails | Looked | Closes
Word = GoOn | Look


def written(message: Message | Word) -> bytes:
    return msgspec.json.encode(message)


def read_message(packet: bytes) -> Message:
    message: Message = msgspec.json.decode(packet, type=Message)
    return message


def read_word(packet: bytes) -> Word:
    word: Word = msgspec.json.decode(packet, type=Word)
    return word
