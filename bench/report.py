"""Cost of reports: the HTML report of many scenarios, and what writing results adds to a run.

python -m bench.report html [N]           the report of N scenarios (default 120), a tenth of them failing
python -m bench.report writing [N]        the same selection N times (default 5) with and without results, in turn

On a busy machine wall times depend on other processes: CPU seconds are given as well. Those of a run are of the
pytest process; the control plane's are not included.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from bench.statistics import spread
from tests.support.report_suite import FAILING, GREEN, make_report_suite

SCENARIOS, REPEATS = 120, 5
SELECTION = "DOC-1,GNG-01,GNG-03,JPR-01,JPR-03,PRE-01,PRE-05,PRE-13,QUE-02,TNT-01"
CHECKOUT = Path(__file__).resolve().parent.parent
CLOCK = "BENCH_CLOCK"  # the file that a run writes its CPU seconds to


def html(number: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        kinds = [FAILING if one % 10 == 0 else GREEN for one in range(number)]
        suite = make_report_suite(Path(directory), *(_numbered(kind, one + 100) for one, kind in enumerate(kinds)))
        run = suite.muster("run")
        assert len(suite.results()) == number, run.stderr
        for options in ([], ["--single-file"]):
            walls, cpus = [], []
            for _ in range(REPEATS):
                began, used = time.perf_counter(), _children()
                made = suite.muster("report", *options)
                walls.append(time.perf_counter() - began)
                cpus.append(_children() - used)
                assert made.returncode == 0, made.stderr
            size = sum(file.stat().st_size for file in (suite.latest / "report").rglob("*") if file.is_file())
            kind = "one file" if options else "directory"
            print(
                f"report of {number} scenarios, {kind}, {size / 2**20:.1f} MiB: {spread(walls)} s, CPU {spread(cpus)} s"
            )


def _numbered(text: str, number: int) -> str:
    """The same scenario with its own id and title."""
    lines = text.splitlines()
    lines[0] = lines[0].replace("PRE-01", f"PRE-{number}").replace("PRE-02", f"PRE-{number}")
    lines[1] += f" ({number})"
    return "\n".join(lines)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def writing(repeats: int) -> None:
    """In turn, so that a change of the machine's load affects both."""
    without, written = [], []
    for _ in range(repeats):
        without.append(_run(results=None))
        with tempfile.TemporaryDirectory() as directory:
            written.append(_run(results=Path(directory)))
            files = [file for file in Path(directory).rglob("*") if file.is_file()]
            size = sum(file.stat().st_size for file in files) / 2**20
        (wall, cpu), (more_wall, more_cpu) = without[-1], written[-1]
        print(f"  without {wall:.1f} s (CPU {cpu:.2f}), with {more_wall:.1f} s (CPU {more_cpu:.2f})", flush=True)
    number = SELECTION.count(",") + 1
    print(f"{number} scenarios; {len(files)} files, {size:.1f} MiB")
    walls = [100 * (one[0] / other[0] - 1) for one, other in zip(written, without, strict=True)]
    cpus = [1000 * (one[1] - other[1]) / number for one, other in zip(written, without, strict=True)]
    print(f"wall time added: {spread(walls)} %, pair by pair")
    print(f"CPU time added: {spread(cpus)} milliseconds for each scenario")


def _run(results: Path | None) -> tuple[float, float]:
    """Wall seconds, and CPU seconds of pytest itself."""
    command = [sys.executable, "-m", "pytest", "features", "-q", f"--muster-only={SELECTION}"]
    command += ["-p", "no:cacheprovider", "-p", "bench.report"]
    command += [f"--muster-results={results}"] if results else []
    with tempfile.NamedTemporaryFile() as clock:
        began = time.perf_counter()
        environment = {**os.environ, CLOCK: clock.name}
        ran = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
        taken = time.perf_counter() - began
        if ran.returncode:
            raise SystemExit(ran.stdout[-3000:])
        return taken, float(Path(clock.name).read_text())


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Loaded into the run that is measured."""
    if CLOCK in os.environ:
        Path(os.environ[CLOCK]).write_text(str(time.process_time()))


if __name__ == "__main__":
    chosen, *numbers = sys.argv[1:] or ["html"]
    if chosen == "writing":
        writing(int(numbers[0]) if numbers else REPEATS)
    else:
        html(int(numbers[0]) if numbers else SCENARIOS)
