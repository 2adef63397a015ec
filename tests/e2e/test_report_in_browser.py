"""The HTML report of a real run, opened in a headless Chromium.

Skipped where there is no Chromium, or where Allure cannot be installed. MUSTER_SCREENSHOTS=DIR keeps screenshots, light
and dark. Each test has its own run: tests that share one would make it once per worker.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muster.errors import HarnessError
from muster.report import nodejs
from muster.suite.behaviours import Behaviour, read_features
from muster.suite.paths import suite_root
from tests.support.report_suite import HOSTILE, make_report_suite
from tests.support.toy_suite import SCHEDULER

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 180_000  # milliseconds that a busy machine may take for a page
ATTEMPTS = 60  # to unfold something
WALK_THROUGH, BROKEN, FAULT = "DOC-1", "JPR-05", "preempts-equal-priority"
CHECKOUT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium on PATH: apt-get install chromium")


@pytest.fixture(autouse=True)
def allure() -> None:
    try:
        nodejs.allure(lambda _: None)
    except HarnessError as problem:
        pytest.skip(str(problem))


@pytest.mark.plane
def test_the_report_shows_steps_timeline_and_failure_report(tmp_path: Path) -> None:
    results = tmp_path / "results"
    broken = {**os.environ, "MUSTER_REFERENCE": f"tests.mutation.faults {FAULT}"}
    run = muster("run", "--only", WALK_THROUGH, BROKEN, "--results", str(results), cwd=CHECKOUT, environment=broken)
    assert run.returncode == 1, run.stdout + run.stderr
    made = muster("report", str(results), cwd=CHECKOUT, environment=os.environ)
    assert made.returncode == 0, made.stderr
    behaviours = read_features(suite_root() / "features").by_id()
    with served(results / "report") as address, pages(address) as schemes:
        for scheme, page in schemes:
            page.goto(address)
            see(page, f"report-{scheme}")
            the_walk_through(page, behaviours[WALK_THROUGH], scheme)
            page.goto(address)
            the_failure(page, behaviours[BROKEN], scheme)


def the_walk_through(page: "Page", behaviour: Behaviour, scheme: str) -> None:
    open_scenario(page, behaviour)
    shown, place = page.locator("body").inner_text(), 0
    for step in behaviour.steps:
        place = shown.index(f"{step.keyword} {step.text}", place) + 1
    typed = page.get_by_text("When the user runs: muster top node").first
    typed.click()
    page.get_by_text("answer", exact=True).first.click()
    page.get_by_text(re.compile(r"GPU\(Allocated\)")).first.wait_for()
    typed.click()
    page.get_by_text("timeline", exact=True).first.click()
    picture = page.locator("img[src^='blob:'], img[src^='data:'], img[src*='attachments']").first
    picture.wait_for()
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1000
    see(page, f"walk-through-{scheme}")


def the_failure(page: "Page", behaviour: Behaviour, scheme: str) -> None:
    open_scenario(page, behaviour)
    shown = page.locator("body").inner_text()
    assert "wanted   " in shown
    assert "seen     " in shown
    for name in ("failure report", "nodes", "objects", "events"):
        assert re.search(rf"^{name}$", shown, re.MULTILINE), shown
    page.get_by_text("failure report", exact=True).first.click()
    see(page, f"failure-{scheme}")


def test_hostile_text_is_escaped_and_a_single_file_needs_no_server(tmp_path: Path) -> None:
    suite = make_report_suite(tmp_path, *HOSTILE)
    toys = {**suite.environment(), **{name: os.environ[name] for name in ("MUSTER_CACHE",) if name in os.environ}}
    run = muster("run", "--scheduler", SCHEDULER, cwd=suite.work, environment=toys)
    assert set(suite.verdicts()) == {"PRE-03", "PRE-04", "PRE-05"}, run.stderr
    made = muster("report", "--single-file", cwd=suite.work, environment=toys)
    assert made.returncode == 0, made.stderr
    address = Path(made.stdout.strip()).as_uri()
    with pages(address) as schemes:
        for scheme, page in schemes:
            page.goto(address)
            unfold(page, "PRE-03 Hostile text", "preemption", "Victim selection")
            page.get_by_text("Given a node").first.wait_for()
            assert "<script>alert(1)</script>" in page.locator("body").inner_text()
            see(page, f"hostile-{scheme}")


def muster(*arguments: str, cwd: Path, environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Without a time limit: a busy machine may be slow."""
    command = [sys.executable, "-m", "muster", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def open_scenario(page: "Page", behaviour: Behaviour) -> None:
    """By its id and title, and wait for its first step."""
    first = behaviour.steps[0]
    unfold(page, f"{behaviour.id} {behaviour.title}", behaviour.capabilities[0], behaviour.feature_title)
    page.get_by_text(f"{first.keyword} {first.text}").first.wait_for()


def unfold(page: "Page", title: str, *folds: str) -> None:
    """Open what is folded on the way: Allure unfolds red groups itself, but not each time; then click the title."""
    from playwright.sync_api import TimeoutError as TooLate

    wanted = page.get_by_text(title, exact=True).first
    page.get_by_text(folds[0], exact=True).first.wait_for()
    for _ in range(ATTEMPTS):
        try:
            wanted.wait_for(timeout=PATIENCE / ATTEMPTS)
            break
        except TooLate:
            rows = [page.get_by_text(fold, exact=True).first for fold in folds]
            [row for row in rows if row.is_visible()][-1].click()
    wanted.click()


@contextmanager
def served(directory: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(directory))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@contextmanager
def pages(home: str) -> Iterator[Iterator[tuple[str, "Page"]]]:
    """A light and a dark page; neither may send a request elsewhere nor open a dialogue."""
    from playwright.sync_api import sync_playwright

    unexpected: list[str] = []
    known = (home.removesuffix("index.html"), "data:", "blob:")

    def each() -> Iterator[tuple[str, "Page"]]:
        for scheme in ("light", "dark"):
            page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 1400})
            page.set_default_timeout(PATIENCE)
            page.on("request", lambda sent: None if sent.url.startswith(known) else unexpected.append(sent.url))
            page.on("dialog", lambda dialog: unexpected.append(f"dialog {dialog.message}"))
            yield scheme, page
            page.close()

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE)
        yield each()
        browser.close()
    assert unexpected == []


def see(page: "Page", name: str) -> None:
    if directory := os.environ.get("MUSTER_SCREENSHOTS"):
        page.screenshot(path=str(Path(directory) / f"{name}.png"), full_page=True)
