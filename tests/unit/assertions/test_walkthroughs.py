"""The output of commands, compared line by line."""

import pytest

from muster.assertions.walkthroughs import output_contains
from muster.errors import ConformanceFailure

OUTPUT = """
NAME   STATUS   AGE
train  RUNNING  3s
eval   PENDING  1s
"""


def test_lines_are_found_in_order_and_columns_by_pattern() -> None:
    output_contains(OUTPUT, "NAME STATUS AGE\ntrain RUNNING *\neval PEND* 1s")


@pytest.mark.parametrize("wanted", ["eval * *\ntrain * *", "train RUNNING", "train PENDING *"])
def test_a_missing_line_is_a_failure(wanted: str) -> None:
    with pytest.raises(ConformanceFailure, match="wanted   output with a line that matches"):
        output_contains(OUTPUT, wanted)
