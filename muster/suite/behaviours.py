"""The behaviours: every scenario of features/ as a value, and the closed list of tags it may have.

The features are parsed with the same Gherkin parser that pytest-bdd uses, but without pytest, so that `--list`, the
lint and the verdict table need neither a test run nor a cluster. Trap: Gherkin reads a line with a misspelt keyword as
a description, so a file that parses may still have lost a step; the lint's "no Then" is there for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

LEVELS = ("must", "should", "may")
CAPABILITIES = (
    "pods",
    "preemption",
    "own-victims",  # preempts pods of its own schedulerNames only
    "any-victims",  # preempts pods of any schedulerName
    "affinity",
    "volumes",
    "taints",
    "gangs",
    "queues",
    "job-preemption",
    "jobs",
    "documents",
)
WALKTHROUGHS = ("doc-1", "doc-2", "doc-3", "doc-4", "doc-5")
# A scenario for another operator or client, in place of the one of the same walk-through or of the one that it names.
VARIANTS = ("variant-training-operator", "variant-training-operator-1.7.0", "variant-arena")
REPLACEMENTS = ("replaces-job-09", "replaces-job-12")
TESTS_THE_CLUSTER = "cluster"  # the scenario is about the cluster, not about the scheduler under test
CLOSED_TAGS = (*LEVELS, *CAPABILITIES, *WALKTHROUGHS, *VARIANTS, *REPLACEMENTS, TESTS_THE_CLUSTER)
REQUIREMENT_ID = re.compile(r"[A-Z]{3}-\d+")

_STEP_TYPES = {"Context": "given", "Action": "when", "Outcome": "then"}
_PLACEHOLDER = re.compile(r"<(.+?)>")


@dataclass(frozen=True)
class Step:
    """One step of a scenario. `type` is what And, But and * inherit: given, when or then."""

    keyword: str
    type: str
    text: str
    line: int
    table: tuple[tuple[str, ...], ...] = ()
    text_block: str | None = None  # its doc string


@dataclass(frozen=True)
class Behaviour:
    """One scenario (or outline) of a feature file, with the tags of its rule and its feature."""

    title: str
    feature_title: str
    feature_file: Path
    line: int
    tags: tuple[str, ...]
    steps: tuple[Step, ...]
    examples: tuple[Mapping[str, str], ...] = ()
    example_tags: tuple[str, ...] = ()
    rule: str = ""  # the title of its Rule
    feature_line: int = 0
    description: str = ""  # below the title: the source of what is promised
    feature_description: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """Every requirement id among its tags; the lint insists on exactly one."""
        return tuple(tag for tag in self.tags if REQUIREMENT_ID.fullmatch(tag))

    @property
    def id(self) -> str:
        """The name of the behaviour, which never changes."""
        return self.ids[0] if self.ids else ""

    @property
    def level(self) -> str:
        """must, should or may."""
        return next((tag for tag in self.tags if tag in LEVELS), "")

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What a scheduler must claim to be tested by it."""
        return tuple(tag for tag in self.tags if tag in CAPABILITIES)

    @property
    def walkthroughs(self) -> tuple[str, ...]:
        """The walk-throughs that it follows."""
        return tuple(tag for tag in self.tags if tag in WALKTHROUGHS)

    @property
    def variants(self) -> tuple[str, ...]:
        """The operators and clients that it is for; empty where it holds for all."""
        return tuple(tag.removeprefix("variant-") for tag in self.tags if tag in VARIANTS)

    def is_variant_of(self, other: Behaviour) -> bool:
        """Whether it is tested in place of the other, with the operator or client that it is for."""
        named = f"replaces-{other.id.lower()}" in self.tags
        return bool(self.variants) and (named or not set(self.walkthroughs).isdisjoint(other.walkthroughs))

    @property
    def tests_the_cluster(self) -> bool:
        """Whether it counts for the cluster and not for the scheduler."""
        return TESTS_THE_CLUSTER in self.tags

    @property
    def test_name(self) -> str:
        """The name of its test function: node ids stay the same when a title changes."""
        return "test_" + self.id.replace("-", "_")

    @property
    def rows(self) -> int:
        """The number of its tests: one, or one per row of its Examples."""
        return max(1, len(self.examples))

    @property
    def row_names(self) -> tuple[str, ...]:
        """What results call the rows of its Examples; one empty name where it has none."""
        return tuple("-".join(row.values()) for row in self.examples) or ("",)

    def all_steps(self) -> Iterator[Step]:
        """Its steps as they will be executed, once for every row of its Examples."""
        for row in self.examples or ({},):
            yield from self.steps_of(row)

    def steps_of(self, row: Mapping[str, str]) -> Iterator[Step]:
        """Its steps as they will be executed for one row of its Examples."""
        for step in self.steps:
            yield replace(
                step,
                text=_render(step.text, row),
                table=tuple(tuple(_render(cell, row) for cell in cells) for cells in step.table),
                text_block=None if step.text_block is None else _render(step.text_block, row),
            )


