"""`python -m tests.mutation.faults NAME …`: run the reference scheduler or operator with one fault, or as a variant.

A general fault that needs the name of a pod, gang or job gets it as NAME=pod.
"""

from __future__ import annotations

import sys

from scheduler.__main__ import main as schedule
from scheduler.operator.__main__ import main as operate
from tests.mutation.faults import FAULTS, GENERAL_FAULTS, OPERATOR, OPERATOR_FAULTS, VARIATIONS, Patch

if __name__ == "__main__":
    given, *flags = sys.argv[1:]
    name, _, argument = given.partition("=")
    if name in GENERAL_FAULTS:
        GENERAL_FAULTS[name](Patch(), argument)
        sys.exit(operate(flags) if name in OPERATOR_FAULTS else schedule(flags))
    if name in VARIATIONS:
        VARIATIONS[name](Patch())
        sys.exit(schedule(flags))
    fault = FAULTS[name]
    fault.breaks(Patch())
    sys.exit(operate(flags) if fault.part == OPERATOR else schedule(flags))
