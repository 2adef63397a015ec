"""`python -m tests.mutation.faults NAME …`: run the reference scheduler or operator with one fault."""

from __future__ import annotations

import sys

from scheduler.__main__ import main as schedule
from scheduler.operator.__main__ import main as operate
from tests.mutation.faults import FAULTS, OPERATOR, Patch

if __name__ == "__main__":
    name, *flags = sys.argv[1:]
    fault = FAULTS[name]
    fault.breaks(Patch())
    sys.exit(operate(flags) if fault.part == OPERATOR else schedule(flags))
