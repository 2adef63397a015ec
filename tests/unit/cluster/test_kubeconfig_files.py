"""Several files in $KUBECONFIG, merged as kubectl does; the clusters answer with their names."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from muster.cli import main
from muster.cluster.existing.cleanup import cleanup_command
from muster.cluster.kubeconfig import check_kubeconfig, write_single_context
from muster.cluster.kubeconfig_files import Kubeconfig
from muster.cluster.run_scope import RunScope, ScopedApi, open_api, write_run_scope
from muster.environment.existing_cluster_policy import ExistingClusterPolicy
from muster.errors import UsageError
from muster.run_options import RunOptions
from muster.runner import prepare

FIRST = """
apiVersion: v1
kind: Config
clusters:
- name: production
  cluster: {server: "http://127.0.0.1:{production}", certificate-authority: pki/ca.crt}
contexts:
- name: production
  context: {cluster: production, user: me}
"""
SECOND = """
current-context: staging
clusters:
- name: staging
  cluster: {server: "http://127.0.0.1:{staging}"}
- name: production
  cluster: {server: "http://127.0.0.1:{staging}", insecure-skip-tls-verify: true}
users:
- name: me
  user: {token: from-second, client-key: keys/me.key}
contexts:
- name: staging
  context: {cluster: staging, user: me, namespace: team}
"""
THIRD = """
current-context: production
users:
- name: me
  user: {token: from-third, password: extra}
- name: guest
  user: null
