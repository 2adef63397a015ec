"""A plugin of pytest (`-p muster.demo.pytest_plugin`) that sends every step to the demo and waits for its reply.

It does not import pytest: hooks are found by their names. Without --muster-demo it does nothing.
"""

from __future__ import annotations

import socket
from typing import Any

from muster.demo.cluster_map import ClusterMap, cluster_map
from muster.demo.server import (
    LARGEST_PACKET,
    ClusterReady,
    CommandOutput,
    Event,
    RunCommand,
    ScenarioFinished,
    StepFailed,
    StepPassed,
    StepStarted,
    decode_reply,
    encode,
)
from muster.errors import HarnessError


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--muster-demo", default=None, metavar="NAME", help="the abstract socket of `muster demo`")


def pytest_configure(config: Any) -> None:
    if name := config.getoption("--muster-demo"):
        config.pluginmanager.register(StepSender(name))


class StepSender:
    """Sends the steps of one scenario as they run."""

    def __init__(self, name: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.connect("\0" + name)

    def pytest_bdd_before_scenario(self, request: Any) -> None:
        scenario = request.getfixturevalue("scenario")
        kubeconfig = str(scenario.scheduler.context.admin_kubeconfig) if scenario else ""
        self._send(ClusterReady(kubeconfig), request)

    def pytest_bdd_before_step(self, request: Any, step: Any) -> None:
        self._send(StepStarted(step.line_number, step.type, step.name, step.docstring or ""), request)

    def pytest_bdd_after_step(self, request: Any) -> None:
        scenario = request.getfixturevalue("scenario")
        self._send(StepPassed(scenario.jobs.last_output if scenario else "", _cluster_of(scenario)), request)

    def pytest_bdd_step_error(self, request: Any) -> None:
        self._send(StepFailed(), request)

    def pytest_bdd_after_scenario(self, request: Any) -> None:
        self._send(ScenarioFinished(_cluster_of(request.getfixturevalue("scenario"))), request)

    def _send(self, event: Event, request: Any) -> None:
        """Returns when the demo continues; until then its commands are run."""
        self._socket.send(encode(event))
        while packet := self._socket.recv(LARGEST_PACKET):
            reply = decode_reply(packet)
            if not isinstance(reply, RunCommand):
                return
            output = request.getfixturevalue("run_command")(reply.command).output
            self._socket.send(encode(CommandOutput(output)))
        raise HarnessError("the demo console disconnected")


def _cluster_of(scenario: Any) -> ClusterMap | None:
    """None for a scenario without a cluster."""
    if scenario is None:
        return None
    from muster.cluster.resources import NODE, POD
    from muster.environment.probe import NAME as PROBE

    nodes = [node for node in scenario.api.list(NODE)["items"] if node["metadata"]["name"] != PROBE]
    pods = scenario.api.list(POD, scenario.namespace)["items"]
    return cluster_map(nodes, pods, scenario.recording.history.aliases)
