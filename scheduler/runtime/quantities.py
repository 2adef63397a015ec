"""Parse Kubernetes quantities to whole numbers: millicores for CPU, units of everything else.

Exact: a float would lose bytes above 2**53. Fractions are rounded up, as the API server does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil

from scheduler.core.scheduling_types import CPU

MAX_QUANTITY = 2**62  # anything above is a mistake or an attempt to overflow
MAX_AMOUNT = 2**53  # of a pod or a node: the sum of a thousand of them fits into 64 bits

_SUFFIXES = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9),
    "T": Fraction(10**12), "P": Fraction(10**15), "E": Fraction(10**18),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30),
    "Ti": Fraction(2**40), "Pi": Fraction(2**50), "Ei": Fraction(2**60),
}  # fmt: skip
_QUANTITY = re.compile(r"([+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40}))(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)")


class InvalidQuantity(ValueError):
    """The text names the resource and the value."""


def amount(resource: str, quantity: object) -> int:
    """`("cpu", "500m")` is 500, `("memory", "1Ki")` is 1024."""
    whole = exact(resource, quantity)
    if whole > MAX_QUANTITY:
        raise InvalidQuantity(f"{quantity} of {resource} is more than any node can have")
    return whole


def exact(resource: str, quantity: object) -> int:
    """Like `amount`, without a limit."""
    if isinstance(quantity, int) and not isinstance(quantity, bool) and abs(quantity) <= MAX_QUANTITY:
        quantity = str(quantity)
    if not isinstance(quantity, str):
        raise InvalidQuantity(f"{type(quantity).__name__} is not a quantity of {resource}")
    return _exact(resource, quantity)


def amounts(resources: Mapping[str, object]) -> dict[str, int]:
    return {resource: amount(resource, quantity) for resource, quantity in resources.items()}


@lru_cache(maxsize=8192)
def _exact(resource: str, quantity: str) -> int:
    found = _QUANTITY.fullmatch(quantity.strip())
    if found is None:
        raise InvalidQuantity(f"{quantity[:60]!r} is not a quantity of {resource}")
    digits, exponent, suffix = found.groups()
    value = Fraction(digits) * (Fraction(10) ** int(exponent) if exponent else _SUFFIXES[suffix or ""])
    if value < 0:
        raise InvalidQuantity(f"{quantity} of {resource} is negative")
    return ceil(value * 1000 if resource == CPU else value)
