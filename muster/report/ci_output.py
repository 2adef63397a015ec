"""Output for CI systems: JUnit XML, and for GitHub Actions a job summary and an annotation for every failed scenario.

pytest's own JUnit file has slugs for titles and does not separate failures from errors. Untrusted text is escaped:
characters that XML does not allow are removed, a workflow command must not end early, nor a table cell at a pipe. Code
blocks use more backticks than any run of them inside; GitHub itself removes scripts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO
from uuid import uuid4
from xml.etree import ElementTree as Xml

from muster.report.markdown import code_block, escaped
from muster.report.results import Result
from muster.report.sanitize import cut, one_line, plain
from muster.suite.behaviours import id_order
from muster.verdicts import Verdict

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENT = {
    Verdict.FAILED: "failure",
    Verdict.ERROR: "error",
    Verdict.NOT_SUPPORTED: "skipped",
    Verdict.NOT_STAGED: "skipped",
    Verdict.SKIPPED: "skipped",
}
_SIGNS = {Verdict.PASSED: "✅", Verdict.FAILED: "❌", Verdict.ERROR: "💥"}
_MOST_ANNOTATIONS = 10  # GitHub shows no more of a kind for one step
_LONGEST_REPORT = 6_000
_LONGEST_CONCLUSION = 1_000
_LONGEST_SUMMARY = 900_000  # GitHub rejects a summary of more than 1 MiB


def write_junit(file: Path, scheduler: str, results: Sequence[Result], environment: Mapping[str, str]) -> None:
    """Write JUnit XML, atomically."""
    root = Xml.Element("testsuites", name="muster")
    suite = Xml.SubElement(root, "testsuite", {"name": scheduler, **_junit_counts(results)})
    _junit_properties(suite, environment)
    for result in results:
        _junit_case(suite, result)
    Xml.indent(root)
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    Xml.ElementTree(root).write(draft, encoding="utf-8", xml_declaration=True)
    draft.replace(file)


def _junit_counts(results: Sequence[Result]) -> dict[str, str]:
    elements = [_ELEMENT.get(result.verdict) for result in results]
    seconds = sum(result.setup_seconds + result.seconds + result.teardown_seconds for result in results)
    return {
        "tests": str(len(results)),
        "failures": str(elements.count("failure")),
        "errors": str(elements.count("error")),
        "skipped": str(elements.count("skipped")),
        "time": f"{seconds:.3f}",
    }


def _junit_case(suite: Xml.Element, result: Result) -> None:
    turn = f" (round {result.round}/{result.rounds})" if result.rounds > 1 else ""
    capability = result.capabilities[0] if result.capabilities else "muster"
    total = result.setup_seconds + result.seconds + result.teardown_seconds
    case = Xml.SubElement(
        suite,
        "testcase",
        classname=_xml_text(f"{capability}.{result.name}"),
        name=_xml_text(f"{result.name} {result.title}{turn}"),
        time=f"{total:.3f}",
    )
    facts = {"requirement": result.id, "level": result.level, "verdict": str(result.verdict), "worker": result.worker}
    facts |= {"nodes": result.nodes} if result.nodes else {}
    _junit_properties(case, facts | {"capabilities": ",".join(result.capabilities), "feature": result.feature})
    if element := _ELEMENT.get(result.verdict):
        message = _xml_text(result.message)
        first_line = message.splitlines()[0] if message else ""
        found = Xml.SubElement(case, element, type=str(result.verdict), message=f"{result.verdict}: {first_line}")
        found.text = message


def _junit_properties(parent: Xml.Element, facts: Mapping[str, str]) -> None:
    if facts:
        properties = Xml.SubElement(parent, "properties")
        for name, value in facts.items():
            Xml.SubElement(properties, "property", name=_xml_text(name), value=_xml_text(value))


def _xml_text(text: str) -> str:
    return _NOT_XML.sub("", text)


def write_github_output(results: Sequence[Result], conclusion: str, facts: Mapping[str, str], out: TextIO) -> None:
    """Annotations and job summary; does nothing outside GitHub Actions."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        out.writelines(f"{command}\n" for command in github_annotations(results))
    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(file).open("a", encoding="utf-8") as summary_file:
            summary_file.write(github_summary(results, conclusion, facts))


@contextmanager
def github_commands_disabled(out: TextIO) -> Iterator[None]:
    """GitHub executes no workflow command in what is printed meanwhile."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        yield
        return
    token = uuid4().hex
    out.write(f"::stop-commands::{token}\n")
    try:
        yield
    finally:
        out.write(f"::{token}::\n")


def github_annotations(results: Sequence[Result]) -> list[str]:
    """Workflow commands: failures as errors, harness errors as warnings."""
    commands = []
    for result in _failed(results)[:_MOST_ANNOTATIONS]:
        kind = "error" if result.verdict is Verdict.FAILED else "warning"
        title = _command_property(f"{result.name} {result.verdict}: {result.title}")
        message = _command_text(cut(plain(result.message), _LONGEST_REPORT))
        commands.append(f"::{kind} file={_command_property(result.feature)},title={title}::{message}")
    return commands


def github_summary(results: Sequence[Result], conclusion: str, facts: Mapping[str, str]) -> str:
    """Markdown: the conclusion, the table, and each failure report to be unfolded."""
    lines = [
        f"## {escaped(conclusion, _LONGEST_CONCLUSION)}",
        "",
        "| | id | level | verdict | seconds | title |",
        "|-|-|-|-|-:|-|",
    ]
    for result in sorted(results, key=lambda one: (id_order(one.name), one.round)):
        sign = _SIGNS.get(result.verdict, "➖")
        cells = [sign, result.name, result.level, str(result.verdict), f"{result.seconds:.1f}", result.title]
        lines.append("| " + " | ".join(escaped(cell) for cell in cells) + " |")
    for result in _failed(results):
        message = cut(plain(result.message), _LONGEST_REPORT)
        headline = escaped(f"{result.name} {result.verdict}: {result.title}")
        lines += ["", f"<details><summary>{headline}</summary>", "", *code_block(message, "text"), "", "</details>"]
    lines += ["", *(f"- {escaped(name)}: {escaped(value)}" for name, value in facts.items()), ""]
    return cut("\n".join(lines), _LONGEST_SUMMARY) + "\n"


def _failed(results: Sequence[Result]) -> list[Result]:
    bad = [result for result in results if result.verdict in (Verdict.FAILED, Verdict.ERROR)]
    return sorted(bad, key=lambda result: (id_order(result.name), result.round))


def _command_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _command_property(text: str) -> str:
    return _command_text(one_line(text, 300)).replace(":", "%3A").replace(",", "%2C")
