"""What a person would ask at the end of a part, where the document itself types nothing that shows it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from muster.demo.maps import ClusterMap
from muster.demo.messages import Begins

_ABOUT_EVENTS = re.compile(r'(?:an event|the events) about [^"]*"(?P<pod>[^"]+)"')
TYPED = "muster "


def looks(sentences: Sequence[Begins], now: ClusterMap, jobs: Iterable[str], *, explains: bool) -> list[str]:
    """Commands for the sentences of one part; `jobs` are those seen so far, `explains` lets ask why a pod waits."""
    commands = _events(sentences, jobs)
    if any(sentence.docstring.startswith(TYPED) for sentence in sentences):
        return commands
    if now.unit == "GPU" and any(sentence.kind == "when" for sentence in sentences):
        commands.append("muster list")
    if explains and now.waiting:
        commands.append(f"muster explain {now.waiting[0].pod}")
    return commands


def jobs_in(picture: ClusterMap) -> set[str]:
    """Everybody who holds something or waits for it."""
    holders = {share.job for node in picture.nodes for share in node.held}
    return holders | {waiting.job for waiting in picture.waiting}


def _events(sentences: Iterable[Begins], jobs: Iterable[str]) -> list[str]:
    found = [match["pod"] for sentence in sentences if (match := _ABOUT_EVENTS.match(sentence.text))]
    owners = [job for pod in found for job in jobs if pod.startswith(f"{job}-")]
    return [f"muster events {job}" for job in dict.fromkeys(owners)]
