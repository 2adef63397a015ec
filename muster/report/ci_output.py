"""JUnit XML from the results. pytest's own file would show slugs for titles and could not tell failures from errors.

Whatever is not allowed in XML (colour codes and other control characters in messages) is dropped: a file that a CI
system refuses is worth nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from muster.report.results import Result
from muster.verdicts import Verdict

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENT = {
    Verdict.FAILED: "failure",
    Verdict.ERROR: "error",
    Verdict.NOT_SUPPORTED: "skipped",
    Verdict.NOT_STAGED: "skipped",
    Verdict.SKIPPED: "skipped",
}


def write(file: Path, scheduler: str, results: Sequence[Result], environment: Mapping[str, str]) -> None:
    """Write the file in one go, so that nobody ever reads half of it."""
    root = Xml.Element("testsuites", name="muster")
    suite = Xml.SubElement(root, "testsuite", {"name": scheduler, **_counts(results)})
    _properties(suite, environment)
    for result in results:
        _case(suite, result)
    Xml.indent(root)
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    Xml.ElementTree(root).write(draft, encoding="utf-8", xml_declaration=True)
    draft.replace(file)


def _counts(results: Sequence[Result]) -> dict[str, str]:
    elements = [_ELEMENT.get(result.verdict) for result in results]
    seconds = sum(result.setup_seconds + result.seconds + result.teardown_seconds for result in results)
    return {
        "tests": str(len(results)),
        "failures": str(elements.count("failure")),
        "errors": str(elements.count("error")),
        "skipped": str(elements.count("skipped")),
        "time": f"{seconds:.3f}",
    }


def _case(suite: Xml.Element, result: Result) -> None:
    turn = f" (round {result.round}/{result.rounds})" if result.rounds > 1 else ""
    capability = result.capabilities[0] if result.capabilities else "muster"
    total = result.setup_seconds + result.seconds + result.teardown_seconds
    case = Xml.SubElement(
        suite,
        "testcase",
        classname=_clean(f"{capability}.{result.name}"),
        name=_clean(f"{result.name} {result.title}{turn}"),
        time=f"{total:.3f}",
    )
    facts = {"requirement": result.id, "level": result.level, "verdict": str(result.verdict), "worker": result.worker}
    _properties(case, facts | {"capabilities": ",".join(result.capabilities), "feature": result.feature})
    if element := _ELEMENT.get(result.verdict):
        message = _clean(result.message)
        first_line = message.splitlines()[0] if message else ""
        found = Xml.SubElement(case, element, type=str(result.verdict), message=f"{result.verdict}: {first_line}")
        found.text = message


def _properties(parent: Xml.Element, facts: Mapping[str, str]) -> None:
    if facts:
        properties = Xml.SubElement(parent, "properties")
        for name, value in facts.items():
            Xml.SubElement(properties, "property", name=_clean(name), value=_clean(value))


def _clean(text: str) -> str:
    return _NOT_XML.sub("", text)
