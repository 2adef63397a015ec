"""What Muster configures differently from what a project ships, and which findings depend on it.

Muster shortens waits and switches on what a scenario asks for. Each such setting is a Difference: it stands with the
scheduler, is printed in docs/schedulers.md, and is in the report of a run. Where a finding depends on one, there is a
configuration without it (`…as-shipped`), and `seen` says how the findings ended there.
"""

from __future__ import annotations

from dataclasses import dataclass

AS_SHIPPED = "as-shipped"  # a configuration that ends so has none of the differences but those that name it


@dataclass(frozen=True)
class Difference:
    """One setting: the project's value, Muster's, and why."""

    setting: str
    shipped: str
    here: str
    because: str
    findings: tuple[str, ...] = ()  # behaviours whose verdict depends on it, or might
    seen: str = ""  # with the shipped value
    only: tuple[str, ...] = ()  # the configurations that have it; empty: all but those as shipped

    def applies(self, configuration: str) -> bool:
        """Whether a configuration differs in this setting."""
        return configuration in self.only if self.only else not configuration.endswith(AS_SHIPPED)


def client_limits(shipped: str, qps: int, burst: int) -> Difference:
    """The one that nearly every scheduler has."""
    return Difference(
        "scheduler client limits",
        shipped,
        f"{qps} requests/s, burst {burst}",
        "shorter waits: it changes no decision, only how soon it is made",
    )
