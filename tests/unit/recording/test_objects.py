"""Objects as the API server may send them: a null is the same as a field that is left out."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from muster.cluster.api import Api
from muster.cluster.resources import POD
from muster.recording import recorder
from muster.recording.history import History
from muster.recording.objects import CustomObject, Event, Node, Pod, decoder
from muster.recording.recorder import KindRecorder, Recorder

ROOTS: tuple[type[msgspec.Struct], ...] = (Pod, Node, Event, CustomObject, recorder._Bookmark)
SAMPLES: dict[Any, Any] = {str: "7", int: 7, bool: True}
PLACEHOLDER = object()


def sample(kind: Any) -> Any:
    """A value of this type in which every field of every struct is set."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return sample(arguments[0])
    if origin is list:
        return [sample(arguments[0])]
    if origin is dict:
        return {"key": "7" if arguments[1] is Any else sample(arguments[1])}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return {field.encode_name: sample(field.type) for field in msgspec.structs.fields(kind)}
    return SAMPLES[kind]


def optional_fields(kind: Any) -> Iterator[tuple[Any, ...]]:
    """The path of every field, at any depth, that may be left out."""
    for argument in typing.get_args(kind):
        below = (0,) if typing.get_origin(kind) is list else ()
        yield from ((*below, *path) for path in optional_fields(argument))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for field in msgspec.structs.fields(kind):
            if not field.required:
                yield (field.encode_name,)
            yield from ((field.encode_name, *path) for path in optional_fields(field.type))


def changed(root: type[msgspec.Struct], path: tuple[Any, ...], value: Any) -> bytes:
    """A whole object, with the value at that path, or without the field there."""
    body = sample(root)
    place = body
    for part in path[:-1]:
        place = place[part]
    if value is PLACEHOLDER:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return msgspec.json.encode(body)


CASES = [(root, path) for root in ROOTS for path in optional_fields(root)]


@pytest.mark.parametrize(
    ("root", "path"), CASES, ids=[f"{root.__name__}.{'.'.join(map(str, path))}" for root, path in CASES]
)
def test_null_is_the_same_as_left_out(root: type[msgspec.Struct], path: tuple[Any, ...]) -> None:
    decode = decoder(root)
    assert decode(changed(root, path, None)) == decode(changed(root, path, PLACEHOLDER))
    assert decode(changed(root, path, None)) != decode(msgspec.json.encode(sample(root)))  # the sample sets the field


def test_the_fields_that_components_really_send_as_null_are_among_the_cases() -> None:
    named = {(root.__name__, *path) for root, path in CASES}
    assert ("Pod", "metadata", "labels") in named
    assert ("Pod", "status", "conditions") in named
    assert ("Pod", "spec", "containers", 0, "resources", "requests") in named
    assert ("Node", "spec", "taints") in named
    assert ("CustomObject", "status") in named


def test_what_must_be_there_may_not_be_null() -> None:
    with pytest.raises(msgspec.ValidationError, match="name"):
        decoder(Pod)(changed(Pod, ("metadata", "name"), None))


class OneListing(Api):
    """An API server that has a listing and nothing else."""

    def __init__(self, listing: bytes) -> None:
        super().__init__(None)
        self._listing = listing

    def read(self, path: str, **query: str) -> bytes:
        return self._listing


@pytest.mark.parametrize(
    ("items", "expected"),
    [("null", []), ('[{"metadata": {"name": "a", "labels": null}, "spec": {"containers": null}}]', ["a"])],
)
def test_a_listing_may_contain_null(items: str, expected: list[str]) -> None:
    api = OneListing(f'{{"metadata": {{"resourceVersion": "7"}}, "items": {items}}}'.encode())
    sink = Recorder(api, ())
    sink.history = History("test")
    KindRecorder(api, POD, sink)._list(after_gap=False)
    assert [pod.name for pod in sink.history.pods] == expected


def test_a_change_may_contain_null() -> None:
    sink = Recorder(Api(None), ())
    sink.history = History("test")
    kind = KindRecorder(Api(None), POD, sink)
    kind._take(
        [
            b'{"type": "ADDED", "object": {"metadata": {"name": "a", "resourceVersion": "3", "annotations": null},'
            b' "spec": {"tolerations": null}, "status": {"conditions": null}}}',
            b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}, "status": null, "message": null}}',
        ]
    )
    assert [pod.name for pod in sink.history.pods] == ["a"]
    assert kind.version == 9