contexts: null
"""


@pytest.fixture
def api_servers() -> Iterator[dict[str, int]]:
    """The ports of two API servers whose version is their name."""
    servers = {name: _server(name) for name in ("production", "staging")}
    for server in servers.values():
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {name: server.server_port for name, server in servers.items()}
    for server in servers.values():
        server.shutdown()
        server.server_close()


def _server(name: str) -> HTTPServer:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            fields = ("major", "minor", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform")
            self.wfile.write(json.dumps(dict.fromkeys(fields, "1") | {"gitVersion": name}).encode())

        def log_message(self, *_: object) -> None:
            pass

    return HTTPServer(("127.0.0.1", 0), Answer)


@pytest.fixture
def files(tmp_path: Path, api_servers: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> tuple[Path, ...]:
    """Three files in three directories, in $KUBECONFIG with one that does not exist, an empty one and a repetition."""
    found = []
    for name, text in (("first", FIRST), ("second", SECOND), ("third", THIRD)):
        for cluster, port in api_servers.items():
            text = text.replace(f"{{{cluster}}}", str(port))
        (tmp_path / name).mkdir()
        found.append(tmp_path / name / "config")
        found[-1].write_text(text)
    (tmp_path / "empty").touch()
    listed = (tmp_path / "not-there", tmp_path / "empty", *found, found[0])
    monkeypatch.setenv("KUBECONFIG", "::" + os.pathsep.join(map(str, listed)))
    return tuple(found)


def entries(merged: dict[str, list[dict[str, object]]], kind: str) -> dict[object, object]:
    return {entry["name"]: entry[kind] for entry in merged[f"{kind}s"]}


def test_the_first_file_wins_with_whole_entries(files: tuple[Path, ...], api_servers: dict[str, int]) -> None:
    merged = Kubeconfig.find().load()
    first, second, _ = (file.parent for file in files)
    production, staging = (f"http://127.0.0.1:{api_servers[name]}" for name in ("production", "staging"))
    assert entries(merged, "cluster") == {
        "production": {"server": production, "certificate-authority": str(first / "pki" / "ca.crt")},
        "staging": {"server": staging},
    }
    assert entries(merged, "user") == {
        "me": {"token": "from-second", "client-key": str(second / "keys" / "me.key")},
        "guest": None,
    }
    assert list(entries(merged, "context")) == ["production", "staging"]


def test_the_first_file_that_sets_a_current_context_decides(files: tuple[Path, ...]) -> None:
    assert Kubeconfig.find().load()["current-context"] == "staging"
    assert check_kubeconfig(Kubeconfig.find(), None) == "staging"


def test_the_clusters_are_reached(files: tuple[Path, ...]) -> None:
    apis = {context: open_api(Kubeconfig.find(), context) for context in (None, "staging", "production")}
    reached = {context: json.loads(api.read("/version"))["gitVersion"] for context, api in apis.items()}
    assert reached == {None: "staging", "staging": "staging", "production": "production"}
    assert open_api(Kubeconfig.find(), "production").token == "from-second"


def test_the_option_overrides_the_variable(files: tuple[Path, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert Kubeconfig.find(files[0]).files == (files[0],)
    assert main(["list", "--kubeconfig", str(files[0])]) == 64
    expected = f"muster: {files[0]} has no current context: choose one with --context (production)"
    assert capsys.readouterr().err.startswith(expected)


def test_processes_beside_the_cluster_get_one_file_with_one_context(files: tuple[Path, ...], tmp_path: Path) -> None:
    written = tmp_path / "run.kubeconfig"
    write_single_context(written, Kubeconfig.find(), "production", "")
    config = json.loads(written.read_text())
    (cluster,), (user,), (context,) = config["clusters"], config["users"], config["contexts"]
    assert cluster["cluster"]["certificate-authority"] == str(files[0].parent / "pki" / "ca.crt")
    assert user["user"]["client-key"] == str(files[1].parent / "keys" / "me.key")
    assert config["current-context"] == context["name"]
    assert written.stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageError, match="has no context 'nope': choose another --context"):
        write_single_context(written, Kubeconfig.find(), "nope", "")


def test_a_context_needs_no_user(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("{clusters: [{name: c, cluster: {server: s}}], contexts: [{name: x, context: {cluster: c}}]}")
    write_single_context(tmp_path / "written", file, "x", "")
    assert json.loads((tmp_path / "written").read_text())["users"][0]["user"] == {}


def test_a_run_takes_the_same_cluster_to_its_processes(
    files: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", "not-there:first/config:second/config:third/config")
    kubeconfig = Kubeconfig.find()
    options = prepare._pinned(RunOptions(cluster="kubeconfig"), kubeconfig, check_kubeconfig(kubeconfig, None))
    monkeypatch.chdir("/")  # as pytest does
    handed = RunOptions.from_json(options.to_json())
    connection = ExistingClusterPolicy(handed, print)._connection
    files[0].write_text("current-context: production\n" + files[0].read_text())  # the user works on, meanwhile
    assert json.loads(connection.api.read("/version"))["gitVersion"] == "staging"
    assert handed.command == "muster run --scheduler reference --context staging"
    assert cleanup_command(handed, "kbcd240") == "muster cleanup --run kbcd240 --context staging"


def test_a_run_with_one_file_names_it(files: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(files[1]))
    options = prepare._pinned(RunOptions(cluster="kubeconfig"), Kubeconfig.find(), "staging")
    assert cleanup_command(options, "kbcd240") == (
        f"muster cleanup --run kbcd240 --kubeconfig {files[1]} --context staging"
    )


def test_the_run_scope_of_the_file_that_has_the_context_applies(files: tuple[Path, ...]) -> None:
    write_run_scope(files[1], RunScope("kbcd240"))
    assert isinstance(open_api(Kubeconfig.find()), ScopedApi)
    assert isinstance(open_api(Kubeconfig.find(), "staging"), ScopedApi)
    assert not isinstance(open_api(Kubeconfig.find(), "production"), ScopedApi)


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("{0}/a:{0}/b", "none of the files in KUBECONFIG exists ({0}/a:{0}/b): correct it, or name another with"),
        ("{0}/a", "the kubeconfig {0}/a does not exist: name another with --kubeconfig"),
        (":", "the kubeconfig : does not exist: name another with --kubeconfig"),
        ("{0}/good:{0}/broken", "the kubeconfig {0}/broken is not YAML at line 1: correct it, or name another with"),
        ("{0}/good:{0}/words", "{0}/words is not a kubeconfig (no contexts in it): name another with --kubeconfig"),
        ("{0}/good:{0}/names", "{0}/names is not a kubeconfig (its users are not a list of named entries): correct"),
        ("{0}/good:{0}", "the kubeconfig {0} cannot be read: "),
        ("{0}/empty:{0}/empty2", "{0}/empty:{0}/empty2 is not a kubeconfig (no contexts in it): name another"),
        ("{0}/good:{0}/empty", "{0}/good:{0}/empty has no current context: choose one with --context (x)"),
    ],
)
@pytest.mark.parametrize("command", [["list"], ["run", "--cluster", "kubeconfig"]], ids=["list", "run"])
def test_an_error_is_one_line_with_the_fix(
    command: list[str],
    variable: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = {"good": "contexts: [{name: x}]", "broken": "a: [}", "words": "just words", "empty": "", "empty2": "# -"}
    for name, text in {**texts, "names": "users: [me]"}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("KUBECONFIG", variable.format(tmp_path))
    assert main(command) == 64
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"muster: {message.format(tmp_path)}")
