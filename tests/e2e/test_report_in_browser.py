"""The report as a reader sees it: made by `muster report` of a real run, opened in a headless Chromium.

Skipped where there is no Chromium, or where Allure can neither be found nor fetched. MUSTER_SCREENSHOTS=DIR keeps what
was seen, in light and in dark. Each test has a run of its own: tests that share one would make it once per worker.
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

from muster.catalogue import Behaviour, read_features
from muster.errors import HarnessError
from muster.report import node
from muster.suite import suite_root
from tests.report_suite import HOSTILE, make_report_suite
from tests.toy_suite import SCHEDULER

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 180_000  # milliseconds that a busy machine may take for a page
ATTEMPTS = 60  # to unfold something
WALK_THROUGH, BROKEN, FAULT = "DOC-1", "JPR-05", "equals-may-go"
CHECKOUT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium on PATH: apt-get install chromium")


@pytest.fixture(autouse=True)
def allure() -> None:
    try:
        node.allure(lambda _: None)
    except HarnessError as problem:
        pytest.skip(str(problem))


@pytest.mark.plane
def test_a_reader_finds_the_walk_through_its_picture_and_the_story_of_a_failure(tmp_path: Path) -> None:
    results = tmp_path / "results"
    broken = {**os.environ, "MUSTER_REFERENCE": f"tests.broken {FAULT}"}
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
    typed = page.get_by_text("When a person types: muster top node").first
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
    for name in ("story", "nodes", "objects", "events"):
        assert re.search(rf"^{name}$", shown, re.MULTILINE), shown
    page.get_by_text("story", exact=True).first.click()
    see(page, f"failure-{scheme}")


def test_hostile_words_are_words_and_one_file_needs_no_server(tmp_path: Path) -> None:
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
            unfold(page, "PRE-03 Hostile words", "preemption", "Making room")
            page.get_by_text("Given a node").first.wait_for()
            assert "<script>alert(1)</script>" in page.locator("body").inner_text()
            see(page, f"hostile-{scheme}")


def muster(*words: str, cwd: Path, environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Without a limit of time: a busy machine takes as long as it takes."""
    command = [sys.executable, "-m", "muster", *words]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def open_scenario(page: "Page", behaviour: Behaviour) -> None:
    """By its id and title, and wait for its first sentence."""
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
    """A light and a dark one; neither may ask anybody for anything, nor open a dialogue."""
    from playwright.sync_api import sync_playwright

    strangers: list[str] = []
    known = (home.removesuffix("index.html"), "data:", "blob:")

    def each() -> Iterator[tuple[str, "Page"]]:
        for scheme in ("light", "dark"):
            page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 1400})
            page.set_default_timeout(PATIENCE)
            page.on("request", lambda asked: None if asked.url.startswith(known) else strangers.append(asked.url))
            page.on("dialog", lambda dialog: strangers.append(f"dialog {dialog.message}"))
            yield scheme, page
            page.close()

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE)
        yield each()
        browser.close()
    assert strangers == []


def see(page: "Page", name: str) -> None:
    if directory := os.environ.get("MUSTER_SCREENSHOTS"):
        page.screenshot(path=str(Path(directory) / f"{name}.png"), full_page=True)
