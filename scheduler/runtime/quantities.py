"""Kubernetes quantities as the whole numbers that decisions are made in: thousandths of a CPU, pieces of the rest.

Exact: a float would lose bytes above 2**53. Fractions are rounded up, as the API server does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil

from scheduler.core.model import CPU

LARGEST = 2**62  # what is above this is a mistake, or somebody who tries whether it overflows
LARGEST_HELD = 2**53  # of a pod or a node: what a thousand of them hold together still is a 64-bit number

_SUFFIXES = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9),
    "T": Fraction(10**12), "P": Fraction(10**15), "E": Fraction(10**18),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30),
    "Ti": Fraction(2**40), "Pi": Fraction(2**50), "Ei": Fraction(2**60),
}  # fmt: skip
_QUANTITY = re.compile(r"([+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40}))(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)")


class NotAQuantity(ValueError):
    """The text is a sentence for the object's owner."""


def amount(resource: str, quantity: object) -> int:
    """`("cpu", "500m")` is 500, `("memory", "1Ki")` is 1024."""
    whole = exact(resource, quantity)
    if whole > LARGEST:
        raise NotAQuantity(f"{quantity} of {resource} is more than any machine has")
    return whole


def exact(resource: str, quantity: object) -> int:
    """However large it is."""
    if isinstance(quantity, int) and not isinstance(quantity, bool) and abs(quantity) <= LARGEST:
        quantity = str(quantity)
    if not isinstance(quantity, str):
        raise NotAQuantity(f"{type(quantity).__name__} is no quantity of {resource}")
    return _exact(resource, quantity)


def amounts(resources: Mapping[str, object]) -> dict[str, int]:
    return {resource: amount(resource, quantity) for resource, quantity in resources.items()}


@lru_cache(maxsize=8192)
def _exact(resource: str, quantity: str) -> int:
    found = _QUANTITY.fullmatch(quantity.strip())
    if found is None:
        raise NotAQuantity(f"{quantity[:60]!r} is no quantity of {resource}")
    digits, exponent, suffix = found.groups()
    value = Fraction(digits) * (Fraction(10) ** int(exponent) if exponent else _SUFFIXES[suffix or ""])
    if value < 0:
        raise NotAQuantity(f"{quantity} of {resource} is negative")
    return ceil(value * 1000 if resource == CPU else value)
