"""The section `leaderElection` of the configuration, with the fields and defaults of KubeSchedulerConfiguration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.runtime.leader_election import LeaderElection

RESOURCE_NAME = "muster-scheduler"
SECTION = "leaderElection"
_TIMES = {"leaseDuration": 15.0, "renewDeadline": 10.0, "retryPeriod": 2.0}  # seconds
_NAMES = {"resourceName": RESOURCE_NAME, "resourceNamespace": "kube-system"}
_FIELDS = ("leaderElect", *_TIMES, *_NAMES)
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = r"(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|ns)"
_JITTER = 1.2  # a holder must have time for a second attempt, as client-go demands


@dataclass(frozen=True)
class ConfiguredElection:
    """`leader_elect` may be overruled by the flag."""

    leader_elect: bool
    settings: LeaderElection


def parse_leader_election(found: Mapping[str, Any], errors: list[str]) -> ConfiguredElection | None:
    """Adds what is wrong to the errors; None without the section. A section without `leaderElect` turns it on."""
    section = found.get(SECTION)
    if section is None:
        return None
    if not isinstance(section, dict):
        errors.append(f"{SECTION} must be a mapping, not {section!r}")
        return None
    known = ", ".join(_FIELDS)
    own = [f"unknown field {SECTION}.{name}; known fields: {known}" for name in section if name not in _FIELDS]
    elect = section.get("leaderElect", True)
    if not isinstance(elect, bool):
        own.append(f"{SECTION}.leaderElect must be true or false, not {elect!r}")
    names = {name: section.get(name, default) for name, default in _NAMES.items()}
    own += [f"{SECTION}.{name} must be a name, not {value!r}" for name, value in names.items() if not _is_name(value)]
    times = {name: _seconds(section.get(name, default)) for name, default in _TIMES.items()}
    own += [
        f"{SECTION}.{name} must be a duration such as 15s, and more than 0, not {section[name]!r}"
        for name, value in times.items()
        if value is None
    ]
    lease, deadline, retry = (times[name] or _TIMES[name] for name in _TIMES)
    own += _relations(lease, deadline, retry)
    errors += own
    settings = LeaderElection(names["resourceName"], names["resourceNamespace"], int(lease), deadline, retry)
    return ConfiguredElection(elect, settings) if not own else None


def _relations(lease: float, deadline: float, retry: float) -> list[str]:
    errors = []
    if lease != int(lease):
        errors.append(f"{SECTION}.leaseDuration must be whole seconds, as in the Lease: {lease:g}s")
    if lease <= deadline:
        errors.append(f"{SECTION}.leaseDuration must be greater than renewDeadline: {lease:g}s, {deadline:g}s")
    if deadline <= _JITTER * retry:
        errors.append(
            f"{SECTION}.renewDeadline must be greater than {_JITTER:g} times retryPeriod: {deadline:g}s, {retry:g}s"
        )
    return errors


def _seconds(value: object) -> float | None:
    """As Go's time.ParseDuration reads it; None where it is not a positive duration."""
    if isinstance(value, float):
        return value  # a default
    if not isinstance(value, str) or not re.fullmatch(f"(?:{_PART})+", value):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(_PART, value)) or None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", value) is not None
