"""Documents that go another way with an operator or a command line of today: a scenario of their own, no looser one.

A scenario tagged @variant-NAME is asked for when NAME is chosen by --operator or --client. It then stands for the
scenario of the same document that it is a variant of. Everything else is asked for as ever.
"""

from __future__ import annotations

from collections.abc import Sequence

from muster.catalogue import Behaviour
from muster.subject.clients import DEFAULT_CLIENT
from muster.subject.operators import DEFAULT_OPERATOR

_TYPED = "a person types:"


def problem(behaviour: Behaviour, all_behaviours: Sequence[Behaviour], operator: str, client: str) -> str:
    """Why this scenario does not apply; empty when it does."""
    chosen = {operator, client} - {DEFAULT_OPERATOR, DEFAULT_CLIENT}
    if behaviour.variants:
        missing = [name for name in behaviour.variants if name not in chosen]
        return f"it is about {', '.join(missing)}, and another was chosen" if missing else ""
    for other in all_behaviours:
        if other.variants and chosen.issuperset(other.variants) and set(other.documents) & set(behaviour.documents):
            return f"with {', '.join(other.variants)} it goes as {other.id} says"
    if client != DEFAULT_CLIENT and any(step.text == _TYPED for step in behaviour.steps):
        return f"{client} answers otherwise than the document"
    return ""
