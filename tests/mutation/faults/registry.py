"""What a fault is, and how it gets into the scheduler or the operator.

The trap: a function that another module has imported by name lives on there. `Patch.function` replaces it wherever the
scheduler has it, and a patch that hits nothing is a mistake, told at once: a mutant that is not broken proves nothing.
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
import scheduler.runtime.service  # the scheduler imports it late; a patch must find it

SCHEDULER, OPERATOR = "scheduler", "operator"

Setter = Callable[[object, str, object], None]


class Patch:
    """Puts faults in; `put` is how: for good, or as a test does that takes everything back."""

    def __init__(self, put: Setter = setattr) -> None:
        self._put = put

    def attribute(self, owner: type | ModuleType, name: str, new: object) -> None:
        if name not in vars(owner):
            raise LookupError(f"{owner.__name__} has no {name} that could be broken")
        _must_fit(vars(owner)[name], new)
        self._put(owner, name, new)

    def function(self, old: Callable[..., Any], new: Callable[..., Any]) -> None:
        """Wherever the scheduler knows it by name."""
        places = [
            (module, name)
            for room, module in list(sys.modules.items())
            if room.split(".")[0] == scheduler.__name__
            for name, value in list(vars(module).items())
            if value is old
        ]
        if not places:
            raise LookupError(f"the scheduler does not use {old.__name__}")
        _must_fit(old, new)
        for module, name in places:
            self._put(module, name, new)


def _must_fit(old: object, new: object) -> None:
    """A TypeError where the new one cannot be called like the old: else the scheduler would crash, not misbehave."""
    if not inspect.isfunction(old) or not callable(new):
        return
    asked = [one for one in inspect.signature(old).parameters.values() if one.default is one.empty]
    named = {one.name: None for one in asked if one.kind is one.KEYWORD_ONLY}
    inspect.signature(new).bind(*[None for one in asked if one.name not in named], **named)


@dataclass(frozen=True)
class Fault:
    """One way to be broken, and the scenarios that are there to notice."""

    name: str
    what: str
    aims: tuple[str, ...]
    breaks: Callable[[Patch], None]
    part: str  # what it is put into


FAULTS: dict[str, Fault] = {}


def fault(*aims: str, part: str = SCHEDULER) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    """Register a function as a fault: its name is the fault's, its docstring says what is broken, and how."""

    def register(breaks: Callable[[Patch], None]) -> Callable[[Patch], None]:
        name = breaks.__name__.replace("_", "-")
        FAULTS[name] = Fault(name, (breaks.__doc__ or "").strip(), aims, breaks, part)
        return breaks

    return register


operator_fault = partial(fault, part=OPERATOR)
