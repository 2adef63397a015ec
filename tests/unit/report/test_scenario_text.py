"""The description of a scenario in the report: its source and its whole text, and nothing that ends it early."""

from __future__ import annotations

from pathlib import Path

import pytest

from muster.report.scenario_text import markdown
from muster.suite.behaviours import Behaviour, read_features
from muster.suite.paths import suite_root

FEATURE = '''@preemption
Feature: Victims
  About <b>victims</b>.

  Background:
    Given a node

  @PRE-01 @must
  Scenario Outline: <name> is preempted
    Source: Kubernetes documentation, Pod Priority: "*victims*" | see [there](x).
    Given pods running:
      | pod    | note      |
      | <name> | left \\| 1 |
    When the user runs:
      """
      muster get <name>
        ```
      """
    Then "<name>" was preempted

    Examples:
      | name |
      | left |
'''


@pytest.fixture
def behaviour(tmp_path: Path) -> Behaviour:
    (tmp_path / "victims.feature").write_text(FEATURE)
    return read_features(tmp_path).by_id()["PRE-01"]


def test_source_steps_tables_and_texts_are_shown_with_the_values_of_the_row(behaviour: Behaviour) -> None:
    assert markdown(behaviour, {"name": "left"}, "left is preempted").splitlines() == [
        "About &lt;b&gt;victims&lt;/b&gt;.",
        "",
        'Source: Kubernetes documentation, Pod Priority: "\\*victims\\*" \\| see \\[there\\](x).',
        "",
        "````gherkin",
        "Scenario: left is preempted",
        "  Given a node",
        "  Given pods running:",
        "    | pod  | note      |",
        "    | left | left \\| 1 |",
        "  When the user runs:",
        '    """',
        "    muster get left",
        "      ```",
        '    """',
        '  Then "left" was preempted',
        "````",
    ]


def test_every_source_of_the_suite_is_in_its_description() -> None:
    for one in read_features(suite_root() / "features").behaviours:
        row = one.examples[0] if one.examples else {}
        text = markdown(one, row, one.title)
        assert "documents" in one.capabilities or "\nSource: " in f"\n{text}", (
            one.id
        )  # a walk-through is its own source
        assert all(f"  {step.keyword} {step.text}" in text for step in one.steps_of(row)), one.id
        assert text.endswith("```")
