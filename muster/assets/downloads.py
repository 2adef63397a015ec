"""Official release files, kept only with the pinned SHA-256. Trouble is one sentence, never the end: we can build.

First contact gets one second, name resolution included (getaddrinfo knows no time-out, hence the thread), and a host
that did not answer is not asked again: on a machine without a network the fall back to building must not be felt.
"""

from __future__ import annotations

import http.client
import queue
import shutil
import socket
import tarfile
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

from muster.assets import cache
from muster.assets.catalogue import Download

_FIRST_CONTACT = 0.9  # seconds until a host has to have taken a connection
_STALL = 10.0  # seconds without a single byte, then the connection counts as cut
_CHUNK = 1 << 18

_silent_hosts: dict[str, str] = {}  # host -> why it is not asked again


class DownloadError(Exception):
    """Why there is no file, in words for the user."""


def fetch(download: Download, into: Path, on_progress: Callable[[int, int], None]) -> None:
    """Put the binary at `into`, or raise DownloadError. `on_progress` hears of bytes so far and bytes in all."""
    host = urllib.parse.urlsplit(download.url).netloc
    if host in _silent_hosts:
        raise DownloadError(f"{host} {_silent_hosts[host]}")
    if reason := _first_contact(download.url):
        _silent_hosts[host] = reason
        raise DownloadError(f"{host} {reason}")
    archive = into.with_name(f"{into.name}.download")
    try:
        _transfer(download.url, archive, on_progress)
        if (digest := cache.file_hash(archive)) != download.sha256:
            raise DownloadError(
                f"WRONG CHECKSUM, the file is thrown away: {download.url} has SHA-256 {digest}, "
                f"the release was published with {download.sha256}"
            )
        _unpack(archive, download.member, into)
    finally:
        archive.unlink(missing_ok=True)


def _transfer(url: str, into: Path, on_progress: Callable[[int, int], None]) -> None:
    try:
        with urllib.request.urlopen(url, timeout=_STALL) as answer:
            total = int(answer.headers.get("Content-Length") or 0)
            done = 0
            with cache.writing(), into.open("wb") as file:
                while chunk := _read(answer, url):
                    file.write(chunk)
                    done += len(chunk)
                    on_progress(done, total)
    except urllib.error.HTTPError as problem:
        problem.close()
        raise DownloadError(f"{url} is answered with {problem.code} {problem.reason}") from None
    except (OSError, http.client.HTTPException, ValueError) as problem:
        raise DownloadError(f"{url} cannot be fetched: {_words(problem)}") from None
    if done < total:
        raise DownloadError(f"{url} was cut off after {done} of {total} bytes")


def _read(answer: http.client.HTTPResponse, url: str) -> bytes:
    try:
        return answer.read(_CHUNK)
    except (OSError, http.client.HTTPException) as problem:  # apart from trouble with our own file
        raise DownloadError(f"{url} was cut off: {_words(problem)}") from None


def _unpack(archive: Path, member: str, into: Path) -> None:
    with cache.writing():
        if not member:
            archive.replace(into)
            return
        try:
            with tarfile.open(archive) as tar, into.open("wb") as file:
                content = tar.extractfile(member)
                if content is None:
                    raise KeyError(member)
                shutil.copyfileobj(content, file)
        except (KeyError, tarfile.TarError, EOFError) as problem:
            raise DownloadError(f"the release archive holds no {member}: {_words(problem)}") from None


def _first_contact(url: str) -> str:
    """Empty when the host, or the proxy in front of it, takes a connection; otherwise what it did instead."""
    parts = urllib.parse.urlsplit(url)
    host = parts.hostname or ""
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy and not urllib.request.proxy_bypass(host):
        parts = urllib.parse.urlsplit(proxy if "://" in proxy else f"//{proxy}")
    address = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    outcome: queue.SimpleQueue[str] = queue.SimpleQueue()
    silence = f"does not answer within {_FIRST_CONTACT:g} s"

    def knock() -> None:
        try:
            socket.create_connection(address, timeout=_FIRST_CONTACT).close()
            outcome.put("")
        except TimeoutError:  # may come just before ours, and says the same
            outcome.put(silence)
        except OSError as problem:
            outcome.put(f"cannot be reached ({_words(problem)})")

    threading.Thread(target=knock, daemon=True, name="first contact").start()
    try:
        return outcome.get(timeout=_FIRST_CONTACT)
    except queue.Empty:
        return silence


def _words(problem: Exception) -> str:
    reason = getattr(problem, "reason", problem)
    return str(getattr(reason, "strerror", None) or reason or type(reason).__name__)
