"""A run for tests to kill: `python -m tests.support.existing_run KUBECONFIG RUN` creates a scenario and waits."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from muster.environment import Environment, ScenarioContext
from muster.run_options import RunOptions
from muster.schedulers.requests import NodeRequest, PodRequest, QueueRequest


def create_scenario(environment: Environment) -> ScenarioContext:
    """An object of every kind that a scenario creates; pod "late" is unschedulable."""
    scenario = environment.scenario("TST-01")
    scenario.add_nodes([NodeRequest("gpu-1", 1)])
    scenario.groups.add_queue(QueueRequest("test", gpus=1))
    scenario.run_pods([PodRequest("early", 1, 10)])
    scenario.submit(PodRequest("late", 1, 10))
    return scenario


def main() -> None:
    environment = Environment(RunOptions(kubeconfig=Path(sys.argv[1]), run_id=sys.argv[2]))
    environment.start()
    create_scenario(environment)
    sys.stdout.write("set\n")
    sys.stdout.flush()
    signal.pause()


if __name__ == "__main__":
    main()
