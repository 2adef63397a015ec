"""The configuration file: a SchedulerConfiguration in YAML, every mistake in it told in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from scheduler.core.policy import SCHEDULER_NAMES, Policy

API_VERSION = "scheduler.muster.dev/v1"
KIND = "SchedulerConfiguration"
_FIELDS = ("apiVersion", "kind", "schedulerNames", "preemption", "queueOrder")
_ORDERS = ("traverse", "fifo")


class ConfigError(Exception):
    """One line per mistake."""


def read_config(path: Path) -> Policy:
    try:
        found = yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as trouble:
        raise ConfigError(f"{path} cannot be read: {trouble.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as trouble:
        raise ConfigError(f"{path} is not YAML: {' '.join(str(trouble).split())}") from None
    return policy_of(found, str(path))


def policy_of(found: Any, source: str) -> Policy:
    if not isinstance(found, dict):
        raise ConfigError(f"{source}: a {KIND} is a map, this is {_what(found)}")
    mistakes = [
        f"the field {field} is not known; there are {', '.join(_FIELDS)}" for field in found if field not in _FIELDS
    ]
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if found.get(field) != wanted:
            mistakes.append(f"{field} must be {wanted}, not {found.get(field)!r}")
    names = found.get("schedulerNames", sorted(SCHEDULER_NAMES))
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        mistakes.append(f"schedulerNames must be a list of names, at least one, not {names!r}")
    preemption = found.get("preemption", True)
    if not isinstance(preemption, bool):
        mistakes.append(f"preemption must be true or false, not {preemption!r}")
    order = found.get("queueOrder", _ORDERS[0])
    if order not in _ORDERS:
        mistakes.append(f"queueOrder must be {' or '.join(_ORDERS)}, not {order!r}")
    if mistakes:
        raise ConfigError("\n".join(f"{source}: {mistake}" for mistake in mistakes))
    return Policy(schedulers=frozenset(names), preemption=preemption, strict_queues=order == "fifo")


def _what(found: object) -> str:
    return "empty" if found is None else f"a {type(found).__name__}"
