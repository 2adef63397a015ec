"""The report as a reader sees it: made by `muster report`, opened in a headless Chromium.

Skipped where there is no Chromium, no Playwright or no Allure in the cache: none of them is installed by a test.
MUSTER_SCREENSHOTS=DIR keeps what was seen, in light and in dark.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from muster.report import node
from tests.report_suite import GREEN, HOSTILE, STORY, make_report_suite
from tests.toy_suite import ToySuite, scenario

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SECONDS = 60_000  # milliseconds that a busy machine may take for a page

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install playwright")
pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on PATH: apt-get install chromium"),
    pytest.mark.skipif(not node.is_there(), reason="no Allure in the cache: make any report with `muster report`"),
]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> ToySuite:
    table = ["And pods:", "  | pod  | GPUs |", "  | left | 1    |"]
    tables = scenario("PRE-07", *table, "Then it holds", title="With a table")
    suite = make_report_suite(tmp_path_factory.mktemp("browser"), GREEN, STORY, tables, *HOSTILE)
    suite.muster("run")
    made = suite.muster("report")
    assert made.returncode == 0, made.stderr
    assert Path(made.stdout.strip()).is_file()
    return suite


@pytest.fixture(scope="module")
def address(suite: ToySuite) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(suite.latest / "report"))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(color_scheme=request.param, viewport={"width": 1280, "height": 1400})
    page = context.new_page()
    page.set_default_timeout(SECONDS)
    strangers: list[str] = []
    page.on(
        "request",
        lambda asked: strangers.append(asked.url) if not asked.url.startswith((address, "data:", "blob:")) else None,
    )
    page.on("dialog", lambda dialog: strangers.append(f"dialog {dialog.message}"))
    page.goto(address)
    yield page
    keep(page, f"{request.node.originalname}-{request.param}")
    context.close()
    assert strangers == []


def keep(page: Any, name: str) -> None:
    if directory := os.environ.get("MUSTER_SCREENSHOTS"):
        page.screenshot(path=str(Path(directory) / f"{name}.png"))


def open_scenario(page: Any, title: str) -> None:
    page.get_by_text(title, exact=True).first.click()
    page.get_by_text("Given a node").first.wait_for()


def test_steps_come_in_order(page: Any) -> None:
    open_scenario(page, "All is well")
    body = page.locator("body").inner_text()
    sentences = [
        "Given a node",
        "And two pods that run",
        "When a third one asks",
        "Then one of them",
        "And nobody else",
    ]
    places = [body.index(sentence) for sentence in sentences]
    assert places == sorted(places)


def test_the_timeline_opens(page: Any) -> None:
    open_scenario(page, "All is well")
    page.get_by_text("timeline", exact=True).first.click()
    picture = page.locator("img[src^='blob:'], img[src^='data:'], img[src*='attachments']").first
    picture.wait_for()
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1000


def test_the_story_is_beside_the_step_that_failed(page: Any) -> None:
    open_scenario(page, "A story is told")
    assert "seen     two victims" in page.locator("body").inner_text()
    page.get_by_text("And it fails with a story").first.wait_for()
    names = page.locator("body").inner_text()
    for name in ("story", "nodes", "objects", "events"):
        assert re.search(rf"^{name}$", names, re.MULTILINE)


def test_hostile_words_are_words(page: Any) -> None:
    open_scenario(page, "Hostile words")
    assert "<script>alert(1)</script>" in page.locator("body").inner_text()


def test_one_file_needs_no_server(browser: Any, suite: ToySuite) -> None:
    began = time.monotonic()
    made = suite.muster("report", "--single-file")
    assert made.returncode == 0, made.stderr
    assert time.monotonic() - began < 60
    page = browser.new_page()
    page.set_default_timeout(SECONDS)
    page.goto(Path(made.stdout.strip()).as_uri())
    open_scenario(page, "All is well")
    page.close()


def test_without_results_there_is_nothing_to_show(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "muster", "report", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (64, "")
    assert "holds no results of a run" in ran.stderr
