"""Faults, and how they are patched into the scheduler or the operator.

The trap: other modules may have imported a function by name. `Patch.function` replaces it wherever the scheduler uses
it. A patch that replaces nothing is an error: a mutant without its fault proves nothing.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import scheduler.__main__
from tests.mutation.aims import Aim, aims_of

SCHEDULER, OPERATOR = "scheduler", "operator"

Setter = Callable[[object, str, object], None]


class Patch:
    """Applies a fault with `put`: `setattr`, or a test's monkeypatch that is undone."""

    def __init__(self, put: Setter = setattr) -> None:
        self._put = put

    def attribute(self, owner: type | ModuleType, name: str, new: object) -> None:
        if name not in vars(owner):
            raise LookupError(f"{owner.__name__} has no attribute {name}")
        _must_fit(vars(owner)[name], new)
        self._put(owner, name, new)

    def function(self, old: Callable[..., Any], new: Callable[..., Any]) -> None:
        """Replace the function in every module that uses it."""
        places = [
            (module, name)
            for module_name, module in list(sys.modules.items())
            if module_name.split(".")[0] == scheduler.__name__
            for name, value in list(vars(module).items())
            if value is old
        ]
        if not places:
            raise LookupError(f"no module of the scheduler uses {old.__name__}")
        _must_fit(old, new)
        for module, name in places:
            self._put(module, name, new)


def _must_fit(old: object, new: object) -> None:
    """TypeError if the new function cannot be called like the old one: the scheduler would crash, not misbehave."""
    if not inspect.isfunction(old) or not callable(new):
        return
    parameters = inspect.signature(old).parameters.values()  # those with a default are passed, too, by some callers
    named = {one.name: None for one in parameters if one.kind is one.KEYWORD_ONLY}
    positional = [None for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    inspect.signature(new).bind(*positional, **named)


@dataclass(frozen=True)
class Fault:
    """One fault, and the scenarios that must detect it."""

    name: str
    description: str
    aims: tuple[Aim, ...]
    breaks: Callable[[Patch], None]
    part: str  # the component that has it


FAULTS: dict[str, Fault] = {}


def fault(*aims: str | Aim, part: str = SCHEDULER) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    """Register a function as a fault, with its name and its docstring as the description.

    An aim is an id, or "ID: beginning of the step that fails"; see tests/mutation/aims.py.
    """

    def register(breaks: Callable[[Patch], None]) -> Callable[[Patch], None]:
        name = breaks.__name__.replace("_", "-")
        FAULTS[name] = Fault(name, (breaks.__doc__ or "").strip(), aims_of(*aims), breaks, part)
        return breaks

    return register


operator_fault = partial(fault, part=OPERATOR)
