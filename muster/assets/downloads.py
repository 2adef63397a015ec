"""Downloads of official release files, with a pinned SHA-256. A failed download is not fatal: the binary can be built.

The first connection has one second, name resolution included (getaddrinfo has no time-out, hence the thread), and a
host that did not answer is not tried again: on a machine without a network building must start at once.
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

from muster import timeouts
from muster.assets import cache
from muster.assets.components import Download

_CHUNK = 1 << 18

_unreachable_hosts: dict[str, str] = {}  # host -> why it is not tried again


class DownloadError(Exception):
    """Why there is no file, for the user."""


def fetch(download: Download, into: Path, on_progress: Callable[[int, int], None]) -> None:
    """Download the binary to `into`, or raise DownloadError. `on_progress` gets the bytes so far and in total."""
    host = urllib.parse.urlsplit(download.url).netloc
    if host in _unreachable_hosts:
        raise DownloadError(f"{host} {_unreachable_hosts[host]}")
    if reason := _connection_error(download.url):
        _unreachable_hosts[host] = reason
        raise DownloadError(f"{host} {reason}")
    archive = into.with_name(f"{into.name}.download")
    try:
        _transfer(download.url, archive, on_progress)
        if (digest := cache.file_hash(archive)) != download.sha256:
            raise DownloadError(
                f"WRONG CHECKSUM, the file is discarded: {download.url} has SHA-256 {digest}, "
                f"the release was published with {download.sha256}"
            )
        _unpack(archive, download.member, into)
    finally:
        archive.unlink(missing_ok=True)


def _transfer(url: str, into: Path, on_progress: Callable[[int, int], None]) -> None:
    try:
        with urllib.request.urlopen(url, timeout=timeouts.DOWNLOAD_STALL) as answer:
            total = int(answer.headers.get("Content-Length") or 0)
            done = 0
            with cache.writing(), into.open("wb") as file:
                while chunk := _read(answer, url):
                    file.write(chunk)
                    done += len(chunk)
                    on_progress(done, total)
    except urllib.error.HTTPError as problem:
        problem.close()
        raise DownloadError(f"{url} was answered with {problem.code} {problem.reason}") from None
    except (OSError, http.client.HTTPException, ValueError) as problem:
        raise DownloadError(f"{url} cannot be fetched: {_reason_of(problem)}") from None
    if done < total:
        raise DownloadError(f"{url} was cut off after {done} of {total} bytes")


def _read(answer: http.client.HTTPResponse, url: str) -> bytes:
    try:
        return answer.read(_CHUNK)
    except (OSError, http.client.HTTPException) as problem:  # an error of the network, not of the file
        raise DownloadError(f"{url} was cut off: {_reason_of(problem)}") from None


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
            raise DownloadError(f"the release archive holds no {member}: {_reason_of(problem)}") from None


def _connection_error(url: str) -> str:
    """Empty when the host, or the proxy in front of it, accepts a connection; otherwise why not."""
    parts = urllib.parse.urlsplit(url)
    host = parts.hostname or ""
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy and not urllib.request.proxy_bypass(host):
        parts = urllib.parse.urlsplit(proxy if "://" in proxy else f"//{proxy}")
    address = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    outcome: queue.SimpleQueue[str] = queue.SimpleQueue()
    no_answer = f"does not answer within {timeouts.DOWNLOAD_CONNECT:g} s"

    def connect() -> None:
        try:
            socket.create_connection(address, timeout=timeouts.DOWNLOAD_CONNECT).close()
            outcome.put("")
        except TimeoutError:  # may come just before the time-out below, with the same meaning
            outcome.put(no_answer)
        except OSError as problem:
            outcome.put(f"cannot be reached ({_reason_of(problem)})")

    threading.Thread(target=connect, daemon=True, name="first contact").start()
    try:
        return outcome.get(timeout=timeouts.DOWNLOAD_CONNECT)
    except queue.Empty:
        return no_answer


def _reason_of(problem: Exception) -> str:
    reason = getattr(problem, "reason", problem)
    return str(getattr(reason, "strerror", None) or reason or type(reason).__name__)
