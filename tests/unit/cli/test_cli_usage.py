"""Usage errors: one message with the fix on standard error, exit code 64, nothing started and nothing written."""

import json
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from muster import __version__
from muster.cli import main
from tests.support.toy_suite import CHECKOUT, ToySuite, feature, make_toy_suite, scenario

KUBECONFIG = """apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:{port}"}}}}]
users: [{{name: u, user: {{token: t}}}}]
"""


@pytest.fixture
def suite(tmp_path: Path) -> ToySuite:
    return make_toy_suite(tmp_path).write(
        feature(scenario("PRE-01", "Then it holds"), scenario("PRE-12", "Then it holds"))
    )


BAD = {
    "unknown command": (["rnu"], "invalid choice: 'rnu'"),
    "old command": (["sweep"], "muster sweep was renamed: use muster cleanup"),
    "unknown flag": (["run", "--lits"], "muster run does not know --lits: did you mean --list?"),
    "stray argument": (["run", "PRE-01"], "muster run does not know PRE-01"),
    "abbreviated flag": (["run", "--sched", "x"], "muster run does not know --sched x"),
    "unknown scheduler": (
        ["run", "--scheduler", "nope"],
        "unknown scheduler 'nope': choose from reference, kube-scheduler",
    ),
    "unknown cluster": (["run", "--cluster", "moon"], "invalid choice: 'moon' (choose from"),
    "image of kind alone": (
        ["run", "--kind-image", "x"],
        "--kind-image, --installation and --reuse are for --cluster kind",
    ),
    "reuse by two": (["run", "--cluster", "kind", "--reuse", "--workers", "2"], "--reuse keeps one cluster"),
    "unknown id": (["run", "--only", "PRE-11"], "there is no behaviour PRE-11: did you mean PRE-12, PRE-01?"),
    "unknown tag": (["run", "-m", "mustt"], "-m mustt: there is no such level or capability: did you mean must?"),
    "nothing selected": (["run", "-m", "may"], "no behaviour fits --only, -k and -m together"),
    "no expression": (["run", "-k", "gpu and"], "-k 'gpu and' is not an expression"),
    "unbalanced": (["run", "-k", "(gpu"], "-k '(gpu' is not an expression"),
    "no workers": (["run", "--workers", "0"], "'0' is not a number from 1 upwards"),
    "negative rounds": (["run", "--repeat", "-1"], "--repeat"),
    "odd scale": (["run", "--timeout-scale", "0"], "--timeout-scale 0: give a factor"),
    "missing kubeconfig": (["run", "--kubeconfig", "nope"], "the kubeconfig nope does not exist"),
    "junit is a directory": (["run", "--junit", "."], "--junit . is a directory: name a file"),
    "local and context": (["run", "--cluster", "local", "--context", "x"], "leave out --context and --kubeconfig"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_usage_error_is_one_message(suite: ToySuite, case: str) -> None:
    arguments, message = BAD[case]
    run = suite.muster(*arguments)
    assert run.returncode == 64, run.stderr
    assert run.stdout == ""
    assert run.stderr.startswith("muster: ")
    assert run.stderr.count("\n") == 1
    assert message in run.stderr
    assert list(suite.work.iterdir()) == []


def test_an_old_environment_variable_names_the_new_one(suite: ToySuite) -> None:
    run = suite.muster("run", MUSTER_SABOTEUR="x")
    assert run.returncode == 64
    assert run.stderr == "muster: the environment variable MUSTER_SABOTEUR was renamed: use MUSTER_FAULT_INJECTOR\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "is not YAML at line 2"),
        ("just words", "is not a kubeconfig (no contexts in it)"),
        ("contexts: []\n", "has no current context"),
        ("contexts: []\ncurrent-context: x\n", "has no context 'x': known are none"),
        (b"\xff\xfe\x00", "cannot be read"),
    ],
)
def test_an_invalid_kubeconfig(suite: ToySuite, text: str | bytes, message: str) -> None:
    file = suite.work.parent / "kubeconfig"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    run = suite.muster("run", "--kubeconfig", str(file))
    assert run.returncode == 64
    assert message in run.stderr
    assert run.stderr.count("\n") == 1


def test_an_api_server_that_does_not_answer_is_a_harness_error(suite: ToySuite) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        file = suite.work.parent / "kubeconfig"
        file.write_text(KUBECONFIG.format(port=port))
        run = suite.muster("run", "--context", "here", KUBECONFIG=str(file))
    assert run.returncode == 2
    assert f"the API server https://127.0.0.1:{port} (context 'here' of {file}) does not answer" in run.stderr
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (200, 2, "the API server refused to POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
        (401, 2, "rejected the request: 401 Unauthorized; are its credentials still valid?"),
        (500, 2, "rejected the request: 500"),
    ],
)
def test_an_api_server_that_refuses(suite: ToySuite, status: int, code: int, message: str) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            version = dict.fromkeys(
                ("major", "minor", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"), "1"
            )
            self.wfile.write(json.dumps(version | {"gitVersion": "v1.99.0"}).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    file = suite.work.parent / "kubeconfig"
    file.write_text(KUBECONFIG.format(port=server.server_port).replace("https:", "http:"))
    run = suite.muster("run", "--kubeconfig", str(file))
    server.shutdown()
    assert run.returncode == code, run.stderr
    assert message in run.stderr
    assert run.stderr.count("\n") == 1


def test_results_of_another_run_are_never_overwritten(suite: ToySuite) -> None:
    assert suite.muster("run", "--results", "mine").returncode == 0
    before = {file: file.read_bytes() for file in (suite.work / "mine").rglob("*") if file.is_file()}
    run = suite.muster("run", "--results", "mine")
    assert run.returncode == 64
    assert "--results mine is not empty: name another directory, or remove it" in run.stderr
    assert before == {file: file.read_bytes() for file in (suite.work / "mine").rglob("*") if file.is_file()}
    assert not (suite.work / "results").exists()


def test_results_that_cannot_be_written(suite: ToySuite) -> None:
    (suite.work / "file").touch()
    run = suite.muster("run", "--results", "file/x")
    assert run.returncode == 64
    assert "is not a directory" in run.stderr


def test_version_and_help_are_instant(capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "muster", "--version"]
    run = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert run.stdout == f"muster {__version__}\n"
    for heavy in ("pytest", "kubernetes", "rich", "msgspec", "gherkin"):
        assert f" {heavy}\n" not in run.stderr
    assert main([]) == 64
    assert "run" in capsys.readouterr().err


def test_a_closed_pipe_is_no_traceback(suite: ToySuite) -> None:
    many = [
        scenario(f"PRE-{number:02}", "Then it holds", title=f"{number} " + "long " * 400) for number in range(1, 90)
    ]
    suite.write(feature(*many))
    listing = suite.start("run", "--list")
    assert listing.stdout is not None
    assert listing.stderr is not None
    listing.stdout.readline()
    listing.stdout.close()
    assert listing.stderr.read() == ""
    listing.wait()
