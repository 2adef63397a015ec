"""A watch that does not come back is an error at the next question; one that does come back is not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from muster import timeouts
from muster.assertions.evaluation import Recording
from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import EVENT, POD
from muster.environment import Environment
from muster.errors import HarnessError
from muster.recording import recorder as recorder_module
from muster.recording.history import History
from muster.recording.questions import Answer, Outcome, Question
from muster.recording.recorder import Recorder
from muster.recording.records import Moment
from muster.run_options import RunOptions

GRACE = 0.4
POLL = 5.0  # seconds; a test that needs so long fails
EMPTY = b'{"metadata": {"resourceVersion": "5"}, "items": []}'
BOOKMARK = b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "6"}}}\n'
FORBIDDEN = ApiRefused(403, "Forbidden", "events is forbidden", "watch /api/v1/events")

NO_EVENT = Question(
    "no event", lambda history: Answer(Outcome.FALSE if history.records["Event"] else Outcome.TRUE, "as recorded")
)


class Stream:
    """The response to a watch: these chunks, then the end; without chunks it stays open and silent."""

    def __init__(self, *chunks: bytes, silent: bool = False) -> None:
        self._chunks, self._silent = chunks, silent
        self._closed = threading.Event()

    def stream(self, _size: int, *, decode_content: bool) -> Iterator[bytes]:
        yield from self._chunks
        if self._silent:
            self._closed.wait()

    def close(self) -> None:
        self._closed.set()


class FakeApi(Api):
    """Lists are empty; each attempt at a watch does what `watch` does."""

    def __init__(self, watch: Callable[[], Any]) -> None:
        super().__init__(None)
        self._watch = watch
        self.streams: list[Stream] = []
        self.attempts = threading.Semaphore(0)

    def read(self, path: str, **query: str) -> bytes:
        return EMPTY

    def stream(self, path: str, query: Mapping[str, str], *, idle: float) -> Any:
        self.attempts.release()
        stream = Stream(silent=True) if path == POD.path() else self._watch()
        self.streams.append(stream)
        return stream


class Watched:
    """A scenario on a fake API server that records pods, whose watch works, and events, whose watch does not."""

    def __init__(self, watch: Callable[[], Any]) -> None:
        self.api = FakeApi(watch)
        self.recorder = Recorder(self.api, (POD, EVENT)).start()
        history = self.recorder.open(History("test"))
        environment: Any = Environment(RunOptions())
        environment.cluster = environment.scheduler = SimpleNamespace(check=lambda: None)
        environment.recorder = self.recorder
        self.recording = Recording(
            history,
            check_health=lambda: environment._check_scenario(history, ""),
            probe=lambda: Moment(1, 1.0),
            longest_backoff=0.0,
        )

    def await_attempts(self, number: int) -> None:
        for _ in range(number):
            assert self.api.attempts.acquire(timeout=POLL)

    def stop(self) -> None:
        for kind in self.recorder.kinds.values():
            kind._stopping.set()
        for stream in self.api.streams:
            stream.close()
        self.recorder.stop()


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[[], Any]], Watched]]:
    monkeypatch.setattr(timeouts, "WATCH_DOWN", GRACE)
    monkeypatch.setattr(recorder_module, "_PROVEN", 0.2, raising=False)
    monkeypatch.setattr(recorder_module, "_RETRY_AFTER", 0.01)
    made: list[Watched] = []

    def make(watch: Callable[[], Any]) -> Watched:
        made.append(Watched(watch))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def refused() -> Any:
    raise FORBIDDEN


def test_a_watch_that_is_always_refused_is_an_error_at_the_next_question(watched: Callable[..., Watched]) -> None:
    scenario = watched(refused)
    with pytest.raises(HarnessError, match=r"the watch of Event objects has been down for \d+ s .*events is forbidden"):
        scenario.recording.must(NO_EVENT)
    with pytest.raises(HarnessError, match="the watch of Event objects"):
        scenario.recording.close()


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        (lambda: Stream(b"\x17\x03 no JSON\n"), "JSON"),
        (lambda: Stream(), "closes the watch as soon as it is opened"),
        (
            lambda: Stream(b'{"type": "ERROR", "object": {"code": 500, "message": "etcd is away"}}\n'),
            "etcd is away",
        ),
        (lambda: Stream(b'{"type": "ERROR", "object": {"code": 410}}\n'), "410 Gone"),
    ],
    ids=["broken line", "closed at once", "error", "always too old"],
)
def test_a_watch_that_is_opened_but_never_works_is_an_error(
    stream: Callable[[], Stream], reason: str, watched: Callable[..., Watched]
) -> None:
    scenario = watched(stream)
    scenario.await_attempts(3)
    with pytest.raises(HarnessError, match=rf"the watch of Event objects .*{reason}|the recording has a gap"):
        scenario.recording.must(NO_EVENT)
    with pytest.raises(HarnessError, match=rf"the watch of Event objects .*{reason}"):
        scenario.recording.check_health()


def test_a_watch_without_an_answer_is_an_error(watched: Callable[..., Watched]) -> None:
    hung = threading.Event()
    scenario = watched(lambda: (hung.wait(POLL), refused()))
    with pytest.raises(HarnessError, match=r"the watch of Event objects .*\(no answer\)"):
        scenario.recording.must(NO_EVENT)
    hung.set()


def test_a_watch_that_resumes_in_time_is_no_error(watched: Callable[..., Watched]) -> None:
    attempts = iter([refused] * 3)
    scenario = watched(lambda: next(attempts, lambda: Stream(silent=True))())
    assert scenario.recording.must(NO_EVENT).outcome is Outcome.TRUE
    scenario.recording.close()


def test_an_answer_waits_for_the_watch_and_for_what_it_brings(watched: Callable[..., Watched]) -> None:
    event = b'{"type": "ADDED", "object": {"metadata": {"name": "e", "resourceVersion": "7"}, "involvedObject": {}}}\n'
    attempts = iter([refused] * 3)
    scenario = watched(lambda: next(attempts, lambda: Stream(event, silent=True))())
    with pytest.raises(AssertionError, match="no event"):
        scenario.recording.must(NO_EVENT)


def test_watches_that_the_server_ends_as_usual_are_no_error(watched: Callable[..., Watched]) -> None:
    scenario = watched(lambda: Stream(BOOKMARK))
    scenario.await_attempts(40)
    assert scenario.recording.must(NO_EVENT).outcome is Outcome.TRUE
    scenario.recorder.check()
