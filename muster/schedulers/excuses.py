"""What a scheduler is not asked for although it claims the capability, and by which text it is excused.

A promise is asked of every scheduler that makes it. Where the scheduler's own documentation does not make it, or says
otherwise, that is an Excuse: it stands with the scheduler, and is printed in docs/schedulers.md and in the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Excuse:
    """Behaviours that are not asked, or a part of them; `because` says what the source says instead."""

    behaviours: tuple[str, ...]
    because: str
    source: str
    part: str = ""  # what is left out of the behaviour; empty: all of it

    @property
    def text(self) -> str:
        """For the reader of a page or a verdict."""
        left_out = f" ({self.part})" if self.part else ""
        return f"{', '.join(self.behaviours)}{left_out}: {self.because}"
