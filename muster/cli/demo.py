"""`muster demo DOC-n`: a document played live on a cluster of its own, of which nothing is left afterwards."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from muster.errors import EXIT_HARNESS_BROKE, EXIT_PASSED, HarnessError, UsageError
from muster.suite import suite_root

if TYPE_CHECKING:
    from muster.catalogue import Behaviour
    from muster.demo.showing import Show

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_FAMILY = "DOC-"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "demo",
        help="play one of the documents live",
        description="Play one of the documents live, on a cluster of its own: what is typed, what comes back, who has "
        "the GPUs, and what is true by then. Between its numbered lines it waits for Enter where it can.",
    )
    parser.add_argument("document", metavar="DOC-n", help="DOC-1 to DOC-5")
    parser.add_argument("--fast", action="store_true", help="do not wait for anybody")
    parser.add_argument("--scheduler", default="reference", metavar="NAME", help="who decides (default: %(default)s)")
    parser.set_defaults(run=demo)


def demo(args: argparse.Namespace) -> int:
    """0 when every line of the document was seen, 1 when one was not, 2 when the harness broke or was interrupted."""
    from rich.console import Console

    from muster.demo.showing import Show

    behaviour = _document(args.document)
    _ready(args, behaviour)
    show = Show(Console())
    show.title(behaviour.id, behaviour.title, behaviour.feature_title)
    pauses = not args.fast and sys.stdin.isatty() and sys.stdout.isatty()
    with tempfile.TemporaryDirectory(prefix="muster-demo-") as directory:
        return _play(args.scheduler, behaviour, show, Path(directory), pauses=pauses)


def _document(asked: str) -> Behaviour:
    from muster.catalogue import read_features

    known = read_features(suite_root() / "features").by_id()
    documents = {id_: known[id_] for id_ in sorted(known) if id_.startswith(_FAMILY)}
    if asked.upper() not in documents:
        titles = "".join(f"\n  {id_}  {one.feature_title}" for id_, one in documents.items())
        raise UsageError(f"there is no document {asked!r}: choose from{titles}")
    return documents[asked.upper()]


def _ready(args: argparse.Namespace, behaviour: Behaviour) -> None:
    """The scheduler can be asked for this, and everything is there that it needs."""
    from muster import assets, subject

    chosen, configuration = subject.choose(args.scheduler)
    args.scheduler = subject.full_name(args.scheduler)  # pytest will run in another directory
    unclaimed = [each for each in behaviour.capabilities if each not in chosen.claims(configuration)]
    if unclaimed:
        raise UsageError(f"{args.scheduler} does not claim {', '.join(unclaimed)}, which {behaviour.id} is about")
    if any((suite_root() / "fixtures").glob("*.py")):  # otherwise nobody starts a cluster
        assets.ensure([*assets.CONTROL_PLANE, *chosen.assets], say=_say)


def _play(scheduler: str, behaviour: Behaviour, show: Show, directory: Path, *, pauses: bool) -> int:
    from muster.cli.pytest_process import PytestProcess
    from muster.demo.audience import Audience
    from muster.demo.scripts import parts_of
    from muster.demo.watching import Watcher

    for number in _SIGNALS:  # SIGINT, too: a shell's background job starts with it ignored
        signal.signal(number, signal.default_int_handler)
    explains = scheduler.partition(":")[0] == "reference"
    interrupted = False
    _say(f"starting a cluster with the scheduler {scheduler}")
    with Audience() as audience:
        arguments = ["-p", "muster.demo.performing", f"--muster-demo={audience.name}", f"--muster-only={behaviour.id}"]
        arguments += [f"--muster-scheduler={scheduler}", f"--muster-results={directory}"]
        with PytestProcess(arguments, directory, progress_address="") as pytest:
            try:
                Watcher(show, audience, parts_of(behaviour), pauses=pauses, explains=explains).watch(pytest.wait)
            except KeyboardInterrupt:
                for number in _SIGNALS:  # an impatient second ctrl-C must not leave half of it behind
                    signal.signal(number, signal.SIG_IGN)
                interrupted = True
                audience.leave()
                _say("\nstopping")
    return EXIT_HARNESS_BROKE if interrupted else _concluded(behaviour, show, directory, pytest.complaint())


def _concluded(behaviour: Behaviour, show: Show, directory: Path, complaint: str) -> int:
    from muster.report.results import read_results
    from muster.verdicts import exit_code

    results = read_results(directory)
    if not results:
        raise HarnessError(f"{behaviour.id} was not played; {complaint}")
    code = exit_code(results)
    if code == EXIT_PASSED:
        show.end(f"{behaviour.id}: every line of the document was seen. Everything is gone: no process, no file.")
    else:
        show.story(f"{results[0].verdict}: {results[0].message}")
    return code


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
