"""No retired word in titles, steps, help, messages and identifiers: muster/suite/vocabulary.toml has the list.

`python -m tests.unit.repo.test_vocabulary` prints what is found, counted by package; with a path only what is below it.
"""

import argparse
import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from muster.cli import parser
from muster.suite.behaviours import read_features
from muster.suite.vocabulary import Retired, retired, retired_in_identifier

ROOT = Path(__file__).resolve().parents[3]
CODE = ("muster", "scheduler", "steps", "fixtures")
NAMED = (*CODE, "tests", "bench", "features", "docs", "ci")
COMMANDS = ("scheduler", "scheduler.operator", "muster.simulator")  # beside `muster` itself


@dataclass(frozen=True)
class Finding:
    """A retired word, and where it stands."""

    file: Path
    line: int
    kind: str
    text: str
    term: Retired

    @property
    def package(self) -> str:
        folders = self.file.relative_to(ROOT).parts[:-1]
        return "/".join(folders[: 3 if folders[0] == "tests" else 2])

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}: {self.kind} {self.text!r} has the retired {self.term}"


def _in_features() -> Iterator[Finding]:
    for behaviour in read_features(ROOT / "features").behaviours:
        texts = [(behaviour.feature_line, behaviour.feature_title), (behaviour.line, behaviour.title)]
        texts += [(step.line, step.text) for step in behaviour.steps]
        for line, text in texts:
            for term in retired(text, "features"):
                yield Finding(behaviour.feature_file, line, "title or step", text, term)


def _in_help() -> Iterator[Finding]:
    root, subparsers = parser()
    texts = {"muster": root.format_help()}
    for name, command in subparsers.choices.items():
        texts.update(_helps(f"muster {name}", command))
    for module in COMMANDS:
        shown = subprocess.run([sys.executable, "-m", module, "--help"], cwd=ROOT, capture_output=True, text=True)
        assert shown.returncode == 0, shown.stderr
        texts[f"python -m {module}"] = shown.stdout
    for name, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            for term in retired(line, "help"):
                yield Finding(ROOT / "muster" / "cli" / "help", number, f"help of {name}", line.strip(), term)


def _helps(name: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    yield name, parser.format_help()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below, inner in action.choices.items():
                yield from _helps(f"{name} {below}", inner)


def _in_code() -> Iterator[Finding]:
    for top in NAMED:
        for file in sorted((ROOT / top).rglob("*.py")):
            yield from _in_names(file, file.stem, 1)
            tree = ast.parse(file.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                for name in _defined(node):
                    yield from _in_names(file, name, getattr(node, "lineno", 1))
            for line, text in _messages(tree) if top in CODE else ():
                for term in retired(text, "messages"):
                    yield Finding(file, line, "message", text, term)


def _in_names(file: Path, name: str, line: int) -> Iterator[Finding]:
    for term in retired_in_identifier(name, str(file.relative_to(ROOT))):
        yield Finding(file, line, "name", name, term)


def _defined(node: ast.AST) -> Iterator[str]:
    """Names where they are defined; a use adds nothing, and may be a library's."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    elif isinstance(node, ast.alias) and node.asname:
        yield node.asname


def _messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Literals of more than one word, docstrings aside: errors, logs, conditions, events, step definitions."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings)
    for constant in constants:
        if isinstance(constant.value, str) and " " in constant.value:
            yield constant.lineno, constant.value


def found() -> list[Finding]:
    """Everything that is found, each once."""
    return list(dict.fromkeys([*_in_features(), *_in_help(), *_in_code()]))


def test_no_retired_term_is_used() -> None:
    findings = found()
    assert not findings, "\n".join(map(str, findings))


def test_terms_of_identifiers_are_found() -> None:
    assert [each.found for each in retired_in_identifier("StageRooms_of_guest")] == ["rooms", "guest", "stage"]
    assert not list(retired_in_identifier("backstage_roommate"))
    assert not list(retired_in_identifier("test_it_is_not_staged"))


def test_phrases_of_texts_are_found() -> None:
    assert [str(each) for each in retired("pod asks for 1 GPU", "features")] == ['"asks for": write requests, request']
    assert not list(retired("pod asks for 1 GPU", "messages"))
    assert not list(retired("the scenario is not staged", "messages"))


if __name__ == "__main__":
    below = [str(ROOT / argument) for argument in sys.argv[1:]] or [str(ROOT)]
    shown = [one for one in found() if str(one.file).startswith(tuple(below))]
    print(*shown, sep="\n")
    for package, number in sorted(Counter(one.package for one in shown).items()):
        print(f"{number:5} {package}")
    print(f"{len(shown):5} in all")
