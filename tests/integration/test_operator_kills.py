"""The documents hold although the operator dies every 300 ms. The long version: python -m bench.operator kills 10"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.operator import documents_under_fire

pytestmark = pytest.mark.plane


def test_a_dying_operator_changes_no_verdict(tmp_path: Path) -> None:
    outcome = documents_under_fire(tmp_path)
    assert outcome.wrong == "", outcome.wrong
    assert outcome.kills >= 10
