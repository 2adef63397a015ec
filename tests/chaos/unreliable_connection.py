"""`python -m tests.chaos.shaky SEED LEDGER --kubeconfig FILE …`: the reference scheduler on a bad connection.

The proxy lives in a thread of the scheduler's own process, so that pausing or killing the one does it to both.
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
from tests.chaos.faults import Faults
from tests.chaos.proxy import Proxy

_STARTING = 20.0  # seconds


def start(proxy: Proxy) -> str:
    """The proxy's address; it ends with the process."""
    found: list[str] = []
    there = threading.Event()

    def note(address: str) -> None:
        found.append(address)
        there.set()

    threading.Thread(target=lambda: asyncio.run(_serve(proxy, note)), daemon=True).start()
    if not there.wait(_STARTING):
        raise RuntimeError("the proxy did not start")
    return found[0]


async def _serve(proxy: Proxy, note: Callable[[str], None]) -> None:
    async with proxy.serving() as address:
        note(address)
        await asyncio.Event().wait()


def write_kubeconfig(path: Path, server: str) -> Path:
    """Nobody to be and nothing to trust: the proxy has the certificate."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "shaky", "cluster": {"server": server}}],
        "contexts": [{"name": "shaky", "context": {"cluster": "shaky"}}],
        "current-context": "shaky",
    }
    path.write_text(json.dumps(document))
    return path


def run(words: list[str]) -> int:
    seed, ledger, *flags = words
    place = flags.index("--kubeconfig") + 1
    address = start(Proxy(Access.from_kubeconfig(Path(flags[place])), Faults(int(seed), Path(ledger))))
    flags[place] = str(write_kubeconfig(Path("shaky.kubeconfig").absolute(), address))
    return main(flags)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
