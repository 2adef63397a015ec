"""Sanitize untrusted text: names, messages and logs come from schedulers and may contain anything.

Colour codes, control characters and lone surrogates are removed, long texts are cut in the middle. Trap: a lone
surrogate (a byte that was not UTF-8) makes msgspec, json and every file write fail, so it is removed before them.
"""

from __future__ import annotations

import re
from pathlib import Path

LONGEST_MESSAGE = 64 * 1024  # characters of one message: more is a log, and belongs into an attachment
LONGEST_ATTACHMENT = 256 * 1024

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|\x1b[@-_]")
_UNFIT = re.compile("[^\t\n\u0020-\u007e\u00a0-\u2027\u202f-\u2065\u2070-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def plain(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """Printable text of bounded length, without characters that change the writing direction: those can hide text."""
    if len(text) > 4 * longest:  # searching megabytes for codes would take too long
        text = cut(text, 4 * longest)
    return cut(_UNFIT.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n"))), longest)


def one_line(text: str, longest: int) -> str:
    """The same on one line, ended by an ellipsis where it is too long."""
    line = " ".join(plain(text, 4 * longest).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def cut(text: str, longest: int) -> str:
    """Keep beginning and end, with the number of omitted characters between them."""
    if len(text) <= longest:
        return text
    head, tail = longest // 4, longest - longest // 4
    return f"{text[:head]}\n… {len(text) - longest} characters are left out here …\n{text[-tail:]}"


def read_from(file: Path, offset: int = 0, longest: int = LONGEST_ATTACHMENT) -> str:
    """A log from an offset on, its newest part if it is long; empty where there is no file."""
    try:
        with file.open("rb") as log:
            size = log.seek(0, 2)
            start = max(min(offset, size), size - longest)
            log.seek(start)
            content = log.read()
    except OSError:
        return ""
    note = f"… {start - offset} bytes are left out here …\n" if start > offset else ""
    return note + plain(content.decode("utf-8", "replace"), longest)
