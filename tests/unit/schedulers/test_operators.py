"""Choosing an operator and a command line, and which scenario of a document is then asked for."""

import sys
from pathlib import Path

import pytest

from muster import variants
from muster.catalogue import Behaviour, Step
from muster.errors import NotSupported, UsageError
from muster.subject.clients import Arena, choose_client
from muster.subject.dialect import Dialect
from muster.subject.operators import DEFAULT_OPERATOR, TRAINING_OPERATOR, choose_operator
from muster.subject.subjects import Workplace
from muster.subject.training_operator import TrainingOperator
from muster.subject.volcano_dialect import VolcanoDialect


def workplace(directory: Path, **assets: Path) -> Workplace:
    return Workplace(directory, directory / "admin.kubeconfig", directory / "scheduler.kubeconfig", assets)


def behaviour(name: str, *tags: str, types: bool = False) -> Behaviour:
    steps = (Step("When", "when", "a person types:", 1),) if types else ()
    return Behaviour(name, "Feature", Path("x.feature"), 1, (name, "documents", *tags), steps)


DOCUMENT = behaviour("DOC-1", "doc-1", types=True)
TYPED_ONLY = behaviour("DOC-2", "doc-2", types=True)
UNTYPED = behaviour("DOC-3", "doc-3")
WITH_ARENA = behaviour("ARN-1", "doc-1", "variant-arena", types=True)
WITH_OPERATOR = behaviour("TRO-3", "doc-3", "variant-training-operator")
ALL = (DOCUMENT, TYPED_ONLY, UNTYPED, WITH_ARENA, WITH_OPERATOR)


def applies(operator: str = "reference", client: str = "muster") -> list[str]:
    return [one.id for one in ALL if not variants.problem(one, ALL, operator, client)]


def test_the_documents_are_asked_for_as_they_are_where_nothing_else_was_chosen() -> None:
    assert applies() == ["DOC-1", "DOC-2", "DOC-3"]


def test_a_variant_stands_for_the_scenario_of_its_document() -> None:
    assert applies(operator="training-operator") == ["DOC-1", "DOC-2", "TRO-3"]
    assert (
        variants.problem(UNTYPED, ALL, "training-operator", "muster") == "with training-operator it goes as TRO-3 says"
    )


def test_another_command_line_is_not_held_against_answers_that_are_not_its_own() -> None:
    assert applies(client="arena") == ["DOC-3", "ARN-1"]
    assert applies("training-operator", "arena") == ["ARN-1", "TRO-3"]


def test_a_wrong_choice_is_one_sentence() -> None:
    assert choose_operator(DEFAULT_OPERATOR).name == "reference"
    assert choose_client("muster") is None
    with pytest.raises(UsageError, match="unknown operator 'mine': choose from reference, training-operator"):
        choose_operator("mine")
    with pytest.raises(UsageError, match="unknown client 'kubectl': choose from muster, arena"):
        choose_client("kubectl")


@pytest.mark.parametrize(("dialect", "gang"), [(Dialect("default-scheduler"), ""), (VolcanoDialect(), "volcano")])
def test_the_training_operator_makes_groups_for_volcano_only(dialect: Dialect, gang: str, tmp_path: Path) -> None:
    flags = TrainingOperator(workplace(tmp_path), dialect).flags()
    assert f"--gang-scheduler-name={gang}" in flags
    assert f"--kubeconfig={tmp_path}/admin.kubeconfig" in flags


def test_nobody_waits_for_a_job_that_no_operator_looks_at(tmp_path: Path) -> None:
    operator = TrainingOperator(workplace(tmp_path), Dialect("default-scheduler"))
    operator.must_carry_out("PyTorchJob")
    for kind in ("mpi", "MPIJob"):
        with pytest.raises(NotSupported, match=f"training-operator does not carry out {kind}"):
            operator.must_carry_out(kind)


def test_the_training_operator_is_not_restarted_for_a_profile(tmp_path: Path) -> None:
    program = tmp_path / "training-operator"
    program.write_text(f"#!{sys.executable}\nimport signal\nsignal.pause()\n")
    program.chmod(0o755)
    operator = TrainingOperator(workplace(tmp_path, **{"training-operator": program}), Dialect("default-scheduler"))
    operator.start()
    try:
        process = operator.process
        operator.configure(TRAINING_OPERATOR)
        assert operator.process is process
        operator.kill()
        operator.configure(TRAINING_OPERATOR)
        assert operator.process is not None
        assert operator.process is not process
    finally:
        operator.kill()


def arena(directory: Path, script: str) -> Arena:
    """With a stand-in that shows what Arena itself would find."""
    program = directory / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    files = dict.fromkeys(Arena.assets, directory / "file") | {"arena": program, "kubectl": program}
    (directory / "file").write_text("a file of the chart")
    client = Arena(workplace(directory, **files))
    client.install()
    return client


def test_arena_lives_in_a_home_of_its_own(tmp_path: Path) -> None:
    client = arena(
        tmp_path, 'find charts -type f | sort; echo "$HOME" "$KUBECONFIG" "$TMPDIR"; command -v arena-kubectl'
    )
    lines = client.typed("muster top node").text.splitlines()
    assert lines[:2] == ["charts/pytorchjob/Chart.yaml", "charts/pytorchjob/templates/_helpers.tpl"]
    assert lines[-2] == f"{client.home} {client.workplace.admin} {client.home}/tmp"
    assert lines[-1] == f"{client.home}/bin/arena-kubectl"


def test_arena_gets_the_same_words_and_answers_with_all_it_says(tmp_path: Path) -> None:
    client = arena(tmp_path, 'for word; do echo "<$word>"; done; echo trouble >&2; exit 3')
    answer = client.typed('muster submit pytorch --name=a \\\n --gpus=1 "python mnist.py"')
    assert answer.text.splitlines() == [
        "<submit>",
        "<pytorch>",
        "<--name=a>",
        "<--gpus=1>",
        "<python mnist.py>",
        "trouble",
    ]
    assert answer.code == 3


@pytest.mark.parametrize("command", ["muster events medium", "muster submit mpi --name=a"])
def test_what_arena_cannot_do_here_is_not_asked_of_it(command: str, tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match="Arena"):
        arena(tmp_path, "exit 0").typed(command)
