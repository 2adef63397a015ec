"""What only the walk-throughs ask: the output of a command, line by line, against what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from muster.assertions.job_queries import owned_objects
from muster.assertions.output_patterns import NotRecordedYet, lines_with_nodes, matches
from muster.assertions.preemption import victims
from muster.recording.history import History
from muster.recording.quantities import GPU
from muster.recording.questions import Answer, Outcome, Question

_Differ = Callable[[History, list[tuple[str, str]], list[str]], str]


def output_is(output: str, wanted: str) -> Question:
    """The output has exactly these lines: one that the walk-through does not show is a difference, too."""

    def difference(history: History, lines: list[tuple[str, str]], patterns: list[str]) -> str:
        for (line, node), pattern in zip(lines, patterns, strict=False):
            if not matches(history, line, pattern, node):
                return f"{line.strip()!r} does not match: {pattern}"
        if len(lines) > len(patterns):
            return f"not in the walk-through: {lines[len(patterns)][0].strip()!r}"
        return f"no line that matches: {patterns[len(lines)]}" if len(lines) < len(patterns) else ""

    return _question("exactly the lines of the walk-through", output, wanted, difference)


def output_contains(output: str, wanted: str) -> Question:
    """The output has these lines in this order, and maybe others between them."""

    def difference(history: History, lines: list[tuple[str, str]], patterns: list[str]) -> str:
        rest = iter(lines)
        for pattern in patterns:
            if not any(matches(history, line, pattern, node) for line, node in rest):
                return f"no line that matches: {pattern}"
        return ""

    return _question("the lines of the walk-through, in this order", output, wanted, difference)


def output_does_not_name(output: str, name: str) -> Question:
    """No column of the output is this name, or begins with it and a dash: the pods of a job have its name."""

    def ask(_: History) -> Answer:
        columns = output.split()
        named = name in columns or any(column.startswith(f"{name}-") for column in columns)
        return Answer(Outcome.FALSE if named else Outcome.TRUE, output.strip())

    return Question(f"{name} not in the output", ask)


def one_preempted(candidates: tuple[str, ...]) -> Question:
    """Exactly one of these pods: only then is there *the* victim to ask about."""

    def ask(history: History) -> Answer:
        found = [pod.name for pod in victims(history) if pod.name in candidates]
        outcome = Outcome.FALSE if len(found) > 1 else Outcome.TRUE if found else Outcome.PENDING
        return Answer(outcome, f"preempted: {', '.join(found) or 'none'}")

    return Question(f"exactly one of {', '.join(candidates)} preempted", ask, candidates)


def job_pods_are(job: str, table: Sequence[Mapping[str, str]]) -> Question:
    """The job owns the pods of the table and no others, with these GPUs and PriorityClasses; `*` matches any text."""
    wanted = sorted((row["pod"], row["GPUs"], row["priority class"]) for row in table)

    def ask(history: History) -> Answer:
        found = sorted((name, *_requests(pod)) for name, pod in owned_objects(history, job, "Pod").items())
        right = len(found) == len(wanted) and all(
            fnmatchcase(one[0], line[0]) and one[1:] == line[1:] for one, line in zip(found, wanted, strict=True)
        )
        return Answer(Outcome.TRUE if right else Outcome.PENDING, _listed(found) or "no pods")

    return Question(f"pods of job {job}: {_listed(wanted)}", ask)


def _question(text: str, output: str, wanted: str, difference: _Differ) -> Question:
    patterns = [line.strip() for line in wanted.splitlines() if line.strip()]

    def ask(history: History) -> Answer:
        try:
            found = difference(history, lines_with_nodes(history, output), patterns)
        except NotRecordedYet as missing:
            return Answer(Outcome.PENDING, str(missing), output.strip())
        return Answer(Outcome.FALSE if found else Outcome.TRUE, found, output.strip() or "no output")

    return Question(text, ask)


def _requests(pod: Mapping[str, Any]) -> tuple[str, str]:
    limits = [container.get("resources", {}).get("limits", {}) for container in pod["spec"]["containers"]]
    return str(sum(int(one.get(GPU, 0)) for one in limits)), pod["spec"].get("priorityClassName", "")


def _listed(pods: Sequence[tuple[str, ...]]) -> str:
    return "; ".join(f"{name} ({gpus} GPUs, {priority or 'no'} priority class)" for name, gpus, priority in pods)
