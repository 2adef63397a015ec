"""General mutants, made from the features: for the Thens of MUSTs that are positive controls.

A Then such as '"urgent" runs' states no fault that a scheduler is likely to have. It is there so that the statements
beside it are not true of a scheduler that does nothing, and it must be able to fail as well. A general mutant kills it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.mutation.aims import Aim
from tests.mutation.faults.general_faults import GENERAL_FAULTS
from tests.mutation.mutants import Mutant
from tests.mutation.proof import claimed_behaviours

GENERAL = "general"
_NAME = r'"([^"<]+)"'
_PATTERNS = {
    "stays-pending": re.compile(
        rf"(?:the whole gang {_NAME} runs|{_NAME} runs|{_NAME}(?:, \"[^\"]+\")+ run\b|job {_NAME} is Running"
        rf"|job {_NAME} went from Created to Running|at least \d+ pods of the gang {_NAME} run)"
    ),
    "is-bound-at-once": re.compile(
        rf"(?:{_NAME} stays pending$|{_NAME}(?:, \"[^\"]+\")+ stay pending$|no pod of the gang {_NAME} is bound"
        rf"|the gang {_NAME} is queued|the gang {_NAME} stays pending$)"
    ),
    "victims-are-not-marked": re.compile(r".*(?:was|were) preempted for"),
    "one-more-pod-is-deleted": re.compile(r"(?:no other pod was evicted|.* (?:was|were) not evicted)"),
    "evicts-in-vain": re.compile(r"no pod was preempted"),
}


def _aims() -> Iterator[tuple[str, str, Aim]]:
    """Fault, name and aim of every Then of a MUST that a general mutant is for; the first one about each name."""
    for behaviour in claimed_behaviours():
        if behaviour.level != "must" or behaviour.tests_the_cluster:
            continue
        seen: set[tuple[str, str]] = set()
        for step in behaviour.steps:
            for fault, pattern in _PATTERNS.items() if step.type == "then" else ():
                if (found := pattern.match(step.text)) is None:
                    continue
                name = next((group for group in found.groups() if group), "")
                if (fault, name) not in seen:
                    seen.add((fault, name))
                    yield fault, name, Aim(behaviour.id, step.text)


def _general_mutants() -> Iterator[Mutant]:
    aims: dict[tuple[str, str], list[Aim]] = {}
    for fault, name, aim in _aims():
        aims.setdefault((fault, name), []).append(aim)
    for (fault, name), found in sorted(aims.items()):
        argument = f"{fault}={name}" if name else fault
        yield Mutant(
            argument,
            (GENERAL_FAULTS[fault].__doc__ or "").strip(),
            tuple(found),
            GENERAL,
            environment={"MUSTER_REFERENCE": f"tests.mutation.faults {argument}"},
            general=True,
        )


GENERAL_MUTANTS = tuple(_general_mutants())
