"""General mutants, made from the features: for the Thens of MUSTs that are positive controls.

A Then such as '"urgent" runs' states no fault that a scheduler is likely to have. It is there so that the statements
beside it are not true of a scheduler that does nothing, and it must be able to fail as well. A general mutant kills it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.mutation.aims import Aim
from tests.mutation.faults.general_faults import GENERAL_FAULTS, OPERATOR_FAULTS
from tests.mutation.mutants import Mutant
from tests.mutation.proof import claimed_behaviours, reference_claims

GENERAL = "general"
_GENERATED_NAMES = {"DOC-3"}  # the names of its jobs and pods are not those of the steps
_NAME = r'"([^"<]+)"'
_PATTERNS = {
    "stays-pending": re.compile(
        rf"(?:the whole gang {_NAME} runs|{_NAME} runs|{_NAME}(?:, \"[^\"]+\")+ run\b|job {_NAME} is Running"
        rf"|job {_NAME} went from Created to Running|at least \d+ pods of the gang {_NAME} run"
        rf"|{_NAME} is bound only after)"
    ),
    "is-bound-at-once": re.compile(
        rf"(?:{_NAME} stays pending$|{_NAME}(?:, \"[^\"]+\")+ stay pending$|no pod of the gang {_NAME} is bound"
        rf"|the gang {_NAME} is queued|the gang {_NAME} stays pending$)"
    ),
    "victims-are-not-marked": re.compile(r".*(?:was|were) preempted for"),
    "priority-class-is-missing": re.compile(rf"the pods of job {_NAME} are:"),
    "condition-is-not-set": re.compile(
        r'job "[^"]+" (?:is|stays) (Created|Running|Succeeded|Failed|Suspended)\b'
        r'|job "[^"]+" went from Created to Running to (Succeeded|Failed)\b'
    ),
}
# Thens that hold only after the scheduler has decided about the pod: what comes after them needs another fault.
_DECIDED = re.compile(r"(?i)(?!no pod).*(?:preempt|terminat|nominat|DisruptionTarget|unschedulable)")


def _aims() -> Iterator[tuple[str, str, Aim]]:
    """Fault, name and aim of every Then of a MUST that a general mutant is for; the first one about each name."""
    for behaviour in claimed_behaviours():
        if behaviour.level != "must" or behaviour.id in _GENERATED_NAMES or not reference_claims(behaviour):
            continue
        seen: set[tuple[str, str]] = set()
        decided = False
        for step in behaviour.steps:
            for fault, pattern in _PATTERNS.items() if step.type == "then" else ():
                if (found := pattern.match(step.text)) is None:
                    continue
                name = next((group for group in found.groups() if group), "")
                if decided and fault == "stays-pending":
                    fault = "binding-is-not-written"
                if (fault, name) not in seen:
                    seen.add((fault, name))
                    yield fault, name, Aim(behaviour.id, step.text)
            decided = decided or (step.type == "then" and _DECIDED.match(step.text) is not None)


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
            environment={
                "MUSTER_OPERATOR"
                if fault in OPERATOR_FAULTS
                else "MUSTER_REFERENCE": f"tests.mutation.faults {argument}"
            },
            general=True,
        )


GENERAL_MUTANTS = tuple(_general_mutants())
