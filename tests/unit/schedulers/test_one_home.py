"""What Muster knows about a single scheduler is in that scheduler's own place, and nowhere else in the package."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "muster"
HOME = "schedulers"
SCHEDULER_TERMS = re.compile(
    r"volcano|koordinator|koord-scheduler|kueue|yunikorn|(?<![a-z])kai(?![a-z])|scheduling\.run\.ai"
    r"|scheduling\.sigs\.k8s\.io|scheduling\.x-k8s\.io|scheduling\.k8s\.io/group-name|coscheduling|scheduler.plugins"
    r"|genericworkload|podgroup-protection",
    re.IGNORECASE,
)
EXCEPTIONS = {
    "operators/training_operator.py": "the gang schedulers that Kubeflow's training-operator has a flag for",
    "cluster/job_kinds.py": "the only other manager that Kubeflow's API allows in managedBy",
    "arena/job_manifests.py": "labels and annotations that Arena writes on jobs, whatever the scheduler",
}


def modules() -> list[str]:
    found = sorted(str(file.relative_to(PACKAGE)) for file in PACKAGE.rglob("*.py"))
    return [module for module in found if not module.startswith(f"{HOME}/")]


def identifiers_and_strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """With their lines; docstrings and comments may name a scheduler as an example."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((node.lineno, alias.name) for alias in node.names)
            if isinstance(node, ast.ImportFrom):
                yield node.lineno, node.module or ""


def terms_in(source: str) -> list[str]:
    found = identifiers_and_strings(ast.parse(source))
    return [f"line {line}: {text}" for line, text in found if SCHEDULER_TERMS.search(text)]


@pytest.mark.parametrize("module", modules())
def test_no_module_outside_knows_a_single_scheduler(module: str) -> None:
    found = terms_in((PACKAGE / module).read_text(encoding="utf-8"))
    if module in EXCEPTIONS:
        assert found, f"{module} no longer needs its exception ({EXCEPTIONS[module]})"
    else:
        assert found == [], f"move it to muster/{HOME} and hand it in from there"


@pytest.mark.parametrize(
    "leak",
    [
        'GROUPS = ("pod-group.scheduling.sigs.k8s.io",)',
        "from muster.schedulers.volcano import Volcano",
        "from muster.schedulers import kai",
        "KUEUE_QUEUE = 1",
        "def for_yunikorn(): ...",
        'print(f"{x} Koordinator")',
    ],
)
def test_a_leak_is_found(leak: str) -> None:
    assert terms_in(leak)


def test_prose_and_similar_names_are_no_leak() -> None:
    assert not terms_in('"""As Volcano does."""\ndef rokai(mikail: int): ...  # Kueue\n')
