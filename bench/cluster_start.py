"""Start and stop the local cluster N times and look for anything that stayed: process, port, file, descriptor, lock.

python bench/cluster_start.py [N]     (default 100; about 4 s each)
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import time
from pathlib import Path

from bench.statistics import resident_set_mib, spread
from muster.cluster.local import LocalCluster
from muster.processes import Reaper


def main(cycles: int) -> int:
    directory = Path(tempfile.mkdtemp(prefix="plane-cycles-"))
    tempfile.tempdir = str(directory)
    starts, stops, sizes, left = [], [], [], []
    descriptors = -1
    for number in range(1, cycles + 1):
        cluster, began = LocalCluster(), time.monotonic()
        cluster.start()
        up = time.monotonic()
        sizes.append(sum(resident_set_mib(process.pid) for process in cluster.processes.values()))
        ports = [port.number for port in cluster._ports]
        before = time.monotonic()
        cluster.stop()
        starts.append(up - began)
        stops.append(time.monotonic() - before)
        left += leftovers(ports, directory)
        now = len(os.listdir("/proc/self/fd"))
        if descriptors not in (-1, now):
            left.append(f"{now - descriptors:+} descriptors")
        descriptors = now
        if number % 10 == 0:
            print(
                f"{number:>4}  start {starts[-1]:.2f} s  stop {stops[-1] * 1000:.0f} ms  left {left or 'nothing'}",
                flush=True,
            )
    directory.rmdir()
    print(f"start  {spread(starts)} s\nstop   {spread(stops)} s\nMiB    {spread(sizes)}\nleft   {left or 'nothing'}")
    return 1 if left else 0


def leftovers(ports: list[int], directory: Path) -> list[str]:
    found = [f"file {path}" for path in directory.iterdir()]
    marker = f"MUSTER_REAPER_TAG={Reaper.current().tag}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if marker in (process / "environ").read_bytes():
                found.append(f"process {process.name}")
        except OSError:
            continue
    for port in ports:
        with socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # closed connections linger in TIME_WAIT
            try:
                server.bind(("127.0.0.1", port))
                server.listen()
            except OSError as problem:
                found.append(f"port {port}: {problem}")
    locks = [line for line in Path("/proc/locks").read_text().splitlines() if line.split()[4] == str(os.getpid())]
    return found + [f"lock {line}" for line in locks]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
