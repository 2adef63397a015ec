"""`go build` of one component, with progress, and without leftovers when it is interrupted.

`go list` says beforehand how many packages are not in Go's cache, and `go build -v` names each compiled one: that is
the progress. Packages differ a lot in cost, so the remaining time is estimated from the known total first, and from the
elapsed time later.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from muster.assets import cache, golang
from muster.assets.components import Component
from muster.errors import HarnessError
from muster.processes import Reaper

HEARTBEAT = 5.0  # seconds between two lines of progress
_TAIL_LINES = 40  # of error output; the last one is shown
_LINKING = 0.04  # the share of a cold build that even a warm one has to do again


def build(
    component: Component, binaries: Sequence[str], go: golang.Go, work: Path, print_line: Callable[[str], None]
) -> None:
    """Build the binaries into `work`; those with the name of their package are built by one `go build`."""
    progress = _Progress(f"{', '.join(binaries)} {component.version}", component.cpu_seconds, print_line)
    tags = f"-tags={','.join(component.build['tags'])}"
    ldflags = f"-ldflags={' '.join(component.build['ldflags'])}"
    with cache.writing():
        (work / "tmp").mkdir(exist_ok=True)
    packages = [component.packages[binary] for binary in binaries]
    listing = ["list", "-deps", "-f", "{{if .Stale}}stale{{else}}fresh{{end}}", tags, *packages]
    _run(go, listing, component, work / "tmp", progress.note_package, progress)
    progress.begin(go, len(binaries))
    for target, together in _targets(component, binaries, work):
        arguments = ["build", "-v", tags, ldflags, "-o", target, *together]
        _run(go, arguments, component, work / "tmp", progress.compiled, progress)


def _targets(component: Component, binaries: Sequence[str], work: Path) -> list[tuple[str, list[str]]]:
    """With a directory as target, go names a binary after its package. That suits kubernetes; etcd's is "server"."""
    same_name = [name for name in binaries if component.packages[name].endswith(f"/{name}")]
    if len(same_name) < 2:
        same_name = []
    targets = [(f"{work}{os.sep}", [component.packages[name] for name in same_name])] if same_name else []
    return targets + [(str(work / name), [component.packages[name]]) for name in binaries if name not in same_name]


def copy_files(
    component: Component, files: Sequence[str], go: golang.Go, work: Path, print_line: Callable[[str], None]
) -> None:
    """Copy files of the component's module into `work`, several of them joined as YAML documents."""
    progress = _Progress(f"{', '.join(files)} {component.version}", 0, print_line)
    with cache.writing():
        (work / "tmp").mkdir(exist_ok=True)
    lines: list[str] = []
    _run(go, ["mod", "download", component.module], component, work / "tmp", lambda _: None, progress)
    _run(go, ["list", "-m", "-f", "{{.Dir}}", component.module], component, work / "tmp", lines.append, progress)
    for name in files:
        found = sorted(Path(lines[-1]).glob(component.files[name]))
        if not found:
            raise HarnessError(
                f"{component.module} {component.version} has no {component.files[name]}:"
                f" correct {component.directory}/component.toml."
            )
        with cache.writing():
            (work / name).write_text("\n---\n".join(file.read_text() for file in found))


class _Progress:
    """Counts packages and reports the progress."""

    def __init__(self, title: str, cpu_seconds: int, print_line: Callable[[str], None]) -> None:
        self.title = title
        self._print_line = print_line
        self._cores = len(os.sched_getaffinity(0))
        self._cold_seconds = cpu_seconds / self._cores
        self._packages = self._to_compile = self._compiled = self._modules = 0
        self._listed = False
        self._start = time.monotonic()

    def note_package(self, line: str) -> None:
        self._modules += line.startswith("go: downloading")
        self._to_compile += line == "stale"
        self._packages += line in ("stale", "fresh")

    def compiled(self, _package: str) -> None:
        self._compiled += 1

    def begin(self, go: golang.Go, programs: int) -> None:
        self._listed, self._start = True, time.monotonic()
        self._to_compile = max(0, self._to_compile - programs)  # a main package is called stale until it is installed
        self._print_line(
            f"{self.title}: building with Go {go.version}, {self._to_compile} of {self._packages} packages to compile "
            f"(about {_duration(self._expected())}, {self._cores} cores)"
        )

    def heartbeat(self) -> None:
        elapsed = time.monotonic() - self._start
        share = min(self._compiled / self._to_compile, 1.0) if self._to_compile else 1.0
        if not self._listed:
            doing = (
                f"fetching Go modules, {self._modules} so far" if self._modules else "listing what has to be compiled"
            )
        elif share == 1.0:
            doing = "linking"
        else:
            left = (1 - share) * ((1 - share) * self._expected() + elapsed)
            doing = f"building, {100 * share:.0f} %, about {_duration(left)} left"
        self._print_line(f"{self.title}: {doing} … {elapsed // 60:.0f}:{elapsed % 60:02.0f}")

    def _expected(self) -> float:
        return self._cold_seconds * (_LINKING + (1 - _LINKING) * self._to_compile / max(self._packages, 1))


def _run(
    go: golang.Go,
    arguments: Sequence[str],
    component: Component,
    scratch: Path,
    on_line: Callable[[str], None],
    progress: _Progress,
) -> None:
    """Run go in the component's directory and pass on each line of output. No process of it outlives this call."""
    tail: deque[str] = deque(maxlen=_TAIL_LINES)

    def handle_line(line: str) -> None:
        if ": " in line and not line.startswith("go: downloading"):  # the rest is progress, thousands of lines of it
            tail.append(line)
        on_line(line)

    child = subprocess.Popen(
        [go.path, *arguments],
        cwd=component.directory,
        env=Reaper.current().tagged(golang.environment(scratch)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        _read_output(child, handle_line, progress.heartbeat)
    finally:
        os.killpg(child.pid, signal.SIGKILL)  # running compilers; go itself is not reaped before wait()
        code = child.wait()
    if code:
        raise _failure(progress.title, f"`go {arguments[0]}`", code, list(tail))


def _read_output(child: subprocess.Popen[bytes], on_line: Callable[[str], None], heartbeat: Callable[[], None]) -> None:
    """Read until the child has ended, not until its output has: a stray grandchild could hold that open."""
    assert child.stdout is not None
    ended, rest, due = os.pidfd_open(child.pid), b"", time.monotonic() + HEARTBEAT
    os.set_blocking(child.stdout.fileno(), False)
    try:
        with child.stdout as output, selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            selector.register(ended, selectors.EVENT_READ)
            while True:
                ready = [key.fileobj for key, _ in selector.select(max(0.0, due - time.monotonic()))]
                while chunk := output.read(1 << 16):
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        on_line(line.decode(errors="replace"))
                if ended in ready:
                    return
                if time.monotonic() >= due:
                    heartbeat()
                    due = time.monotonic() + HEARTBEAT
    finally:
        os.close(ended)


def _failure(title: str, command: str, code: int, tail: list[str]) -> HarnessError:
    if any("no space left on device" in line for line in tail):
        return cache.unwritable(f"while building {title}", full=True)
    if code < 0:
        cause = f"{command} was ended by {signal.Signals(-code).name}"
    else:
        cause = f"{command} ended with {code}: {(tail or ['no output'])[-1].strip()}"
    return HarnessError(
        f"{title} could not be built, {cause} — check the network (modules come from GOPROXY) and try again, "
        f"or name ready-made binaries with MUSTER_ASSET_<NAME>=/path/to/binary."
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
