"""A Docker engine for one command, on a machine that has none: `python ci/kind-engine/run.py COMMAND …`.

Everything happens in namespaces of its own. The network is not connected to any other, so no packet of a container can
leave the machine; bridges, firewall rules, mounts and processes are gone with the namespaces, however the command
ended. The command itself has no other network either. If an engine answers already, the command is run with that.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import machine
import packages

from muster.assets import cache
from muster.errors import EXIT_USAGE, HarnessError, MusterError
from muster.processes import Process, Reaper

_INSIDE = "--inside"
_NAMESPACES = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
_SOCKET = "unix:///run/docker.sock"
_START_SECONDS = 60.0
_STOP_SECONDS = 20.0
_SYS_RESOURCE = 1 << 24


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        sys.stderr.write(f"{__doc__}\n")
        return EXIT_USAGE
    if arguments[0] == _INSIDE:
        return inside(Path(arguments[1]), arguments[2:])
    if _answers():
        return subprocess.run(arguments, check=False).returncode
    return outside(arguments)


def outside(command: Sequence[str]) -> int:
    """Create the namespaces, wait, and restore the machine's settings."""
    if os.geteuid() != 0:
        raise HarnessError("No Docker engine answers, and starting one needs root: start Docker, or run this as root.")
    environment = packages.engine_environment(_print_line)
    before, absent = machine.settings(), machine.absent_mount_points()
    base = cache.directory() / "tmp"
    base.mkdir(parents=True, exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix="engine-", dir=base))
    Reaper.current().remember_directory(directory)
    again = [sys.executable, __file__, _INSIDE, str(directory), *command]
    try:
        return _supervised([*_NAMESPACES, *_reaper(environment), *again], Reaper.current().tagged(environment))
    finally:
        for setting in machine.restore(before):
            _print_line(f"put back: {setting}")
        machine.remove_cgroups(directory.name)
        machine.remove_mount_points(absent)
        Reaper.current().remove_directory(directory)


def _supervised(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """ctrl-C reaches the command itself; SIGTERM ends the namespaces with all their processes."""
    child = subprocess.Popen(argv, env=environment)
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: child.kill())
    return child.wait()


def _reaper(environment: Mapping[str, str]) -> list[str]:
    """The first process of the namespace must reap the orphans of the others."""
    tini = shutil.which("tini-static", path=environment["PATH"]) or shutil.which("tini", path=environment["PATH"])
    return [tini, "--"] if tini else []


def inside(directory: Path, command: Sequence[str]) -> int:
    """Start the engine, run the command with it, stop the engine."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # Sockets and state of dockerd, containerd and runc: at their usual places, and not on a disk.
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
    engine = _start(directory)
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        here = {**os.environ, "DOCKER_HOST": _SOCKET}
        for name in ("LD_LIBRARY_PATH", "XTABLES_LIBDIR"):
            here.pop(name, None)
        return subprocess.run(command, env=here, check=False).returncode
    finally:
        engine.stop(_STOP_SECONDS)


def _start(directory: Path) -> Process:
    """Start dockerd and wait until it notifies that it is ready, as to systemd."""
    argv = [
        "dockerd",
        f"--host={_SOCKET}",
        f"--data-root={directory}/data",
        "--exec-root=/run/docker",
        "--pidfile=/run/docker.pid",
        f"--cgroup-parent=/{directory.name}",
        "--exec-opt=native.cgroupdriver=cgroupfs",
        "--default-cgroupns-mode=private",
        "--dns=127.0.0.1",  # there is no name server
        "--log-level=warn",
    ]
    if not _may_have_sys_resource():
        argv += [f"--add-runtime=less={Path(__file__).with_name('runc-less')}", "--default-runtime=less"]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
        ready.bind("/run/ready")
        environment = {**os.environ, "NOTIFY_SOCKET": "/run/ready"}
        engine = Process("dockerd", argv, directory=directory, log=directory / "dockerd.log", env=environment)
        engine.start()
        ended = os.pidfd_open(engine.pid or 0)
        said, _, _ = select.select([ready.fileno(), ended], [], [], _START_SECONDS)
        is_ready = ready.fileno() in said
        os.close(ended)
    if not is_ready:
        engine.kill()
        raise HarnessError(f"dockerd {engine.how_it_ended()} before it was ready:\n{engine.log_tail(8)}")
    return engine


def _may_have_sys_resource() -> bool:
    lines = Path("/proc/self/status").read_text().splitlines()
    bounding = next(line for line in lines if line.startswith("CapBnd:"))
    return bool(int(bounding.split()[1], 16) & _SYS_RESOURCE)


def _answers() -> bool:
    if not shutil.which("docker"):
        return False
    asked = ["docker", "version", "--format", "{{.Server.Version}}"]
    return subprocess.run(asked, capture_output=True, check=False, timeout=_START_SECONDS).returncode == 0


def _print_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except MusterError as error:
        _print_line(str(error))
        sys.exit(error.exit_code)
