"""The map of the cluster as text: a row per node, a cell per GPU, a letter and a colour per job.

The letters alone tell the jobs apart: a reader may have no colours. Lower case means that the pod is leaving.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_uppercase

from rich.text import Text

from muster.demo.maps import ClusterMap, NodeMap, Share

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")
_FREE = "."
_NAMELESS = "#"  # for the twenty-seventh job and those after it


class Legend:
    """The letter of each job, for as long as the performance lasts."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def letter(self, job: str) -> str:
        """A job that is called by a letter keeps it."""
        if job not in self._letters:
            free = [one for one in ascii_uppercase if one not in self._letters.values()]
            called = job.partition(" ")[0]
            self._letters[job] = called if called in free else (free or [_NAMELESS])[0]
        return self._letters[job]

    def style(self, job: str) -> str:
        self.letter(job)
        return f"bold {_COLOURS[list(self._letters).index(job) % len(_COLOURS)]}"


def picture(shown: ClusterMap, legend: Legend) -> Iterator[Text]:
    """Nodes, then who is who, then who waits; nodes without cells in one line."""
    width = max((len(node.name) for node in shown.nodes), default=0)
    for node in shown.nodes:
        if node.cells:
            yield _row(node, width, legend)
    if without := [node.name for node in shown.nodes if not node.cells]:
        yield Text(f"no {shown.unit}s: {', '.join(without)}", style="dim")
    holders = dict.fromkeys(share.job for node in shown.nodes for share in node.held)
    for job in holders:
        yield _who(job, legend)
    for waiting in shown.waiting:
        pods = f"{waiting.pods} pods wait" if waiting.pods > 1 else "waits"
        yield Text.assemble(_who(waiting.job, legend), f"  {pods}")


def _row(node: NodeMap, width: int, legend: Legend) -> Text:
    row = Text(f"{node.name:{width}} ")
    for share in node.held:
        for _ in range(share.cells):
            row.append(" ").append(_cell(share, legend), legend.style(share.job))
    free = node.cells - sum(share.cells for share in node.held)
    row.append(f" {_FREE}" * free, "dim")
    return row.append(f"  {' '.join(node.taints)}", "dim") if node.taints else row


def _cell(share: Share, legend: Legend) -> str:
    letter = legend.letter(share.job)
    return letter.lower() if share.leaving else letter


def _who(job: str, legend: Legend) -> Text:
    """The letter and the name; a job that is called by its letter is not called twice."""
    letter = legend.letter(job)
    return Text.assemble((letter, legend.style(job)), " ", job.removeprefix(f"{letter} "))
