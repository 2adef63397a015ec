"""The commit that is checked out: it chooses the sample of the mutants, and is kept with every result."""

from __future__ import annotations

import subprocess
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_LENGTH = 10  # characters of a hash
_WRITTEN_BY_RUNS = (":!tests/mutation/proof.json", ":!docs/proof.md")


def commit() -> str:
    """Its hash; empty where there is no repository."""
    return _git("rev-parse", "HEAD")


def version() -> str:
    """The beginning of the hash, with a + where files differ from the commit; empty where there is no repository."""
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *_WRITTEN_BY_RUNS)
    return commit()[:_LENGTH] + ("+" if changed else "")


def _git(*arguments: str) -> str:
    found = subprocess.run(["git", *arguments], cwd=_ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip()
