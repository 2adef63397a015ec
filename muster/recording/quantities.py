"""Kubernetes quantities as exact integers of a thousandth, and what a pod requests in them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache

from muster.recording.objects import Pod

GPU = "nvidia.com/gpu"

_SUFFIXES = {
    "n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "": Decimal(1),
    "k": Decimal(10**3), "M": Decimal(10**6), "G": Decimal(10**9), "T": Decimal(10**12),
    "P": Decimal(10**15), "E": Decimal(10**18),
    "Ki": Decimal(2**10), "Mi": Decimal(2**20), "Gi": Decimal(2**30), "Ti": Decimal(2**40),
    "Pi": Decimal(2**50), "Ei": Decimal(2**60),
}  # fmt: skip


@lru_cache(maxsize=4096)
def thousandths(quantity: str | int) -> int:
    """`"500m"` is 500, `"1"` is 1000, `"1Ki"` is 1 024 000; rounded up, as Kubernetes does."""
    text = str(quantity).strip()
    digits = text.rstrip("numkKMGTPEi")
    suffix = text[len(digits) :]
    if suffix not in _SUFFIXES:
        raise ValueError(f"{quantity!r} is not a Kubernetes quantity")
    value = Decimal(digits) * _SUFFIXES[suffix] * 1000
    return int(value.to_integral_value(rounding="ROUND_CEILING"))


def amounts(resources: Mapping[str, str | int]) -> dict[str, int]:
    return {name: thousandths(quantity) for name, quantity in resources.items()}


def requests_of(pod: Pod) -> dict[str, int]:
    """The sum over containers, plus the one slot that every pod takes."""
    total = {"pods": 1000}
    for container in pod.spec.containers:
        for name, amount in amounts({**container.resources.limits, **container.resources.requests}).items():
            total[name] = total.get(name, 0) + amount
    return total


def readable(amount: int) -> str:
    """Thousandths as a person writes them: 4000 is 4, 500 is 500m, and 256Gi is not a number of twelve digits."""
    if amount % 1000:
        return f"{amount}m"
    whole = amount // 1000
    for suffix in ("Ti", "Gi", "Mi"):
        if whole and whole % int(_SUFFIXES[suffix]) == 0:
            return f"{whole // int(_SUFFIXES[suffix])}{suffix}"
    return str(whole)
