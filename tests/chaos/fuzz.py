"""Groups, queues and their pods with random fields: any type, any size, any script. Seeded."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.chaos.hostile import PARTNERS, Manifest, group, pod, queue

_NUMBERS = (0, 1, 2, 3, -1, 7, 2**31 - 1, -(2**31), 2**40)
_TEXTS = ("", " ", "default", "fuzz-1", "fuzz-2", "ghost", "Ü", "队列", "a/b", "\u0000", "\n", "x" * 5000, "NaN", "-0")
_QUANTITIES = ("0", "1", "-1", "1e3", "1e400", "0x10", "1Ki", "1.5", "500m", "9" * 60, ".", "+1", "1e-30", "١")
_SURPRISES: tuple[Any, ...] = (None, True, [], {}, [None], {"a": {}}, 1.5, "text")


class Fuzz:
    """One family after the other, under names of their own."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._count = 0

    def family(self) -> list[Manifest]:
        """A queue, two groups and some pods that name one another, or nobody."""
        self._count += 1
        names = [f"fuzz-{self._count}", f"fuzz-{self._count}-b"]
        pods = [pod(f"{names[0]}-{number}", self._pick([*names, *_TEXTS])) for number in range(3)]
        for one in pods:
            if self._rarely():
                one["metadata"]["annotations"]["volcano.sh/task-spec"] = self._pick(_TEXTS)
        made = [self._queue(names[0]), *(self._group(name, names) for name in names), *pods]
        self._chance.shuffle(made)
        return made

    def _queue(self, name: str) -> Manifest:
        made = queue(name, gpu=self._quantity(), memory=self._quantity())
        for field in ("weight", "reclaimable", "dequeueStrategy", "capability", "parent"):
            if self._rarely():
                made["spec"][field] = self._anything()
        if self._rarely():
            made["status"] = {"state": self._anything(), "running": self._anything()}
        return made

    def _group(self, name: str, names: list[str]) -> Manifest:
        made = group(name, minMember=self._pick((1, 2, 3, *_NUMBERS)), queue=self._pick([*names, *_TEXTS]))
        for field in ("minTaskMember", "minResources", "priorityClassName", "minMember", "queue"):
            if self._rarely():
                made["spec"][field] = self._anything()
        if self._rarely():
            made["spec"]["minTaskMember"] = {self._pick(_TEXTS): self._pick(_NUMBERS) for _ in range(2)}
        if self._rarely():
            made["status"] = {"phase": self._pick(_TEXTS), "conditions": self._anything(), "running": 10**6}
        if self._rarely():
            annotations = made["metadata"]["annotations"]
            annotations[PARTNERS] = self._pick([json.dumps(self._anything()), *_TEXTS])
            annotations["gang.scheduling.koordinator.sh/match-policy"] = self._pick(["only-waiting", "", *_TEXTS])
        return made

    def _quantity(self) -> Any:
        return self._pick(_QUANTITIES) if self._chance.random() < 0.8 else self._anything()

    def _anything(self) -> Any:
        pool = self._pick([_NUMBERS, _TEXTS, _QUANTITIES, _SURPRISES])
        return self._chance.choice(pool)

    def _rarely(self) -> bool:
        return self._chance.random() < 0.3

    def _pick(self, pool: Any) -> Any:
        return self._chance.choice(pool)
