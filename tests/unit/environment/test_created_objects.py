from __future__ import annotations

from muster.cluster.api import Api, Write
from muster.environment.created_objects import CreatedObjects


class _Deletions(Api):
    def __init__(self) -> None:
        self.paths: list[str] = []

    def delete_path(self, path: str, **query: str) -> None:
        self.paths.append(path)


def _write(path: str, name: str, method: str = "POST") -> Write:
    return Write(method, path, {}, {"metadata": {"name": name}}, "application/json")


def test_objects_of_namespaces_are_deleted_once_and_the_newest_first() -> None:
    created, api = CreatedObjects(), _Deletions()
    created.write(_write("/api/v1/namespaces/a/configmaps", "first"))
    created.write(_write("/apis/scheduling.volcano.sh/v1beta1/namespaces/a-other/podgroups", "second"))
    for _ in range(2):
        created.delete(api)
    assert api.paths == [
        "/apis/scheduling.volcano.sh/v1beta1/namespaces/a-other/podgroups/second",
        "/api/v1/namespaces/a/configmaps/first",
    ]


def test_what_is_deleted_otherwise_or_not_at_all() -> None:
    created, api = CreatedObjects(), _Deletions()
    created.write(_write("/api/v1/namespaces", "a"))
    created.write(_write("/api/v1/nodes", "gpu-1"))
    created.write(_write("/api/v1/namespaces/a/pods", "p"))
    created.write(_write("/api/v1/namespaces/a/pods/p/binding", "p"))
    created.write(_write("/api/v1/namespaces/a/serviceaccounts", "default"))
    created.write(_write("/api/v1/namespaces/a/configmaps/c", "c", "PATCH"))
    created.delete(api)
    assert api.paths == []


def test_another_listener_is_told_as_well() -> None:
    heard: list[Write] = []
    write = _write("/api/v1/namespaces/a/configmaps", "c")
    CreatedObjects().and_for(heard.append)(write)
    assert heard == [write]
