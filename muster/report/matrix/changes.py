"""What changed between two matrices, from their matrix.json: verdicts, behaviours and schedulers.

Both are read in the format of the file, without the fields that are not compared: an earlier version may have others.
Trap: a behaviour that is not in the newer matrix may have been removed, or not selected; the file does not tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from muster.errors import UsageError
from muster.report.matrix.columns import Matrix, as_json, verdict_text
from muster.suite.behaviours import id_order

NOT_RUN = "not run"
_WANTED = "give the matrix.json of an earlier `muster matrix`"


class SavedCell(msgspec.Struct, frozen=True):
    """The verdict on one behaviour."""

    verdict: str
    runs: dict[str, int] = {}

    @property
    def text(self) -> str:
        return verdict_text(self.verdict, self.runs)


class SavedColumn(msgspec.Struct, frozen=True):
    """One scheduler."""

    scheduler: str
    cells: dict[str, SavedCell]


class SavedMatrix(msgspec.Struct, frozen=True):
    """The part of matrix.json that is compared."""

    schedulers: list[SavedColumn]

    @property
    def names(self) -> list[str]:
        return [column.scheduler for column in self.schedulers]

    @property
    def ids(self) -> list[str]:
        return sorted({id_ for column in self.schedulers for id_ in column.cells}, key=id_order)

    def cell(self, scheduler: str, id_: str) -> SavedCell | None:
        return next((one.cells.get(id_) for one in self.schedulers if one.scheduler == scheduler), None)


@dataclass(frozen=True)
class VerdictChange:
    """One cell whose verdict is another one now."""

    scheduler: str
    id: str
    before: str
    now: str


@dataclass(frozen=True)
class Changes:
    """What a matrix has and the earlier one had not, and the other way round."""

    since: str  # the earlier file, as it was named
    verdicts: Sequence[VerdictChange]
    new_behaviours: Sequence[str]
    removed_behaviours: Sequence[str]
    new_schedulers: Sequence[str]
    removed_schedulers: Sequence[str]


def read_saved(file: Path) -> SavedMatrix:
    """The matrix in a file that the user named."""
    try:
        saved = msgspec.json.decode(file.read_bytes(), type=SavedMatrix)
    except OSError as error:
        raise UsageError(f"--since {file}: {error.strerror}; {_WANTED}") from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise UsageError(f"--since {file} is not a matrix: {error}; {_WANTED}") from None
    if not saved.ids:
        raise UsageError(f"--since {file} has no verdicts; {_WANTED}")
    return saved


def compare(earlier: SavedMatrix, matrix: Matrix, since: str) -> Changes:
    """Cells of behaviours and schedulers that both matrices have, and what only one of them has."""
    now = msgspec.json.decode(as_json(matrix), type=SavedMatrix)
    return Changes(
        since=since,
        verdicts=_verdict_changes(earlier, now),
        new_behaviours=[id_ for id_ in now.ids if id_ not in earlier.ids],
        removed_behaviours=[id_ for id_ in earlier.ids if id_ not in now.ids],
        new_schedulers=[name for name in now.names if name not in earlier.names],
        removed_schedulers=[name for name in earlier.names if name not in now.names],
    )


def _verdict_changes(earlier: SavedMatrix, now: SavedMatrix) -> list[VerdictChange]:
    common = [id_ for id_ in now.ids if id_ in earlier.ids]
    found = []
    for scheduler in (name for name in now.names if name in earlier.names):
        for id_ in common:
            cells = earlier.cell(scheduler, id_), now.cell(scheduler, id_)
            before, after = (cell.verdict if cell else NOT_RUN for cell in cells)
            if before != after:
                found.append(VerdictChange(scheduler, id_, *(cell.text if cell else NOT_RUN for cell in cells)))
    return found
