"""One page that leads to the report of every run: a row for each artifact, with its verdicts counted.

Needs only Python: the job that publishes installs nothing. Names and verdicts are untrusted, and escaped.
"""

from __future__ import annotations

import html
import json
import shutil
import sys
from collections import Counter
from pathlib import Path

COLUMNS = ("passed", "failed", "error", "not-supported", "not-staged", "skipped")
STYLE = "body{font:16px system-ui;margin:3rem auto;max-width:60rem}td,th{padding:.3rem 1rem;text-align:right}\
td:first-child,th:first-child{text-align:left}:root{color-scheme:light dark}"


def main() -> int:
    results, site = Path(sys.argv[1]), Path(sys.argv[2])
    site.mkdir(parents=True, exist_ok=True)
    rows = [_row(run, site) for run in sorted(results.iterdir()) if (run / "results.jsonl").is_file()]
    heading = "".join(f"<th>{name}</th>" for name in ("run", *COLUMNS))
    (site / "index.html").write_text(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Muster</title><style>{STYLE}</style>"
        f"<h1>Does your scheduler pass muster?</h1><table><tr>{heading}</tr>{''.join(rows)}</table></html>\n",
        encoding="utf-8",
    )
    return 0


def _row(run: Path, site: Path) -> str:
    lines = (run / "results.jsonl").read_text(encoding="utf-8").splitlines()
    counted = Counter(json.loads(line)["verdict"] for line in lines)
    name = html.escape(run.name.removeprefix("muster-"))
    if (run / "report" / "index.html").is_file():
        shutil.copytree(run / "report", site / run.name, dirs_exist_ok=True)
        name = f'<a href="{html.escape(run.name, quote=True)}/index.html">{name}</a>'
    return f"<tr><td>{name}</td>{''.join(f'<td>{counted[column]}</td>' for column in COLUMNS)}</tr>"


if __name__ == "__main__":
    sys.exit(main())
