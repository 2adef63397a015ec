"""Which counters the cluster's pods need, and which of them count a given pod.

Only constraints need counters: where no pod has any, nothing is matched and nothing is counted. A new counter makes
`outdated` true, and all pods are to be classified again; that is done once for many new pods, before the next plan.

Trap: a counter whose last owner is gone is kept for a while, since the next pod of the same job needs it again, and
classifying all pods is expensive.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace

from scheduler.core.label_matching import requirement_matches
from scheduler.core.pod_constraints import Counter, MatchingPods, PodConstraints, PodSelection, Selector, SpreadPods
from scheduler.core.scheduling_types import Pod, PodRequirements

_Label = tuple[str, str]
_KEPT_UNUSED = 256
_MAX_CLASSIFIED = 10_000


class PodCounters:
    """Counters by the pods that need them."""

    def __init__(self) -> None:
        self.namespaces: dict[str, Mapping[str, str]] = {}  # their labels
        self.outdated = False  # pods are to be classified again
        self.added: list[Counter] = []  # since they were last taken note of
        self._owners: Multiset[Counter] = Multiset()
        self._by_label: dict[_Label, list[Counter]] = {}  # that count only pods with this label
        self._others: list[Counter] = []  # that may count any pod
        self._classified: dict[tuple[PodRequirements, frozenset[Counter]], PodRequirements] = {}
        self._unused = 0

    def __len__(self) -> int:
        return len(self._owners)

    def __iter__(self) -> Iterator[Counter]:
        return iter(self._owners)

    def copy(self) -> PodCounters:
        counters = copy(self)
        counters.namespaces, counters.added = dict(self.namespaces), list(self.added)
        counters._owners, counters._others = self._owners.copy(), list(self._others)
        counters._by_label = {label: list(found) for label, found in self._by_label.items()}
        return counters

    def add(self, constraints: PodConstraints) -> None:
        """A pod with these constraints exists."""
        for counter in constraints.counters:
            if counter not in self._owners:
                self.added.append(counter)
                self._index(counter)
            elif not self._owners[counter]:
                self._unused -= 1
            self._owners[counter] += 1

    def remove(self, constraints: PodConstraints) -> None:
        for counter in constraints.counters:
            self._owners[counter] -= 1
            self._unused += not self._owners[counter]
        if self._unused > max(_KEPT_UNUSED, len(self._owners) // 2):
            self._drop_unused()

    def set_namespace(self, name: str, labels: Mapping[str, str] | None) -> None:
        """None: it was deleted."""
        if labels is None:
            self.namespaces.pop(name, None)
        else:
            self.namespaces[name] = labels
        self.outdated = self.outdated or any(
            isinstance(counter, MatchingPods) and any(one.namespace_selector for one in counter.selections)
            for counter in self._owners
        )

    def classify(self, pod: Pod) -> Pod:
        """The pod with the counters that count it."""
        requirements = pod.requirements
        if not self._owners and not requirements.counted:
            return pod
        counted = frozenset(self._counting(pod))
        if requirements.constraints is not None:
            counted |= requirements.constraints.own_counters
        if counted == requirements.counted:
            return pod
        if requirements.counted:
            requirements = replace(requirements, counted=frozenset())
        key = requirements, counted
        if len(self._classified) >= _MAX_CLASSIFIED:
            self._classified.clear()
        if key not in self._classified:
            self._classified[key] = replace(requirements, counted=counted) if counted else requirements
        return replace(pod, requirements=self._classified[key])

    def _counting(self, pod: Pod) -> list[Counter]:
        """The counters that select the pod by its labels."""
        found = [counter for counter in self._others if self._selects(counter, pod)]
        if self._by_label:
            for label in pod.labels.items():
                found += [counter for counter in self._by_label.get(label, ()) if self._selects(counter, pod)]
        return found

    def _selects(self, counter: Counter, pod: Pod) -> bool:
        match counter:
            case MatchingPods(selections):
                return all(self._means(selection, pod) for selection in selections)
            case SpreadPods(namespace, selector):
                return pod.key[0] == namespace and matches(selector, pod.labels)
        return False

    def _means(self, selection: PodSelection, pod: Pod) -> bool:
        namespace = pod.key[0]
        if namespace not in selection.namespaces:
            labels = self.namespaces.get(namespace, {})
            if selection.namespace_selector is None or not matches(selection.namespace_selector, labels):
                return False
        return selection.selector is not None and matches(selection.selector, pod.labels)

    def _index(self, counter: Counter) -> None:
        match counter:
            case MatchingPods(selections):
                selectors = [one.selector for one in selections if one.selector is not None]
            case SpreadPods(_, selector):
                selectors = [selector]
            case _:
                return  # these count their owners, whatever the labels are
        self.outdated = True
        labels = _necessary_labels(selectors)
        for label in labels:
            self._by_label.setdefault(label, []).append(counter)
        if not labels:
            self._others.append(counter)

    def _drop_unused(self) -> None:
        self._owners = Multiset({counter: count for counter, count in self._owners.items() if count})
        self._by_label, self._others, self._classified, self._unused = {}, [], {}, 0
        for counter in self._owners:
            self._index(counter)
        self.outdated = True


def matches(selector: Selector, labels: Mapping[str, str]) -> bool:
    return all(requirement_matches(requirement, labels) for requirement in selector)


def _necessary_labels(selectors: list[Selector]) -> list[_Label]:
    """Labels of which a matching pod has one; empty if there are no such."""
    for selector in selectors:
        for requirement in selector:
            if requirement.operator == "In":
                return [(requirement.key, value) for value in dict.fromkeys(requirement.values)]
    return []
