"""`python -m tests.chaos.unreliable_connection SEED LEDGER --kubeconfig FILE …`: a scheduler behind a faulty proxy.

The proxy is a thread of the scheduler's process: pausing or killing one does it to both.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from scheduler.__main__ import main
from scheduler.client import Access
from tests.chaos.api_faults import Faults
from tests.chaos.proxy import Proxy

_START_TIMEOUT = 20.0  # seconds


def start_proxy(proxy: Proxy) -> str:
    """Start the proxy in a daemon thread; returns its address."""
    found: list[str] = []
    started = threading.Event()

    def report(address: str) -> None:
        found.append(address)
        started.set()

    threading.Thread(target=lambda: asyncio.run(_serve(proxy, report)), daemon=True).start()
    if not started.wait(_START_TIMEOUT):
        raise RuntimeError("the proxy did not start")
    return found[0]


async def _serve(proxy: Proxy, report: Callable[[str], None]) -> None:
    async with proxy.serving() as address:
        report(address)
        await asyncio.Event().wait()


def write_kubeconfig(path: Path, server: str) -> Path:
    """A kubeconfig without credentials and CA: the proxy has the certificate."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "proxy", "cluster": {"server": server}}],
        "contexts": [{"name": "proxy", "context": {"cluster": "proxy"}}],
        "current-context": "proxy",
    }
    path.write_text(json.dumps(document))
    return path


def run(arguments: list[str]) -> int:
    seed, ledger, *flags = arguments
    position = flags.index("--kubeconfig") + 1
    address = start_proxy(Proxy(Access.from_kubeconfig(Path(flags[position])), Faults(int(seed), Path(ledger))))
    flags[position] = str(write_kubeconfig(Path("proxy.kubeconfig").absolute(), address))
    return main(flags)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
