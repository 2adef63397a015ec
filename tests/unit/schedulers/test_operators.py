"""Choosing an operator and a client, and which scenario of a walk-through then runs."""

import sys
from pathlib import Path

import pytest

from muster.arena.clients import ArenaClient, MusterClient, choose_client
from muster.errors import NotSupported, UsageError
from muster.operators import choose_operator
from muster.operators.base import ALL_JOBS, DECLARED_JOBS, TRAINING_OPERATOR, OperatorSettings, ReferenceOperator
from muster.operators.training_operator import TrainingOperator, TrainingOperator170
from muster.run_options import DEFAULT_OPERATOR
from muster.schedulers.base import ProcessContext
from muster.schedulers.dialect import Dialect
from muster.schedulers.volcano import VolcanoDialect
from muster.suite.behaviours import Behaviour, Step
from muster.suite.selection import inapplicable


def context(directory: Path, **assets: Path) -> ProcessContext:
    return ProcessContext(directory, directory / "admin.kubeconfig", directory / "scheduler.kubeconfig", assets)


def behaviour(name: str, *tags: str, types: bool = False) -> Behaviour:
    steps = (Step("When", "when", "the user runs:", 1),) if types else ()
    return Behaviour(name, "Feature", Path("x.feature"), 1, (name, "documents", *tags), steps)


DOCUMENT = behaviour("DOC-1", "doc-1", types=True)
TYPED_ONLY = behaviour("DOC-2", "doc-2", types=True)
UNTYPED = behaviour("DOC-3", "doc-3")
WITH_ARENA = behaviour("ARN-1", "doc-1", "variant-arena", types=True)
WITH_OPERATOR = behaviour("TRO-3", "doc-3", "variant-training-operator-1.7.0")
ON_JOBS = behaviour("JOB-09")
WITH_WEBHOOK = behaviour("TRO-9", "replaces-job-09", "variant-training-operator")
ALL = (DOCUMENT, TYPED_ONLY, UNTYPED, WITH_ARENA, WITH_OPERATOR, ON_JOBS, WITH_WEBHOOK)


def applies(operator: str = "reference", client: str = "muster") -> list[str]:
    return [one.id for one in ALL if not inapplicable(one, ALL, operator, client)]


def test_walkthroughs_run_as_written_by_default() -> None:
    assert applies() == ["DOC-1", "DOC-2", "DOC-3", "JOB-09"]


def test_a_variant_replaces_the_scenario_of_its_walkthrough() -> None:
    assert applies(operator="training-operator@1.7.0") == ["DOC-1", "DOC-2", "TRO-3", "JOB-09"]
    reason = inapplicable(UNTYPED, ALL, "training-operator@1.7.0", "muster")
    assert reason == "TRO-3 is its variant for training-operator-1.7.0"


def test_a_variant_replaces_the_scenario_that_it_names() -> None:
    assert applies(operator="training-operator") == ["DOC-1", "DOC-2", "DOC-3", "TRO-9"]
    assert inapplicable(ON_JOBS, ALL, "training-operator", "muster") == "TRO-9 is its variant for training-operator"


def test_another_client_is_not_tested_on_musters_own_output() -> None:
    assert applies(client="arena") == ["DOC-3", "ARN-1", "JOB-09"]
    assert applies("training-operator@1.7.0", "arena") == ["ARN-1", "TRO-3", "JOB-09"]


def test_a_wrong_choice_is_reported_in_one_line() -> None:
    assert choose_operator(DEFAULT_OPERATOR).name == "reference"
    assert choose_client("muster") is MusterClient
    choices = "reference, training-operator, training-operator@1.7.0"
    with pytest.raises(UsageError, match=f"unknown operator 'mine': choose from {choices}"):
        choose_operator("mine")
    with pytest.raises(UsageError, match="unknown --client 'kubectl': choose from muster, arena"):
        choose_client("kubectl")


@pytest.mark.parametrize(("dialect", "gang"), [(Dialect("default-scheduler"), ""), (VolcanoDialect(), "volcano")])
def test_the_training_operator_creates_podgroups_for_volcano_only(dialect: Dialect, gang: str, tmp_path: Path) -> None:
    flags = TrainingOperator170(context(tmp_path), dialect)._flags()
    assert f"--gang-scheduler-name={gang}" in flags
    assert f"--kubeconfig={tmp_path}/admin.kubeconfig" in flags


def test_the_reference_operator_makes_gangs_of_the_jobs_that_a_scenario_chooses(tmp_path: Path) -> None:
    operator = ReferenceOperator(context(tmp_path), VolcanoDialect())
    assert _flag(operator, "--gang-jobs") == "scheduling-policy"
    operator.settings = OperatorSettings(TRAINING_OPERATOR, ALL_JOBS)
    assert _flag(operator, "--gang-jobs") == "all"
    assert _flag(operator, "--profile") == "training-operator"


