"""The configuration file: a SchedulerConfiguration in YAML. Every error in it is reported in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from scheduler.core.policy import MOST_ALLOCATED, SCHEDULER_NAMES, SCORING_STRATEGIES, Policy
from scheduler.runtime.leader_election_config import ConfiguredElection, parse_leader_election

API_VERSION = "scheduler.muster.dev/v1"
KIND = "SchedulerConfiguration"
_FIELDS = ("apiVersion", "kind", "schedulerNames", "preemption", "queueOrder", "scoringStrategy", "leaderElection")
_ORDERS = ("traverse", "fifo")


class ConfigError(Exception):
    """The configuration is invalid; one line per error."""


def read_config(path: Path) -> Policy:
    """The policy; an error anywhere in the file is an error here."""
    return policy_of(_read(path), str(path))


def read_leader_election(path: Path) -> ConfiguredElection | None:
    """None where the file does not have the section."""
    return parse_leader_election(_read(path), [])


def _read(path: Path) -> Any:
    try:
        return yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not YAML: {' '.join(str(error).split())}") from None


def policy_of(found: Any, source: str) -> Policy:
    if not isinstance(found, dict):
        raise ConfigError(f"{source}: a {KIND} must be a mapping, not {_type_name(found)}")
    errors = [f"unknown field {field}; known fields: {', '.join(_FIELDS)}" for field in found if field not in _FIELDS]
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if found.get(field) != wanted:
            errors.append(f"{field} must be {wanted}, not {found.get(field)!r}")
    names = found.get("schedulerNames", sorted(SCHEDULER_NAMES))
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        errors.append(f"schedulerNames must be a non-empty list of names, not {names!r}")
    preemption = found.get("preemption", True)
    if not isinstance(preemption, bool):
        errors.append(f"preemption must be true or false, not {preemption!r}")
    order = found.get("queueOrder", _ORDERS[0])
    if order not in _ORDERS:
        errors.append(f"queueOrder must be {' or '.join(_ORDERS)}, not {order!r}")
    scoring = found.get("scoringStrategy", {"type": MOST_ALLOCATED})  # as in kube-scheduler's NodeResourcesFitArgs
    if not isinstance(scoring, dict) or set(scoring) != {"type"} or scoring["type"] not in SCORING_STRATEGIES:
        errors.append(f"scoringStrategy must be {{type: {' or '.join(SCORING_STRATEGIES)}}}, not {scoring!r}")
    parse_leader_election(found, errors)
    if errors:
        raise ConfigError("\n".join(f"{source}: {error}" for error in errors))
    return Policy(frozenset(names), preemption, strict_queues=order == "fifo", scoring_strategy=scoring["type"])


def _type_name(found: object) -> str:
    return "empty" if found is None else f"a {type(found).__name__}"
