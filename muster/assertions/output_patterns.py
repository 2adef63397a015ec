"""Patterns for a line of a command's output: column by column, `*` for any text, and placeholders for what is recorded.

`<time>` is a duration such as 22s or 3m. `<node>` and `<address>` are the node that the line is about and its address:
the node that it names, else the node of the pod that it names, else that of the line above. `<address:worker-1>` names
the node or pod itself. The trap: a column that accepts any text proves nothing, so use `*` where nothing is known.
"""

from __future__ import annotations

import re

import msgspec

from muster.recording.history import History

_PLACEHOLDER = re.compile(r"<(?P<what>time|node|address)(?::(?P<name>[^>]+))?>")
_TIME = r"\d+[smhdy]"


class NotRecordedYet(Exception):
    """The recording does not contain yet what a placeholder refers to."""


def lines_with_nodes(history: History, output: str) -> list[tuple[str, str]]:
    """The lines of an output, each with the node that it is about.

    Without empty ones, and without those of nodes that are not the scenario's: the probe's, and unused real ones.
    """
    found, node = [], ""
    for line in filter(str.strip, output.splitlines()):
        if history.unused_nodes.intersection(line.split()):
            continue
        named = _node_in(history, line)
        if named in history.nodes and history.nodes[named].is_probe:
            continue
        node = named or node
        found.append((line, node))
    return found


def matches(history: History, line: str, pattern: str, node: str) -> bool:
    """Whether a line that is about this node has as many columns as the pattern, and each of them matches."""
    columns, patterns = line.split(), pattern.split()
    return len(columns) == len(patterns) and all(
        re.fullmatch(_expression(history, wanted, node), column)
        for column, wanted in zip(columns, patterns, strict=True)
    )


def address_of(history: History, node: str) -> str:
    """The InternalIP of a node as it was last recorded, or an empty string."""
    records = [record for record in history.records["Node"] if record.object.metadata.name == node]
    status = msgspec.json.decode(records[-1].raw).get("status", {}) if records else {}
    addresses = [one["address"] for one in status.get("addresses") or [] if one["type"] == "InternalIP"]
    return addresses[0] if addresses else ""


def _expression(history: History, pattern: str, node: str) -> str:
    expression, end = "", 0
    for placeholder in _PLACEHOLDER.finditer(pattern):
        expression += _literal(pattern[end : placeholder.start()]) + _value(history, placeholder, node)
        end = placeholder.end()
    return expression + _literal(pattern[end:])


def _literal(text: str) -> str:
    return re.escape(text).replace(r"\*", ".*")


def _value(history: History, placeholder: re.Match[str], node: str) -> str:
    if placeholder["what"] == "time":
        return _TIME
    name = placeholder["name"]
    found = _node_of(history, name) if name else node
    if found and placeholder["what"] == "address":
        found = address_of(history, found)
    if not found:
        raise NotRecordedYet(f"nothing is recorded for {placeholder[0]} in the line of the output")
    return re.escape(found)


def _node_in(history: History, line: str) -> str:
    return next((node for column in line.split() if (node := _node_of(history, column))), "")


def _node_of(history: History, name: str) -> str:
    if name in history.nodes:
        return name
    pod = history.pod(name)
    return pod.node if pod else ""
