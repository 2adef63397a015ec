"""Commands that run in this process: what the documents type is understood, and a command that fails is an error."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from muster import cli
from muster.arena import in_process
from muster.arena.clients import ArenaClient
from muster.arena.in_process import CommandResult, command_and_arguments
from muster.errors import ConformanceFailure, HarnessError, NotSupported
from muster.suite.paths import suite_root
from muster.verdicts import Verdict, verdict_of

IMAGE = "registry.cn-huhehaote.aliyuncs.com/lumo/pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime"
TYPED = f"""muster --loglevel info submit pytorch \\
    --name=pytorch-toleration \\
    --gpus=1 \\
    --workers=2 \\
    --image={IMAGE} \\
    --sync-mode=git \\
    --sync-source=https://code.aliyun.com/370272561/mnist-pytorch.git \\
    --tensorboard \\
    --logdir=/root/logs \\
    --toleration gpu_node \\
    "python /root/code/mnist-pytorch/mnist.py --epochs 50 --backend gloo --dir /root/logs"
"""


def test_options_before_the_command() -> None:
    assert command_and_arguments(TYPED)[:3] == ["submit", "pytorch", "--name=pytorch-toleration"]
    assert command_and_arguments("muster --loglevel=debug top node -d") == ["top", "node", "-d"]
    assert command_and_arguments("muster get medium") == ["get", "medium"]


def test_the_parser_takes_what_the_walkthroughs_type() -> None:
    parser, _ = cli.parser()
    args = parser.parse_args(in_process.split(TYPED)[1:])
    assert (args.command, args.loglevel, args.name, args.logdir) == (
        "submit",
        "info",
        "pytorch-toleration",
        "/root/logs",
    )
    features = "".join(file.read_text() for file in (suite_root() / "features" / "walkthroughs").glob("*.feature"))
    commands = re.findall(r'the user runs:\s+"""\n(.*?)\n\s+"""', features, re.DOTALL)
    assert len(commands) > 15
    for command in commands:
        assert parser.parse_known_args(in_process.split(command)[1:])[1] == []


def test_arena_gets_the_options_before_the_command_as_well(tmp_path: Path) -> None:
    client = ArenaClient(tmp_path, tmp_path / "kubeconfig", {})
    assert client.arguments(TYPED)[:4] == ["--loglevel", "info", "submit", "pytorch"]
    with pytest.raises(NotSupported, match="Arena submits mpi jobs"):
        client.arguments("muster --loglevel info submit mpi --name=a")
    with pytest.raises(NotSupported, match="Arena has no command 'explain'"):
        client.arguments("muster explain a")


def test_the_output_of_a_command_that_succeeds() -> None:
    assert CommandResult("0/12 (0%)\n", 0).require_success("muster top node") == "0/12 (0%)\n"


@pytest.mark.parametrize("exit_code", [1, 2, 64])
def test_a_command_that_fails_is_an_error_and_no_failure_of_the_scheduler(exit_code: int) -> None:
    with pytest.raises(HarnessError, match=f"the command failed with exit code {exit_code}: muster top node\nno way"):
        CommandResult("no way\n", exit_code).require_success("muster top node")


def test_api_trouble_in_a_command_is_an_error(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # and does not listen
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
            f"clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{unused.getsockname()[1]}'}}}}]\n"
            "users: [{name: u, user: {token: t}}]\n"
        )
        result = in_process.run("muster --loglevel info top node", kubeconfig)
    with pytest.raises(HarnessError, match="does not answer") as raised:
        result.require_success("muster top node")
    assert verdict_of(raised.value) is Verdict.ERROR
    assert verdict_of(ConformanceFailure("for comparison")) is Verdict.FAILED
