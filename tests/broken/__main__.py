"""`python -m tests.broken NAME …`: the reference scheduler with one fault; the rest of the line is its own."""

from __future__ import annotations

import sys

from scheduler.__main__ import main
from tests.broken import FAULTS, Patch

if __name__ == "__main__":
    name, *flags = sys.argv[1:]
    FAULTS[name].breaks(Patch())
    sys.exit(main(flags))
