"""GitHub's expressions, as far as action.yml uses them: paths, strings, == and !=, && and ||, always().

Anything else is refused, so that action.yml cannot grow beyond what its test understands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_TOKEN = re.compile(r"\s*(?:'([^']*)'|(==|!=|&&|\|\|)|(always\(\)|success\(\))|([a-z][\w.-]*))")
_NO = ("", "false")


class Expressions:
    """What `github`, `runner`, `inputs` and `steps` stand for at one moment."""

    def __init__(self, values: Mapping[str, str], *, failed: bool = False) -> None:
        self._values = values
        self._failed = failed

    def fill(self, text: str) -> str:
        """A text with every ${{ … }} replaced by its value."""
        return _EXPRESSION.sub(lambda found: self._value(found[1]), text)

    def holds(self, condition: str) -> bool:
        """An `if:`; without a status function of its own it also asks that nothing has failed."""
        bare = _EXPRESSION.sub(lambda found: found[1], condition)
        asks_status = "always()" in bare or "success()" in bare
        return (asks_status or not self._failed) and (not bare.strip() or self._value(bare) not in _NO)

    def _value(self, expression: str) -> str:
        tokens = self._tokens(expression)
        return self._or(tokens)

    def _tokens(self, expression: str) -> list[tuple[str, str]]:
        tokens, position, end = [], 0, len(expression.rstrip())
        while position < end:
            found = _TOKEN.match(expression, position)
            assert found, f"not understood: {expression[position:]!r}"
            text, operator, status, path = found.groups()
            if operator:
                tokens.append(("operator", operator))
            elif status:
                tokens.append(("value", str(status == "always()" or not self._failed).lower()))
            else:
                tokens.append(("value", text if path is None else self._look_up(path)))
            position = found.end()
        return tokens

    def _look_up(self, path: str) -> str:
        if path in ("true", "false"):
            return path
        context = path.split(".")[0]
        assert context in ("github", "runner", "inputs", "steps"), f"unknown: {path}"
        assert context == "steps" or path in self._values, f"unknown: {path}"
        return self._values.get(path, "")  # an output that a step did not set is empty

    def _or(self, tokens: list[tuple[str, str]]) -> str:
        value = self._and(tokens)
        while tokens and tokens[0] == ("operator", "||"):
            tokens.pop(0)
            other = self._and(tokens)
            value = value if value not in _NO else other
        assert not tokens, f"left over: {tokens}"
        return value

    def _and(self, tokens: list[tuple[str, str]]) -> str:
        value = self._comparison(tokens)
        while tokens and tokens[0] == ("operator", "&&"):
            tokens.pop(0)
            other = self._comparison(tokens)
            value = other if value not in _NO else value
        return value

    def _comparison(self, tokens: list[tuple[str, str]]) -> str:
        kind, value = tokens.pop(0)
        assert kind == "value"
        if tokens and tokens[0][1] in ("==", "!=") and tokens[0][0] == "operator":
            operator = tokens.pop(0)[1]
            other = tokens.pop(0)[1]
            return str((value.lower() == other.lower()) == (operator == "==")).lower()
        return value
