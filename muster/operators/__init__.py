"""The operators that turn training jobs into pods."""

from muster.errors import UsageError
from muster.operators.base import Operator, ReferenceOperator
from muster.operators.training_operator import TrainingOperator, TrainingOperator170

OPERATORS: tuple[type[Operator], ...] = (ReferenceOperator, TrainingOperator, TrainingOperator170)


def choose_operator(name: str) -> type[Operator]:
    by_name = {operator.name: operator for operator in OPERATORS}
    if name not in by_name:
        raise UsageError(f"unknown operator {name!r}: choose from {', '.join(by_name)}")
    return by_name[name]


__all__ = ["OPERATORS", "Operator", "choose_operator"]
