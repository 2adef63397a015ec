"""Foreign words made harmless: names, messages and logs come from schedulers, and may hold anything at all.

Colour codes, control characters and halves of characters are taken out, long texts are cut in the middle. Trap: a lone
surrogate (a byte that was not UTF-8) ends msgspec, json and every file write alike, so it must go before all of them.
"""

from __future__ import annotations

import re
from pathlib import Path

LONGEST_MESSAGE = 64 * 1024  # characters of one message: more is a log, and belongs into an attachment
LONGEST_ATTACHMENT = 256 * 1024

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|\x1b[@-_]")
_UNFIT = re.compile("[^\t\n\u0020-\u007e\u00a0-\u2027\u202f-\u2065\u2070-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def plain(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """Printable text of bounded length. Characters that turn the direction of writing go as well: they hide things."""
    if len(text) > 4 * longest:  # looking for codes in megabytes takes longer than the scenario did
        text = cut(text, 4 * longest)
    return cut(_UNFIT.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n"))), longest)


def one_line(text: str, longest: int) -> str:
    """The same on one line, ended by an ellipsis where it is too long."""
    words = " ".join(plain(text, 4 * longest).split())
    return words if len(words) <= longest else f"{words[: longest - 1]}…"


def cut(text: str, longest: int) -> str:
    """Beginning and end stay, and between them stands how much is missing."""
    if len(text) <= longest:
        return text
    head, tail = longest // 4, longest - longest // 4
    return f"{text[:head]}\n… {len(text) - longest} characters are left out here …\n{text[-tail:]}"


def read_from(file: Path, offset: int = 0, longest: int = LONGEST_ATTACHMENT) -> str:
    """A log from an offset on, its newest part if it is long; an empty text where there is no file."""
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
