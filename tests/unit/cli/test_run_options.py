"""The options of a run: declared once, validated, handed on whole, and repeated as a command."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from muster.errors import UsageError
from muster.run_options import RunOptions, add_arguments, declarations, node_labels
from tests.support.toy_suite import ToySuite, feature, make_toy_suite, scenario

EVERY_OPTION = RunOptions(
    scheduler="volcano",
    operator="training-operator",
    client="arena",
    only=("PRE-01", "PRE-02"),
    keyword="gang",
    tags=("must",),
    kubeconfig=Path("/k"),
    context="c",
    run_id="r",
    workers=2,
    repeat=3,
    keep=True,
    hold=True,
    results=Path("/r"),
    junit=Path("/j"),
    durations=1,
    timeout_scale=2.5,
)


ON_REAL_NODES = RunOptions(context="c", node_selector="pool=muster", training_image="i")


def test_every_option_is_listed() -> None:
    """Those of kind are set apart, because they exclude a kubeconfig, and those that exclude workers."""
    on_kind = RunOptions(cluster="kind", kind_image="x", reuse=True, node_type="real", installation=Path("f"))
    sets = [EVERY_OPTION, on_kind, ON_REAL_NODES]
    fields = [field.name for field in dataclasses.fields(RunOptions)]
    same = [name for name in fields if all(getattr(one, name) == getattr(RunOptions(), name) for one in sets)]
    assert same == []


def parsed(*arguments: str) -> RunOptions:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return RunOptions.from_arguments(parser.parse_args(arguments))


def test_without_arguments_everything_is_the_default() -> None:
    assert parsed() == RunOptions()
    assert RunOptions().cluster == "local"


def test_arguments_are_parsed_into_fields() -> None:
    options = parsed("--only", "PRE-01", "PRE-02", "-m", "must", "-m", "gangs", "-k", "x", "--results", "r", "--keep")
    expected = RunOptions(only=("PRE-01", "PRE-02"), tags=("must", "gangs"), keyword="x", results=Path("r"), keep=True)
    assert options == expected


def test_options_survive_the_way_to_the_pytest_process() -> None:
    for options in (RunOptions(), EVERY_OPTION, RunOptions(cluster="kind", kind_image="x", reuse=True)):
        assert RunOptions.from_json(options.to_json()) == options


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ({}, "muster run --scheduler reference"),
        ({"workers": 4, "keep": True, "only": ("PRE-01",)}, "muster run --scheduler reference"),
        ({"operator": "o", "client": "c"}, "muster run --scheduler reference --operator o --client c"),
        ({"kubeconfig": Path("/k"), "context": "c"}, "muster run --scheduler reference --kubeconfig /k --context c"),
        ({"cluster": "kubeconfig"}, "muster run --scheduler reference --cluster kubeconfig"),
        (
            {"scheduler": "mine=a b.yaml", "cluster": "kind", "kind_image": "n.tar", "reuse": True},
            "muster run --scheduler 'mine=a b.yaml' --cluster kind --kind-image n.tar --reuse",
        ),
    ],
)
def test_the_command_that_repeats_a_run(options: dict[str, Any], command: str) -> None:
    assert RunOptions(**options).command == command


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cluster": "local", "context": "c"}, "--cluster local is made by Muster: leave out --context"),
        ({"cluster": "moon"}, "unknown cluster 'moon': choose from local, container"),
        ({"reuse": True}, "--kind-image, --installation and --reuse are for --cluster kind"),
        ({"cluster": "kind", "reuse": True, "workers": 2}, "--reuse keeps one cluster"),
        ({"repeat": 0}, "--repeat 0 is not a number from 1 upwards"),
        ({"node_selector": "a=b"}, "are for an existing cluster: name it by --context"),
        ({"training_image": "i", "cluster": "kind"}, "are for an existing cluster"),
        ({"training_image": "i", "context": "c"}, "add --node-selector"),
        (
            {"node_selector": "a=b", "context": "c"},
            "--node-selector needs --training-image: `muster assets training-image`",
        ),
        ({"node_selector": "a", "training_image": "i", "context": "c"}, "--node-selector a: write KEY=VALUE"),
        ({"node_selector": "a=b,", "training_image": "i", "context": "c"}, "write KEY=VALUE"),
        ({"node_selector": "a=b", "training_image": "i", "context": "c", "workers": 2}, "leave out --workers"),
        (
            {"node_selector": "a=b", "training_image": "i", "context": "c", "node_type": "simulated"},
            "leave out --node-type simulated",
        ),
        ({"timeout_scale": 101.0}, "--timeout-scale 101: give a factor between 0 and 100"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        RunOptions(**options)


def test_the_labels_of_a_node_selector() -> None:
    assert node_labels("") == {}
    assert node_labels("pool=muster, gpu=yes") == {"pool": "muster", "gpu": "yes"}


def test_every_option_has_a_help_text() -> None:
    for name, _, declaration in declarations():
        assert declaration.help, name
        assert declaration.in_cli or declaration.in_pytest, name


@pytest.fixture
def suite(tmp_path: Path) -> ToySuite:
    return make_toy_suite(tmp_path).write(feature(scenario("PRE-01", "Then it holds")))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--muster-repeat=0", "'0' is not a number from 1 upwards"),
        ("--muster-cluster=moon", "unknown cluster 'moon'"),
        ("--muster-options={}x", "JSON is malformed"),
    ],
)
def test_plain_pytest_refuses_the_same(suite: ToySuite, option: str, message: str) -> None:
    run = suite.pytest(option)
    assert run.returncode == 4
    assert message in run.stderr


def test_plain_pytest_takes_single_options_beside_the_whole_value(suite: ToySuite) -> None:
    run = suite.pytest(f"--muster-options={RunOptions(repeat=3).to_json()}", "--muster-repeat=2", "-q")
    assert "2 passed" in run.stdout, run.stdout + run.stderr
