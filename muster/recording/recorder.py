"""One watch per kind, each on its own thread, from the first list to the last bookmark.

A dropped connection resumes where it was, without loss. When the resourceVersion is too old for the server (410 Gone),
the recorder lists again and marks a gap: changes may have been missed, and no question may be answered across it.
Replayed events are recognised by their resourceVersion and dropped. A watch that does not come back is an error: to the
questions it would look like a quiet cluster.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import msgspec
import urllib3

from muster import timeouts
from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import EVENT, NODE, POD, Resource
from muster.errors import HarnessError
from muster.recording.history import History
from muster.recording.objects import CustomObject, Event, Node, Object, Pod, decoder
from muster.recording.records import Moment, Record

RECORDED = (POD, NODE, EVENT)
_TYPES: dict[str, type[Object]] = {"Pod": Pod, "Node": Node, "Event": Event}
_RETRY_AFTER = 0.1  # seconds between two attempts at a server that refuses connections
_MIN_DISTANCE = 1e-6  # seconds between two moments that are ordered by arrival
_PROVEN = 1.0  # seconds that a watch stays open after a failure before it counts as working: a kind may be quiet


class _Change(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _ObjectHeader(msgspec.Struct, rename="camel"):
    resource_version: str = "0"


class _Bookmark(msgspec.Struct):
    metadata: _ObjectHeader = msgspec.field(default_factory=_ObjectHeader)
    code: int = 0
    message: str = ""


class _List(msgspec.Struct):
    metadata: _ObjectHeader
    items: list[msgspec.Raw] | None = None


# Created here and not by the watching threads: msgspec crashes where several threads use a type for the first time at
# the same moment.
_CHANGES = msgspec.json.Decoder(_Change)
_LISTS = msgspec.json.Decoder(_List)
_decode_bookmark = decoder(_Bookmark)


class _Gone(Exception):
    """The resourceVersion of the watch is too old for the server (410)."""


class KindRecorder(threading.Thread):
    """The watch of one kind."""

    def __init__(self, api: Api, resource: Resource, recorder: Recorder, *, selector: str = "") -> None:
        super().__init__(name=f"record-{resource.plural}", daemon=True)
        self._selector = {"labelSelector": selector} if selector else {}
        self._api, self._resource, self._recorder = api, resource, recorder
        self._decode = decoder(_TYPES.get(resource.kind, CustomObject))
        self._known: dict[tuple[str, str], Record] = {}
        self._stopping = threading.Event()
        self._response: urllib3.BaseHTTPResponse | None = None
        self.version = 0  # everything up to here has been recorded
        self.listed = threading.Event()
        self.last_error = ""  # why the watch is not open, or was not until a moment ago
        self._down_since: float | None = None
        self._open_since: float | None = None

    def run(self) -> None:
        while not self._stopping.is_set():
            self._down_since = self._down_since or time.monotonic()
            try:
                if not self.listed.is_set():
                    self._list(after_gap=bool(self.version))
                self._watch()
            except _Gone:
                self.last_error = "410 Gone"
                self.listed.clear()
                self._stopping.wait(_RETRY_AFTER)
            except Exception as error:  # a recorder that dies silently would look like a quiet cluster
                self.last_error = str(error) or type(error).__name__
                self._stopping.wait(_RETRY_AFTER)

    def down_for(self) -> float:
        """For how many seconds the watch has not worked; 0 if it does.

        After a failure an open watch alone proves nothing: one that breaks at its first line is opened again and again.
        """
        opened, down, now = self._open_since, self._down_since, time.monotonic()
        if down is None or (opened is not None and (not self.last_error or now - opened >= _PROVEN)):
            return 0.0
        return now - down

    def stop(self) -> None:
        self._stopping.set()
        self.drop_connection()

    def drop_connection(self) -> None:
        """Cut the connection as a flaky network would; unless it is stopping, the recorder resumes.

        The socket's own shutdown, not that of TLS: the latter would let the reader go on with undeciphered bytes.
        """
        sock = getattr(getattr(self._response, "_connection", None), "sock", None)
        if isinstance(sock, socket.socket):
            try:
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
            except OSError:
                return  # already closed by the other side

    def _list(self, *, after_gap: bool) -> None:
        listing = _LISTS.decode(self._api.read(self._resource.path(), **self._selector))
        version, arrived = int(listing.metadata.resource_version), time.monotonic()
        found: dict[tuple[str, str], Record] = {}
        for item in listing.items or ():
            raw = self._api.visible(bytes(item))
            if raw is None:
                continue
            decoded = self._decode(raw)
            moment = self._recorder.moment(int(decoded.metadata.resource_version), arrived)
            record = Record(self._resource.kind, "MODIFIED", moment, decoded, raw)
            found[record.key] = record
        unseen = [record for key, record in found.items() if not self._same(self._known.get(key), record)]
        lost = [
            Record(old.kind, "DELETED", self._recorder.moment(version, arrived), old.object, old.raw)
            for key, old in self._known.items()
            if key not in found
        ]
        if after_gap:
            self._recorder.mark_gap(self._resource.kind)
        self._known = found
        self.version = version
        self._recorder.take(unseen + lost)
        self.listed.set()

    @staticmethod
    def _same(old: Record | None, new: Record) -> bool:
        return old is not None and old.object.metadata.resource_version == new.object.metadata.resource_version

    def _watch(self) -> None:
        query = {"watch": "1", "allowWatchBookmarks": "true", "resourceVersion": str(self.version), **self._selector}
        try:
            self._response = self._api.stream(self._resource.path(), query, idle=timeouts.WATCH_IDLE)
        except ApiRefused as refusal:
            if refusal.status == 410:
                raise _Gone from None
            raise
        opened = self._open_since = time.monotonic()
        if not self.last_error:
            self._recorder.wake_waiting()
        try:
            for lines in self._batches(self._response):
                self._take(lines)
                self._note_working()
            if time.monotonic() - opened < _PROVEN and self._down_since is not None:
                raise HarnessError("the API server closes the watch as soon as it is opened")
        finally:
            if time.monotonic() - opened >= _PROVEN:
                self._note_working()
            self._open_since = None
            response, self._response = self._response, None
            response.close()

    def _note_working(self) -> None:
        self._down_since, self.last_error = None, ""

    @staticmethod
    def _batches(response: urllib3.BaseHTTPResponse) -> Iterator[list[bytes]]:
        rest = b""
        for chunk in response.stream(1 << 16, decode_content=False):
            *lines, rest = (rest + chunk).split(b"\n")
            if lines:
                yield lines

    def _take(self, lines: list[bytes]) -> None:
        arrived = time.monotonic()
        records: list[Record] = []
        try:
            for line in lines:
                change = _CHANGES.decode(line)
                if change.type in ("BOOKMARK", "ERROR"):
                    self._note_progress(change)
                    continue
                record = self._recorded(change, arrived)
                if record is not None:
                    records.append(record)
        finally:  # records before a broken line are kept: they will not be sent again
            self._recorder.take(records)

    def _recorded(self, change: _Change, arrived: float) -> Record | None:
        raw = self._api.visible(bytes(change.object))
        if raw is None:
            return None
        decoded = self._decode(raw)
        version = int(decoded.metadata.resource_version)
        if version <= self.version:
            return None  # replayed
        record = Record(self._resource.kind, change.type, self._recorder.moment(version, arrived), decoded, raw)
        self.version = version
        if change.type == "DELETED":
            self._known.pop(record.key, None)
        else:
            self._known[record.key] = record
        return record

    def _note_progress(self, change: _Change) -> None:
        note = _decode_bookmark(change.object)
        if change.type == "BOOKMARK":
            self.version = max(self.version, int(note.metadata.resource_version))
        elif note.code == 410:
            raise _Gone
        else:
            raise HarnessError(f"the watch of {self._resource.plural} broke: {note.message}")

    def state(self) -> dict[tuple[str, str], Record]:
        return dict(self._known)


class Recorder:
    """All watches together, writing into the history that is open."""

    def __init__(self, api: Api, resources: tuple[Resource, ...] = RECORDED) -> None:
        self._api = api
        self.kinds = {resource.kind: KindRecorder(api, resource, self) for resource in resources}
        self.history: History | None = None
        self._swap = threading.Lock()
        self._newest = 0.0
        self._ordering = threading.Lock()

    def moment(self, version: int, arrived: float) -> Moment:
        """By version where versions of all kinds compare, else by arrival: then no two moments are the same."""
        if self._api.versions_compare:
            return Moment(version, arrived)
        with self._ordering:
            self._newest = max(arrived, self._newest + _MIN_DISTANCE)
            return Moment(0, self._newest)

    def start(self) -> Recorder:
        for kind in self.kinds.values():
            kind.start()
        for name, kind in self.kinds.items():
            if not kind.listed.wait(timeouts.SETTING_UP):
                raise HarnessError(f"cannot list {name} objects: {kind.last_error or 'no answer'}")
        return self

    def follow(self, resource: Resource) -> None:
        """Record one more kind from now on; the API server must serve it already."""
        if resource.kind not in self.kinds:
            kind = self.kinds[resource.kind] = KindRecorder(self._api, resource, self)
            kind.start()
            if not kind.listed.wait(timeouts.SETTING_UP):
                raise HarnessError(f"cannot list {resource.kind} objects: {kind.last_error or 'no answer'}")

    def open(self, history: History) -> History:
        """Record into this history from now on, beginning with all objects that exist."""
        with self._swap:
            for kind in self.kinds.values():
                history.append(*kind.state().values())
            self.history = history
        return history

    def check(self) -> None:
        """Raise if a watch has not worked for so long that it counts as dead."""
        for name, kind in self.kinds.items():
            if (seconds := kind.down_for()) > timeouts.WATCH_DOWN:
                raise HarnessError(
                    f"the watch of {name} objects has been down for {seconds:.0f} s"
                    f" ({kind.last_error or 'no answer'}): what happened meanwhile is unknown;"
                    " is the API server well, and may the user of the run watch them?"
                )

    @property
    def is_complete(self) -> bool:
        """Whether every watch works: what has happened is in the history, or will be in a moment."""
        return not any(kind.down_for() for kind in self.kinds.values())

    def wake_waiting(self) -> None:
        """Let whatever waits for a change look again."""
        if (history := self.history) is not None:
            with history.changed:
                history.changed.notify_all()

    def take(self, records: list[Record]) -> None:
        with self._swap:
            if self.history is not None and records:
                self.history.append(*records)

    def mark_gap(self, kind: str) -> None:
        with self._swap:
            if self.history is not None:
                self.history.mark_gap(kind)

    def stop(self) -> None:
        for kind in self.kinds.values():
            kind.stop()
        for kind in self.kinds.values():
            kind.join(timeout=timeouts.RECORDER_STOP)
