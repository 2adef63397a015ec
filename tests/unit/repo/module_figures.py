"""Sizes, names and importers of the modules: `python -m tests.unit.repo.module_figures` prints the figures."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("muster", "scheduler", "steps", "fixtures")
MEDIAN = range(110, 181)  # lines
LONGEST = 400  # lines
MOST_LONELY = 0.30  # share of modules with at most one importer
SAME_NAME = 2  # files with the same basename
# Loaded by a registry, by pytest or as a program of its own: imports say nothing about them.
REGISTERED = (
    "muster/cli/",
    "muster/schedulers/",
    "muster/pytest_plugin/",
    "muster/demo/pytest_plugin.py",
    "muster/processes/reaper_main.py",
    "steps/",
    "fixtures/",
)


@dataclass(frozen=True)
class Figures:
    """What the rules are about."""

    median_lines: float
    longest: dict[str, int]  # modules above LONGEST
    lonely_share: float
    lonely: list[str]
    same_names: dict[str, int]  # basenames that more than SAME_NAME files have

    def problems(self) -> Iterator[str]:
        if round(self.median_lines) not in MEDIAN:
            yield f"the median module has {self.median_lines:g} lines: wanted {MEDIAN[0]} to {MEDIAN[-1]}"
        for name, lines in self.longest.items():
            yield f"{name} has {lines} lines: split it, {LONGEST} is the limit"
        if self.lonely_share > MOST_LONELY:
            yield f"{self.lonely_share:.0%} of modules have at most one importer: {MOST_LONELY:.0%} is the limit"
        for name, number in self.same_names.items():
            yield f"{number} files are called {name}: {SAME_NAME} is the limit"


def figures() -> Figures:
    files = [
        file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py")) if "_suite" not in file.parts
    ]
    modules = [file for file in files if file.name not in ("__init__.py", "__main__.py")]
    lines = {_name(file): len(file.read_text().splitlines()) for file in modules}
    importers = _importers(files)
    counted = [file for file in modules if not _name(file).startswith(REGISTERED) and "_command" not in file.stem]
    lonely = [_name(file) for file in counted if len(importers[_dotted(file)]) <= 1]
    per_scheduler = [file for file in modules if file.parent.parent == ROOT / "muster" / "schedulers"]
    names = Counter(file.name for file in modules if file not in per_scheduler)
    return Figures(
        median_lines=median(lines.values()),
        longest={name: number for name, number in lines.items() if number > LONGEST},
        lonely_share=len(lonely) / len(counted),
        lonely=lonely,
        same_names={name: number for name, number in names.items() if number > SAME_NAME},
    )


def _importers(files: list[Path]) -> dict[str, set[Path]]:
    """Who imports each module, directly or by a name that its package re-exports."""
    imports = {file: set(_imported(file)) for file in files}
    exported: dict[str, str] = {}  # a name of a package, to the module that defines it
    for file, names in imports.items():
        if file.name == "__init__.py":
            package = _dotted(file.parent)
            exported |= {f"{package}.{name}": module for module, name in names if module.startswith(f"{package}.")}
    importers: dict[str, set[Path]] = defaultdict(set)
    for file, names in imports.items():
        for module, name in names:
            for imported in (module, f"{module}.{name}", exported.get(f"{module}.{name}", "")):
                importers[imported].add(file)
    return importers


def _imported(file: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((each.name, "") for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, each.name) for each in node.names)


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def _dotted(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


if __name__ == "__main__":
    found = figures()
    print(f"median {found.median_lines:g} lines; {found.lonely_share:.0%} of modules with at most one importer")
    print("\n".join(found.problems()))
    print("at most one importer:", *found.lonely, sep="\n  ")
