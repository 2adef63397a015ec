"""PodGroups, Queues and their pods with random fields of any type, size and script. Seeded."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.chaos.hostile_objects import LINKED_GROUPS, Manifest, group, pod, queue

_NUMBERS = (0, 1, 2, 3, -1, 7, 2**31 - 1, -(2**31), 2**40)
_TEXTS = ("", " ", "default", "fuzz-1", "fuzz-2", "ghost", "Ü", "队列", "a/b", "\u0000", "\n", "x" * 5000, "NaN", "-0")
_QUANTITIES = ("0", "1", "-1", "1e3", "1e400", "0x10", "1Ki", "1.5", "500m", "9" * 60, ".", "+1", "1e-30", "١")
_WRONG_TYPES: tuple[Any, ...] = (None, True, [], {}, [None], {"a": {}}, 1.5, "text")


class Fuzz:
    """Random sets of objects, each under its own names."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._count = 0

    def objects(self) -> list[Manifest]:
        """A Queue, two PodGroups and some pods that may refer to each other."""
        self._count += 1
        names = [f"fuzz-{self._count}", f"fuzz-{self._count}-b"]
        pods = [pod(f"{names[0]}-{number}", self._pick([*names, *_TEXTS])) for number in range(3)]
        for one in pods:
            if self._sometimes():
                one["metadata"]["annotations"]["volcano.sh/task-spec"] = self._pick(_TEXTS)
        objects = [self._queue(names[0]), *(self._group(name, names) for name in names), *pods]
        self._rng.shuffle(objects)
        return objects

    def _queue(self, name: str) -> Manifest:
        objects = queue(name, gpu=self._quantity(), memory=self._quantity())
        for field in ("weight", "reclaimable", "dequeueStrategy", "capability", "parent"):
            if self._sometimes():
                objects["spec"][field] = self._anything()
        if self._sometimes():
            objects["status"] = {"state": self._anything(), "running": self._anything()}
        return objects

    def _group(self, name: str, names: list[str]) -> Manifest:
        objects = group(name, minMember=self._pick((1, 2, 3, *_NUMBERS)), queue=self._pick([*names, *_TEXTS]))
        for field in ("minTaskMember", "minResources", "priorityClassName", "minMember", "queue"):
            if self._sometimes():
                objects["spec"][field] = self._anything()
        if self._sometimes():
            objects["spec"]["minTaskMember"] = {self._pick(_TEXTS): self._pick(_NUMBERS) for _ in range(2)}
        if self._sometimes():
            objects["status"] = {"phase": self._pick(_TEXTS), "conditions": self._anything(), "running": 10**6}
        if self._sometimes():
            annotations = objects["metadata"]["annotations"]
            annotations[LINKED_GROUPS] = self._pick([json.dumps(self._anything()), *_TEXTS])
            annotations["gang.scheduling.koordinator.sh/match-policy"] = self._pick(["only-waiting", "", *_TEXTS])
        return objects

    def _quantity(self) -> Any:
        return self._pick(_QUANTITIES) if self._rng.random() < 0.8 else self._anything()

    def _anything(self) -> Any:
        pool = self._pick([_NUMBERS, _TEXTS, _QUANTITIES, _WRONG_TYPES])
        return self._rng.choice(pool)

    def _sometimes(self) -> bool:
        return self._rng.random() < 0.3

    def _pick(self, pool: Any) -> Any:
        return self._rng.choice(pool)
