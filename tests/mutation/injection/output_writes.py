"""Wrong output of the commands of a walk-through: what they print is not what the cluster has."""

from __future__ import annotations

import re

from muster.assertions.preemption import victims_among
from muster.environment import ScenarioContext
from muster.recording.questions import Question
from tests.mutation.injection.registry import recorded, wrong_write

_COUNT_OR_NAME = re.compile(r"[0-9]+(?=[^0-9]*$)|[a-z]+(?=[^a-z]*$)")  # the last one


@wrong_write
def output_shows_another_value(scenario: ScenarioContext, _names: tuple[str, ...]) -> Question:
    """The last line of what a command prints has another number or word."""
    *lines, last = scenario.jobs.last_output.rstrip().splitlines()
    scenario.jobs.last_output = "\n".join([*lines, _COUNT_OR_NAME.sub("other", last)])
    return _printed()


@wrong_write
def output_names_the_victim(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """A command lists the preempted pod instead of one that is left."""
    victim = victims_among(scenario.recording.history, names)[0]
    left = next(name for name in names if name != victim)
    scenario.jobs.last_output = scenario.jobs.last_output.replace(left, victim)
    return _printed()


def _printed() -> Question:
    return recorded("the output", lambda _: True)
