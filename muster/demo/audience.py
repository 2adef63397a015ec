"""The watcher's end of the socket: messages come one by one until the performance has ended, however it ended."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue

from muster.demo.messages import LONGEST, GoOn, Look, Looked, Message, Word, read_message, written


class Audience:
    """Listens from entering on, on an abstract name: no file that could be left behind."""

    def __init__(self) -> None:
        self.name = f"muster-demo-{os.getpid()}-{os.urandom(4).hex()}"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind("\0" + self.name)
        self._listener.listen(1)
        self._performer: socket.socket | None = None
        self._packets: SimpleQueue[bytes] = SimpleQueue()  # an empty packet: nothing comes any more

    def __enter__(self) -> Audience:
        threading.Thread(target=self._receive, name="demo", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        if self._performer is not None:
            self._performer.close()

    def messages(self, ended: Callable[[], object]) -> Iterator[Message]:
        """Until `ended`, which blocks, returns; what was told before that is still given."""
        threading.Thread(target=self._await_end, args=(ended,), name="end", daemon=True).start()
        while packet := self._packets.get():
            yield read_message(packet)

    def go_on(self) -> None:
        self._say(GoOn())

    def leave(self) -> None:
        """Nothing is said any more: a performance that waits for a word, or tells more, ends at once."""
        if self._performer is not None:
            with suppress(OSError):  # it has ended
                self._performer.shutdown(socket.SHUT_RDWR)  # closing it would not wake the thread that receives

    def look(self, command: str) -> str:
        """What this command says now, on the cluster of the performance; empty when that has just ended."""
        self._say(Look(command))
        packet = self._packets.get()
        if not packet:
            self._packets.put(b"")
            return ""
        looked = read_message(packet)
        assert isinstance(looked, Looked)
        return looked.answer

    def _say(self, word: Word) -> None:
        assert self._performer is not None
        with suppress(OSError):  # it has ended: the empty packet tells
            self._performer.send(written(word))

    def _await_end(self, ended: Callable[[], object]) -> None:
        ended()
        self._packets.put(b"")

    def _receive(self) -> None:
        with suppress(OSError):  # closed before anybody came, or broken off
            self._performer, _ = self._listener.accept()
            while packet := self._performer.recv(LONGEST):
                self._packets.put(packet)
