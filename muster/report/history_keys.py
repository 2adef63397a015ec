"""Keys under which Allure continues the history of a scenario; they survive renamed files and reworded rows.

Allure 3, and Allure 2 in its recent versions, combine testCaseId with the parameters that are not excluded; older ones
take historyId as it is; fullName serves where an id is missing. `history_keys.json` therefore holds, for the behaviours
of version 0.1, the feature file and the row of an outline as they were then. A behaviour or a row that is not listed
uses its present file and text. When a listed row is reworded, rename its entry and leave the value alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from allure_commons.model2 import Parameter
from allure_commons.types import ParameterMode
from allure_commons.utils import md5

from muster.report.results import Result

_FILE = "history_keys.json"


def full_name(result: Result) -> str:
    """Feature file and name of the scenario, as of its first version."""
    feature = _frozen()["features"].get(result.id, result.feature)
    return f"{feature}#{_name(result)}"


def test_case_id(result: Result, scheduler: str) -> str:
    """The same for all rows and rounds of a behaviour: parameters distinguish them."""
    return str(md5(result.id, scheduler))


def history_id(result: Result, scheduler: str) -> str:
    """Different for each row and round: this is the whole key of an older Allure 2."""
    return str(md5(_name(result), scheduler, str(result.round) if result.rounds > 1 else ""))


def parameters(result: Result, row: Mapping[str, str]) -> list[Parameter]:
    """The row of the outline and the round.

    A reworded row is shown but kept out of the key; the row as it was makes the key and is hidden.
    """
    frozen = _frozen_row(result)
    if frozen and frozen != row:
        shown = [Parameter(name=name, value=value, excluded=True) for name, value in row.items()]
        hidden = ParameterMode.HIDDEN.value
        shown += [Parameter(name=name, value=value, mode=hidden) for name, value in frozen.items()]
    else:
        shown = [Parameter(name=name, value=value) for name, value in row.items()]
    if result.rounds > 1:
        shown.append(Parameter(name="round", value=f"{result.round}/{result.rounds}"))
    return shown


def frozen_rows() -> dict[str, dict[str, dict[str, str]]]:
    """By id and present row: the row as it was in version 0.1."""
    rows: dict[str, dict[str, dict[str, str]]] = _frozen()["rows"]
    return rows


def _name(result: Result) -> str:
    frozen = _frozen_row(result)
    return f"{result.id}[{'-'.join(frozen.values())}]" if frozen else result.name


def _frozen_row(result: Result) -> dict[str, str]:
    return frozen_rows().get(result.id, {}).get(result.example, {})


@cache
def _frozen() -> dict[str, Any]:
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    keys: dict[str, Any] = json.loads(text)
    return keys
