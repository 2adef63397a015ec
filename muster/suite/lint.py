"""Mistakes in feature files, found before anything runs and reported all at once.

pytest-bdd itself is lenient: a scenario without steps passes and a missing step is only noticed when it is reached, so
a missing check would pass. What is found here is an error of the suite, never of the scheduler: exit code 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from difflib import get_close_matches

from muster.suite.behaviours import (
    CAPABILITIES,
    CLOSED_TAGS,
    LEVELS,
    REQUIREMENT_ID,
    Behaviour,
    Catalogue,
    Problem,
    Step,
)
from muster.suite.vocabulary import retired

StepDefinitions = Callable[[Step], int]
"""How many step definitions match a step."""


def lint(
    catalogue: Catalogue, *, definitions: StepDefinitions | None = None, claims: Collection[str] = ()
) -> list[Problem]:
    """Every problem of the features, sorted by file and line; step definitions are checked where they are known."""
    problems = [*catalogue.problems]
    for behaviour in catalogue.behaviours:
        problems += _tag_problems(behaviour)
        problems += _step_problems(behaviour)
        problems += _retired_terms(behaviour)
    problems += _duplicates(catalogue.behaviours)
    if definitions:
        problems += _unresolved_steps(catalogue.behaviours, definitions)
    if not catalogue.problems:  # an unreadable file may hold the scenarios that seem to be missing
        problems += _claims_without_scenarios(catalogue, claims)
    return sorted(set(problems), key=lambda problem: (str(problem.file), problem.line, problem.text))


def _tag_problems(behaviour: Behaviour) -> Iterator[Problem]:
    def problem(text: str) -> Problem:
        return Problem(behaviour.feature_file, behaviour.line, f"scenario {behaviour.title!r} {text}")

    if len(behaviour.ids) != 1:
        yield problem(f"has {_counted(behaviour.ids, 'requirement id')}: tag it with exactly one, such as @PRE-01")
    levels = [tag for tag in behaviour.tags if tag in LEVELS]
    if len(levels) != 1:
        yield problem(f"has {_counted(levels, 'level')}: tag it with exactly one of {_listed(LEVELS)}")
    if not behaviour.capabilities:
        yield problem(f"has no capability: tag it with at least one of {_listed(CAPABILITIES)}")
    for tag in behaviour.tags:
        if tag not in CLOSED_TAGS and not REQUIREMENT_ID.fullmatch(tag):
            yield problem(f"has the unknown tag @{tag}: {_tag_hint(tag)}")
    if behaviour.example_tags:
        yield problem(f"has tags on its Examples ({_listed(behaviour.example_tags)}): tag the scenario itself")


def _step_problems(behaviour: Behaviour) -> Iterator[Problem]:
    def problem(line: int, text: str) -> Problem:
        return Problem(behaviour.feature_file, line, text)

    if not behaviour.title:
        yield problem(behaviour.line, "a scenario has no title: name the behaviour that it tests")
    if not any(step.type == "then" for step in behaviour.steps):
        yield problem(
            behaviour.line,
            f"scenario {behaviour.title!r} has no Then, so it cannot fail: add what must be observed",
        )
    if behaviour.steps and not behaviour.steps[0].type:
        yield problem(behaviour.steps[0].line, "the first step must start with Given, When or Then")


def _retired_terms(behaviour: Behaviour) -> Iterator[Problem]:
    """Titles and steps use the words of Kubernetes scheduling: see vocabulary.toml."""
    texts = [(behaviour.feature_line, behaviour.feature_title), (behaviour.line, behaviour.title)]
    texts += [(behaviour.line, behaviour.rule), *((step.line, step.text) for step in behaviour.all_steps())]
    for line, text in texts:
        for found in retired(text, "features"):
            yield Problem(behaviour.feature_file, line, f"{text!r} has the retired {found}")


def _duplicates(behaviours: Iterable[Behaviour]) -> Iterator[Problem]:
    first_with: dict[tuple[str, str], Behaviour] = {}
    for behaviour in behaviours:
        keys = [("requirement id", each) for each in behaviour.ids] + [("title", behaviour.title)]
        for key in keys:
            first = first_with.setdefault(key, behaviour)
            if first is not behaviour:
                what, value = key
                yield Problem(
                    behaviour.feature_file,
                    behaviour.line,
                    f"the {what} {value!r} is already taken by {first.feature_file.name}:{first.line}: give it another",
                )


def _unresolved_steps(behaviours: Iterable[Behaviour], definitions: StepDefinitions) -> Iterator[Problem]:
    for behaviour in behaviours:
        for step in behaviour.all_steps():
            found = definitions(step)
            quoted = f'"{step.type.capitalize()} {step.text}"'
            if found == 0:
                yield Problem(
                    behaviour.feature_file,
                    step.line,
                    f"no step definition matches {quoted}: write it in steps/, or reword",
                )
            elif found > 1:
                yield Problem(
                    behaviour.feature_file, step.line, f"{found} step definitions match {quoted}: make them distinct"
                )


def _claims_without_scenarios(catalogue: Catalogue, claims: Collection[str]) -> Iterator[Problem]:
    described = {capability for behaviour in catalogue.behaviours for capability in behaviour.capabilities}
    for claim in claims:
        if claim not in described and catalogue.behaviours:
            yield Problem(
                catalogue.behaviours[0].feature_file.parent.parent,
                0,
                f"the scheduler claims the capability {claim!r} but no scenario is tagged @{claim}: write one",
            )


def _tag_hint(tag: str) -> str:
    near = get_close_matches(tag.lower(), CLOSED_TAGS, n=1)
    return f"did you mean @{near[0]}?" if near else f"the known ones are {_listed(CLOSED_TAGS)}"


def _counted(found: Collection[str], kind: str) -> str:
    if not found:
        return f"no {kind}"
    repeated = Counter(found)
    return f"{len(found)} {kind}s ({', '.join(f'@{each}' for each in repeated)})"


def _listed(tags: Iterable[str]) -> str:
    return ", ".join(f"@{tag}" for tag in tags)
