"""Tests of ctrl-C must not depend on how they were started: a shell's background job begins with SIGINT ignored."""

from __future__ import annotations

import signal

import pytest


def pytest_configure() -> None:
    """Children inherit an ignored signal, but not a handler; with one here, theirs is the default again."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first: two workers then end at about the same time."""
    items.sort(key=lambda item: item.path.name != "test_suite.py")
