"""The matrix: columns from reports, continued runs, escaped pages."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from muster.cli import main
from muster.report import conformance
from muster.report.conformance import FILE, Claim
from muster.report.conformance_format import to_yaml
from muster.report.matrix import columns, pages
from muster.report.results import Result, append_result
from muster.verdicts import Verdict

HOSTILE = '<script>alert(1)</script> | "quoted" &amp;'


class Runs:
    """Fake of `muster run`: writes the given results, and records its calls."""

    def __init__(self, *, failing: Sequence[str] = (), crashes: bool = False, bad: Verdict = Verdict.FAILED) -> None:
        self.calls: list[list[str]] = []
        self._failing, self._crashes, self._bad = set(failing), crashes, bad

    def __call__(self, command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        self.calls.append(command)
        results = Path(command[command.index("--results") + 1])
        results.mkdir(parents=True)
        rounds = int(command[command.index("--repeat") + 1])
        ids = command[command.index("--only") + 1].split(",") if "--only" in command else ["PRE-01", "PRE-02"]
        for id_ in ids:
            for turn in range(1, rounds + 1):
                verdict = self._bad if id_ in self._failing else Verdict.PASSED
                append_result(results, Result(id_, "must", ["preemption"], HOSTILE, verdict, turn, message=HOSTILE))
        if self._crashes:
            return subprocess.CompletedProcess(command, 2)
        (results / FILE).write_text("done")
        return subprocess.CompletedProcess(command, 1 if self._failing else 0)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    made = Runs(failing=["PRE-02"])
    monkeypatch.setattr(subprocess, "run", made)
    return made


def test_failed_cells_are_tested_again_and_complete_columns_are_kept(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["matrix", "kube-scheduler", "volcano:preempt", "--directory", str(tmp_path)]
    assert main(command) == 0
    assert [call[call.index("--repeat") + 1] for call in runs.calls] == ["2", "3", "2", "3"]
    again = runs.calls[1]
    assert again[again.index("--only") + 1] == "PRE-02"
    assert capsys.readouterr().out == f"{tmp_path / 'matrix.html'}\n"
    assert "| PRE-02 |" in (tmp_path / "matrix.md").read_text()
    assert "✘ 0/5" in (tmp_path / "matrix.md").read_text()
    assert main(command) == 0
    assert len(runs.calls) == 4


def test_a_failure_is_a_finding_and_a_harness_error_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(subprocess, "run", Runs(failing=["PRE-02"], bad=Verdict.ERROR))
    assert main(["matrix", "kube-scheduler", "--directory", str(tmp_path)]) == 2
    assert (tmp_path / "matrix.html").exists()


def test_a_matrix_that_tested_nothing_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", Runs(failing=["PRE-01", "PRE-02"], bad=Verdict.NOT_SUPPORTED))
    assert main(["matrix", "kube-scheduler", "--directory", str(tmp_path)]) == 2
    assert "nothing was tested: no scheduler supports what --only and -m select" in capsys.readouterr().err


def test_an_interrupted_run_starts_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", Runs(crashes=True))
    command = ["matrix", "kube-scheduler", "--directory", str(tmp_path)]
    assert main(command) == 2
    assert not (tmp_path / "kube-scheduler" / FILE).exists()
    monkeypatch.setattr(subprocess, "run", Runs())
    assert main(command) == 0
    cell = columns.read(tmp_path, ["kube-scheduler"], "").columns[0].cell("PRE-01")
    assert cell is not None
    assert cell.runs == {"passed": 2}


def test_unknown_schedulers_and_odd_numbers_are_refused_before_anything_runs(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matrix", "unknown", "--directory", str(tmp_path)]) == 64
    assert "unknown scheduler 'unknown'" in capsys.readouterr().err
    assert main(["matrix", "reference", "--repeat", "0", "--directory", str(tmp_path)]) == 64
    assert "--repeat 0" in capsys.readouterr().err
    assert runs.calls == []


def test_an_invalid_report_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / FILE).write_text("kind: [")
    assert main(["matrix", "reference", "--directory", str(tmp_path)]) == 2
    assert f"{tmp_path / 'reference' / FILE} is not a ConformanceReport" in capsys.readouterr().err


def test_musts_that_were_left_out_are_counted_beside_those_that_passed(tmp_path: Path) -> None:
    verdicts = {"PRE-01": "passed", "PRE-02": "not-supported", "PRE-03": "not-supported", "TNT-01": "not-staged"}
    verdicts |= {"TNT-02": "error", "GNG-01": "not-supported", "JPR-01": "not-staged", "QUE-01": "failed"}
    family = {"PRE": "preemption", "TNT": "taints", "GNG": "gangs", "JPR": "job-preemption", "QUE": "queues"}
    results = [Result(id_, "must", [family[id_[:3]]], "", Verdict(verdict)) for id_, verdict in verdicts.items()]
    results.append(Result("TNT-03", "must", ["taints"], "", Verdict.PASSED))
    report = conformance.report([(one, "") for one in results], Claim("odd", "x", {}, ""), {}, "2026-01-01T00:00:00Z")
    assert report.profiles[0].core.behaviours == {"not-supported": 2, "passed": 1}
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / FILE).write_text(to_yaml(report))
    matrix = columns.read(tmp_path, ["odd"], "")
    assert {profile: matrix.columns[0].must_summary(profile) for profile in matrix.profiles} == {
        "preemption": "passed 1/1, 2 not-supported",
        "taints": "incomplete 1/1, 1 error, 1 not-staged",
        "gang": "not-supported",
        "queue": "failed 0/1",
        "job-preemption": "incomplete, 1 not-staged",
    }
    assert "| preemption | passed 1/1, 2 not-supported |" in pages.to_markdown(matrix)
    assert '<td class="passed">passed 1/1, 2 not-supported</td>' in pages.to_html(matrix)
    assert '<td class="incomplete">incomplete, 1 not-staged</td>' in pages.to_html(matrix)


def test_untrusted_text_is_escaped(tmp_path: Path) -> None:
    results = [Result("PRE-01", "must", ["preemption"], HOSTILE, Verdict.FAILED, message=HOSTILE)]
    report = conformance.report(
        [(one, "first/") for one in results], Claim(HOSTILE, "x", {}, HOSTILE), {}, "2026-01-01T00:00:00Z"
    )
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / FILE).write_text(to_yaml(report))
    matrix = columns.read(tmp_path, ["odd"], HOSTILE)
    text = pages.to_html(matrix)
    assert text.count("<script>") == 1
    assert "alert(1)" in text
    links = set(re.findall(r'href="#([^"]+)"', text))
    assert links <= set(re.findall(r'id="([^"]+)"', text))
    row = next(line for line in pages.to_markdown(matrix).split("\n") if line.startswith("| PRE-01"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 4


def test_what_was_not_asked_is_printed_with_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(subprocess, "run", Runs(failing=["PRE-02"], bad=Verdict.NOT_SUPPORTED))
    assert main(["matrix", "volcano:preempt", "--directory", str(tmp_path)]) == 0
    markdown, html = (tmp_path / "matrix.md").read_text(), (tmp_path / "matrix.html").read_text()
    assert (
        '| `volcano:preempt` | PRE-02 | &lt;script&gt;alert(1)&lt;/script&gt; &#124; "quoted" &amp;amp; |' in markdown
    )
    assert "<code>volcano:preempt</code> PRE-02: &lt;script&gt;alert(1)" in html
