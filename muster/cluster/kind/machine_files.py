"""The CPUs and the memory that a kubelet reports: files that are mounted over those that it reads.

A kubelet counts the entries cpu* of /sys/devices/system/node and reads MemTotal of /proc/meminfo. The trap: it writes
the numbers of the CPUs into a cpuset, so that each must be the number of a CPU that exists. Entries cpu0 cpu1 cpu00
cpu01 are four CPUs, and their numbers are 0 and 1.
"""

from __future__ import annotations

import os
from pathlib import Path

from muster.assets import cache

CPUS, GIBIBYTES = 4, 16  # what the walk-through of job-level preemption shows of its nodes
_MEMORY = ("MemTotal", "MemFree", "MemAvailable")
_UNUSED = ("Buffers", "Cached", "SwapTotal", "SwapFree")


def machine_mounts(real_cpus: int | None = None) -> list[dict[str, object]]:
    """The mounts of a kind node that reports CPUS and GIBIBYTES; their files are kept in the cache."""
    real = real_cpus or os.cpu_count() or 1
    root = cache.directory() / "kind" / f"machine-{CPUS}-cpus-{GIBIBYTES}-gib-on-{real}"
    with cache.writing():
        for place, text in machine_files(CPUS, GIBIBYTES, real).items():
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            (root / place).write_text(text)
        (root / "node/node0/hugepages").mkdir(exist_ok=True)
    return [_mount(root / "meminfo", "/proc/meminfo"), _mount(root / "node", "/sys/devices/system/node")]


def machine_files(cpus: int, gibibytes: int, real_cpus: int) -> dict[str, str]:
    """The files by their place: `meminfo`, and a tree `node` with one NUMA node."""
    kilobytes = gibibytes << 20
    memory = dict.fromkeys(_MEMORY, kilobytes) | dict.fromkeys(_UNUSED, 0)
    files = {
        "meminfo": "".join(f"{name + ':':15} {amount} kB\n" for name, amount in memory.items()),
        "node/online": "0\n",
        "node/possible": "0\n",
        "node/node0/cpulist": f"0-{real_cpus - 1}\n",
        "node/node0/distance": "10\n",
        "node/node0/meminfo": f"Node 0 MemTotal: {kilobytes} kB\n",
    }
    for number in range(cpus):
        topology = f"node/node0/cpu{'0' * (number // real_cpus)}{number % real_cpus}/topology"
        files |= {f"{topology}/core_id": f"{number}\n", f"{topology}/physical_package_id": "0\n"}
    return files


def _mount(source: Path, target: str) -> dict[str, object]:
    return {"hostPath": str(source), "containerPath": target, "readOnly": True}
