"""A plugin of pytest (`-p muster.demo.performing`) that tells every sentence to the watcher and waits for its word.

It imports nothing of pytest: hooks are found by their names. Without --muster-demo it does nothing.
"""

from __future__ import annotations

import socket
from typing import Any

from muster.demo.maps import ClusterMap, cluster_map
from muster.demo.messages import (
    LONGEST,
    Begins,
    Closes,
    Ends,
    Fails,
    Look,
    Looked,
    Message,
    Opens,
    read_word,
    written,
)
from muster.errors import HarnessError


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--muster-demo", default=None, metavar="NAME", help="the abstract socket of whoever watches")


def pytest_configure(config: Any) -> None:
    if name := config.getoption("--muster-demo"):
        config.pluginmanager.register(Performance(name))


class Performance:
    """One scenario, told as it happens."""

    def __init__(self, name: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.connect("\0" + name)

    def pytest_bdd_before_scenario(self, request: Any) -> None:
        scene = request.getfixturevalue("scene")
        self._tell(Opens(str(scene.subject.workplace.admin) if scene else ""), scene)

    def pytest_bdd_before_step(self, request: Any, step: Any) -> None:
        begins = Begins(step.line_number, step.type, step.name, step.docstring or "")
        self._tell(begins, request.getfixturevalue("scene"))

    def pytest_bdd_after_step(self, request: Any) -> None:
        scene = request.getfixturevalue("scene")
        self._tell(Ends(scene.jobs.answer if scene else "", _picture(scene)), scene)

    def pytest_bdd_step_error(self, request: Any) -> None:
        self._tell(Fails(), request.getfixturevalue("scene"))

    def pytest_bdd_after_scenario(self, request: Any) -> None:
        scene = request.getfixturevalue("scene")
        self._tell(Closes(_picture(scene)), scene)

    def _tell(self, message: Message, scene: Any) -> None:
        """Returns when the watcher wants to go on; until then it may have looks around."""
        from muster.cli.typing import typed

        self._socket.send(written(message))
        while packet := self._socket.recv(LONGEST):
            word = read_word(packet)
            if not isinstance(word, Look):
                return
            self._socket.send(written(Looked(typed(word.command, scene.subject.workplace.admin).text)))
        raise HarnessError("nobody watches any more")


def _picture(scene: Any) -> ClusterMap | None:
    """A scene of no cluster has none."""
    if scene is None:
        return None
    from muster.cluster.resources import NODE, POD
    from muster.stage.canary import NAME as CANARY

    nodes = [node for node in scene.api.list(NODE)["items"] if node["metadata"]["name"] != CANARY]
    pods = scene.api.list(POD, scene.namespace)["items"]
    return cluster_map(nodes, pods, scene.chronicle.history.known_as)