def _flag(operator: ReferenceOperator, flag: str) -> str:
    argv = operator._prepare().argv
    return argv[argv.index(flag) + 1]


def test_gangs_that_an_operator_cannot_create_are_not_supported(tmp_path: Path) -> None:
    for operator in (ReferenceOperator, TrainingOperator170):
        operator(context(tmp_path), VolcanoDialect()).check_gangs(ALL_JOBS)
        with pytest.raises(NotSupported, match="creates no PodGroups for default-scheduler"):
            operator(context(tmp_path), Dialect("default-scheduler")).check_gangs(ALL_JOBS)
    ReferenceOperator(context(tmp_path), VolcanoDialect()).check_gangs(DECLARED_JOBS)
    with pytest.raises(NotSupported, match="no setting by which only some jobs are gangs"):
        TrainingOperator170(context(tmp_path), VolcanoDialect()).check_gangs(DECLARED_JOBS)


def test_a_job_kind_that_the_operator_does_not_reconcile_is_not_supported(tmp_path: Path) -> None:
    operator = TrainingOperator170(context(tmp_path), Dialect("default-scheduler"))
    operator.check_job_kind("PyTorchJob")
    for kind in ("mpi", "MPIJob"):
        with pytest.raises(NotSupported, match=f"training-operator@1.7.0 does not reconcile the walk-throughs' {kind}"):
            operator.check_job_kind(kind)


def test_mpi_jobs_of_v1_alone_are_supported_by_the_current_release(tmp_path: Path) -> None:
    operator = TrainingOperator(context(tmp_path), Dialect("default-scheduler"))
    operator.check_job_kind("MPIJob", "v1")
    for kind, version in (("mpi", ""), ("MPIJob", "v1alpha1"), ("MPIJob", "v2beta1")):
        with pytest.raises(NotSupported, match=f"does not reconcile {kind} of {version or 'v1alpha1'}"):
            operator.check_job_kind(kind, version)
    ReferenceOperator(context(tmp_path), Dialect("default-scheduler")).check_job_kind("MPIJob", "v2beta1")


def test_the_training_operator_is_not_restarted_for_a_profile(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!{sys.executable}\nimport signal\nsignal.pause()\n")
    program.chmod(0o755)
    operator = TrainingOperator170(
        context(tmp_path, **{"training-operator-1.7.0": program}), Dialect("default-scheduler")
    )
    operator.start()
    try:
        process = operator.process
        operator.configure(OperatorSettings(TRAINING_OPERATOR))
        assert operator.process is process
        operator.kill()
        operator.configure(OperatorSettings(TRAINING_OPERATOR))
        assert operator.process is not None
        assert operator.process is not process
    finally:
        operator.kill()


def arena(directory: Path, script: str) -> ArenaClient:
    """An ArenaClient whose binary is a script."""
    program = directory / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    files = dict.fromkeys(ArenaClient.assets, directory / "file") | {"arena": program, "kubectl": program}
    (directory / "file").write_text("a file of the chart")
    client = ArenaClient(directory, directory / "admin", files)
    client.install()
    return client


def test_arena_has_a_home_directory_of_its_own(tmp_path: Path) -> None:
    client = arena(
        tmp_path, 'find charts -type f | sort; echo "$HOME" "$KUBECONFIG" "$TMPDIR"; command -v arena-kubectl'
    )
    lines = client.run("muster top node").output.splitlines()
    assert lines[:2] == ["charts/pytorchjob/Chart.yaml", "charts/pytorchjob/templates/_helpers.tpl"]
    assert lines[-2] == f"{client.home} {client.kubeconfig} {client.home}/tmp"
    assert lines[-1] == f"{client.home}/bin/arena-kubectl"


def test_arena_gets_the_same_arguments_and_returns_all_output(tmp_path: Path) -> None:
    client = arena(tmp_path, 'for argument; do echo "<$argument>"; done; echo trouble >&2; exit 3')
    result = client.run('muster submit pytorch --name=a \\\n --gpus=1 "python mnist.py"')
    assert result.output.splitlines() == [
        "<submit>",
        "<pytorch>",
        "<--name=a>",
        "<--gpus=1>",
        "<python mnist.py>",
        "trouble",
    ]
    assert result.exit_code == 3


@pytest.mark.parametrize("command", ["muster events medium", "muster submit mpi --name=a"])
def test_what_arena_cannot_do_here_is_not_asked_of_it(command: str, tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match="Arena"):
        arena(tmp_path, "exit 0").run(command)
