"""A report in the reader's browser. A page of many files needs a server: browsers let no page read the disk."""

from __future__ import annotations

import contextlib
import webbrowser
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, *_: object) -> None:
        return


def show(page: Path, *, alone: bool, say: Callable[[str], None]) -> None:
    """Open the page; one that is not a single file is served on loopback until ctrl-C."""
    if alone:
        _open(page.as_uri(), say)
        return
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(page.parent))) as server:
        _open(f"http://127.0.0.1:{server.server_port}/", say)
        say("ctrl-C ends it")
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


def _open(address: str, say: Callable[[str], None]) -> None:
    say(f"showing {address}" if webbrowser.open(address) else f"no browser was found: open {address}")
