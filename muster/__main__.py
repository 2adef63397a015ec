"""`python -m muster` is the same as `muster`."""

import sys

from muster.cli import main

sys.exit(main())
