"""The verdicts of a run as `name=value` lines for GITHUB_OUTPUT; a run that ended before its first one counts none."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from muster.report.results import read_results
from muster.verdicts import Verdict


def main() -> int:
    counted = Counter(str(result.verdict) for result in read_results(Path(sys.argv[1])))
    for verdict in Verdict:
        print(f"{verdict}={counted[verdict]}")
    print(f"total={counted.total()}")
    print(f"verdicts={json.dumps(counted, separators=(',', ':'))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
