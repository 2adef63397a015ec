"""Runs the kubectl script of every failed cell of a matrix, and writes script and output to docs/findings/transcripts.

    python docs/transcripts.py results/matrix [SCHEDULER …] [--only ID …]

One page for each scheduler, one section for each behaviour that is not always passed. Muster only starts the cluster
(`muster up --nodes 0`); what the sections show is kubectl's. Sections of behaviours that were not run stay.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from muster import assets
from muster.command_line import print_progress
from muster.demo.playground import Playground
from muster.report.matrix.columns import Column, read
from muster.report.matrix.run import slug

PAGES = Path(__file__).resolve().parent / "findings" / "transcripts"
_RED = ("failed", "unstable")
_SCRIPT_SECONDS = 240.0
_PROMPT = b"press Enter: "
_SETTINGS = "# Start the scheduler again with"
_WRITTEN = re.compile(r" (created|configured|unchanged|condition met)$")
_SECTION = re.compile(r"^## (?P<id>\S+)$", re.MULTILINE)
_PIDS = re.compile(r'"\$\{SCHEDULER_PID:[^}]*\}"')


@dataclass(frozen=True)
class Finding:
    """A behaviour that a scheduler does not always pass, with its script."""

    id: str
    title: str
    level: str
    passed: int
    runs: int
    script: Path


def main() -> int:
    parser = argparse.ArgumentParser(prog="python docs/transcripts.py", description=__doc__.splitlines()[0])
    parser.add_argument("matrix", type=Path)
    parser.add_argument("schedulers", nargs="*", help="default: all of the matrix")
    parser.add_argument("--only", nargs="+", default=[], metavar="ID")
    args = parser.parse_args()
    names = [slug(one) for one in args.schedulers] or sorted(one.parent.name for one in args.matrix.glob("*/first"))
    for column in read(args.matrix, names, "").columns:
        chosen = [one for one in findings(column, args.matrix) if not args.only or one.id in args.only]
        if chosen:
            write_page(column, dict(transcripts(column.title, chosen)))
    return 0


def findings(column: Column, directory: Path) -> Iterator[Finding]:
    """Those with a script; of several runs that failed, one is enough."""
    for one in column.report.behaviours:
        if one.verdict not in _RED:
            continue
        scripts = scripts_of(directory / column.directory, one.id)
        if not scripts:
            print_progress(f"{column.title} {one.id}: no script")
            continue
        runs = sum(one.runs.values())
        yield Finding(one.id, one.title, one.level, one.runs.get("passed", 0), runs, scripts[0])


def scripts_of(column: Path, id_: str) -> list[Path]:
    """Of all rounds and rows. DOC-10 is not a row of DOC-1."""
    return sorted(one for one in column.glob("*/kubectl/*.sh") if re.fullmatch(rf"{id_}(\W.*)?", one.stem))


def transcripts(scheduler: str, chosen: Iterable[Finding]) -> Iterator[tuple[str, str]]:
    """Each section's id and text."""
    kubectl = assets.ensure(["kubectl"], print_line=lambda _: None)["kubectl"]
    for finding in chosen:
        print_progress(f"{scheduler} {finding.id}")
        with started(scheduler) as playground:  # a new one: no object of an earlier script is left
            yield finding.id, section(finding, run_script(finding, playground, kubectl))


@contextmanager
def started(scheduler: str) -> Iterator[Playground]:
    playground = Playground(scheduler=scheduler, operator="reference", print_line=lambda _: None)
    try:
        playground.start(nodes=0, gpus=0, masters=0)
        yield playground
    finally:
        playground.stop()


def run_script(finding: Finding, playground: Playground, kubectl: Path) -> str:
    """What the script prints. Where it asks for a restart of the scheduler, that is done."""
    scheduler = playground.scheduler
    assert scheduler is not None
    text = _PIDS.sub("$SCHEDULER_PID", finding.script.read_text())
    environment = os.environ | {
        "PATH": f"{kubectl.parent}{os.pathsep}{os.environ['PATH']}",
        "KUBECONFIG": str(playground.cluster.client_kubeconfig("admin")),
        "SCHEDULER_PID": str(scheduler.processes[0].pid),
        "SETTLE": "5",
    }
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
        file.write(text)
        file.flush()
        command = ["timeout", str(_SCRIPT_SECONDS), "sh", file.name]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            output = b""
            while part := os.read(process.stdout.fileno(), 65536):
                output += part
                if output.endswith(_PROMPT):
                    scheduler.kill()
                    scheduler.stop()
                    scheduler.start()
                    process.stdin.write(b"\n")
                    process.stdin.flush()
    return output.decode("utf-8", "replace")


def section(finding: Finding, output: str) -> str:
    script = finding.script.read_text()
    report = [line.removeprefix("# ") for line in script.splitlines() if line.startswith("# ")]
    first = next((number for number, line in enumerate(report) if line.startswith("wanted ")), 0)
    last = next((number for number, line in enumerate(report) if line.startswith("repeat ")), first)
    shown = [
        line for line in output.splitlines() if not re.search(r" (created|configured|unchanged|condition met)$", line)
    ]
    lines = [
        f"## {finding.id}",
        "",
        f"{finding.title} ({finding.level}): {finding.passed} of {finding.runs} runs passed.",
        "",
        "```text",
        *report[first : last + 1],
        "```",
        "",
        "What kubectl shows:",
        "",
        "```text",
        *shown,
        "```",
        "",
        "<details><summary>The commands</summary>",
        "",
        "```sh",
        *script.rstrip("\n").splitlines(),
        "```",
        "",
        "</details>",
    ]
    if _SETTINGS in script:
        lines.insert(3, "\nThe scenario also changes the scheduler's settings, which the commands do not.")
    return "\n".join(lines) + "\n"


def write_page(column: Column, sections: dict[str, str]) -> None:
    page = PAGES / f"{slug(column.title)}.md"
    if page.exists():
        sections = split_sections(page.read_text()) | sections
    red = {one.id for one in column.report.behaviours if one.verdict in _RED}
    head = (
        f"# {column.title}: what kubectl shows\n\nGenerated by `python docs/transcripts.py` with {column.version}. One "
        "section for each behaviour that Muster saw fail, with its report, the output of kubectl and the commands.\n\n"
    )
    PAGES.mkdir(exist_ok=True)
    page.write_text(head + "\n".join(text for id_, text in sorted(sections.items()) if id_ in red))


def split_sections(page: str) -> dict[str, str]:
    starts = [*_SECTION.finditer(page)]
    ends = [*(one.start() for one in starts[1:]), len(page)]
    return {one["id"]: page[one.start() : end].rstrip("\n") + "\n" for one, end in zip(starts, ends, strict=True)}


if __name__ == "__main__":
    sys.exit(main())