@dataclass(frozen=True)
class Problem:
    """Something wrong in a feature file, with its line and the fix."""

    file: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Catalogue:
    """All behaviours in file order, and the feature files that could not be read."""

    behaviours: tuple[Behaviour, ...]
    problems: tuple[Problem, ...]

    def by_id(self) -> dict[str, Behaviour]:
        """The behaviours that have an id, by id."""
        return {behaviour.id: behaviour for behaviour in self.behaviours if behaviour.id}


def id_order(name: str) -> tuple[str, int, str]:
    """A sort key for ids, with or without the row of an outline: PRE-2 comes before PRE-10."""
    family, _, rest = name.partition("-")
    number = re.match(r"\d*", rest)
    return family, int(number[0]) if number and number[0] else 0, rest


@cache
def read_features(directory: Path) -> Catalogue:
    """Parse every feature file below `directory`, once per process."""
    behaviours: list[Behaviour] = []
    problems: list[Problem] = []
    for file in sorted(directory.rglob("*.feature")):
        found = _read_file(file)
        behaviours.extend(found.behaviours)
        problems.extend(found.problems)
    return Catalogue(tuple(behaviours), tuple(problems))


def _read_file(file: Path) -> Catalogue:
    from gherkin.errors import CompositeParserException
    from gherkin.parser import Parser

    try:
        document: dict[str, Any] = Parser().parse(file.read_text(encoding="utf-8"))
    except CompositeParserException as error:
        return Catalogue((), tuple(_syntax_problem(file, each) for each in error.errors))
    except (OSError, UnicodeDecodeError) as error:
        return Catalogue((), (Problem(file, 1, f"cannot be read as UTF-8 text: {error}"),))
    if "feature" not in document:
        return Catalogue((), (Problem(file, 1, "has no Feature: write one, or remove the file"),))
    feature = document["feature"]
    return Catalogue(tuple(_behaviours(file, feature, feature, tags=(), background=())), ())


def _syntax_problem(file: Path, error: Any) -> Problem:
    reason = re.sub(r"^\(\d+:\d+\): ", "", str(error))
    return Problem(file, error.location["line"], f"is not valid Gherkin: {reason}")


def _behaviours(
    file: Path,
    feature: dict[str, Any],
    parent: dict[str, Any],
    *,
    tags: tuple[str, ...],
    background: tuple[dict[str, Any], ...],
    rule: str = "",
) -> Iterator[Behaviour]:
    """The scenarios below a feature or a rule, in order."""
    inherited = (*tags, *_tags(parent))
    for child in parent["children"]:
        if "background" in child:
            background = (*background, *child["background"]["steps"])
        elif "rule" in child:
            inner = child["rule"]
            yield from _behaviours(file, feature, inner, tags=inherited, background=background, rule=inner["name"])
        else:
            scenario = child["scenario"]
            yield Behaviour(
                title=scenario["name"],
                feature_title=feature["name"],
                feature_file=file,
                line=scenario["location"]["line"],
                tags=(*inherited, *_tags(scenario)),
                steps=tuple(_steps(chain(background, scenario["steps"]))),
                examples=tuple(chain.from_iterable(_rows(table) for table in scenario["examples"])),
                example_tags=tuple(chain.from_iterable(_tags(table) for table in scenario["examples"])),
                rule=rule,
                feature_line=feature["location"]["line"],
                description=_dedented(scenario["description"]),
                feature_description=_dedented(feature["description"]),
            )


def _tags(node: dict[str, Any]) -> tuple[str, ...]:
    return tuple(tag["name"].lstrip("@") for tag in node["tags"])


def _steps(steps: Iterator[dict[str, Any]]) -> Iterator[Step]:
    step_type = ""
    for step in steps:
        step_type = _STEP_TYPES.get(step["keywordType"], step_type)
        table = tuple(
            tuple(cell["value"] for cell in row["cells"]) for row in step.get("dataTable", {}).get("rows", ())
        )
        text_block = step.get("docString", {}).get("content")
        yield Step(step["keyword"].strip(), step_type, step["text"], step["location"]["line"], table, text_block)


def _dedented(description: str) -> str:
    return "\n".join(line.strip() for line in description.splitlines())


def _rows(table: dict[str, Any]) -> Iterator[Mapping[str, str]]:
    names: Sequence[str] = [cell["value"] for cell in table["tableHeader"]["cells"]] if "tableHeader" in table else ()
    for row in table.get("tableBody", ()):
        yield dict(zip(names, (cell["value"] for cell in row["cells"]), strict=True))


def _render(text: str, row: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: row.get(match[1], match[0]), text)
