"""The walk-throughs pass although the operator is killed every 300 ms. Longer: python -m bench.operator kills 10"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.operator import run_walkthroughs_while_killing

pytestmark = pytest.mark.plane


def test_a_crashing_operator_changes_no_verdict(tmp_path: Path) -> None:
    outcome = run_walkthroughs_while_killing(tmp_path)
    assert outcome.failure == "", outcome.failure
    assert outcome.kills >= 10
