"""Mutants whose fault begins at one step, made from the features: for Thens that no fault from the beginning reaches.

These are Thens that repeat an earlier one, those that other Thens of the scenario imply, and those about the output of
commands. One mutant makes the same wrong write at the same position of several scenarios.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from muster.suite.behaviours import Behaviour
from tests.mutation.aims import Aim
from tests.mutation.general_mutants import GENERAL_MUTANTS
from tests.mutation.injection import job_writes, output_writes, pod_writes
from tests.mutation.injection.registry import Injection, description_of
from tests.mutation.mutants import KUBE_SCHEDULER, MUTANTS, REFERENCE, Mutant
from tests.mutation.proof import claimed_behaviours, reference_claims

__all__ = ["job_writes", "output_writes", "pod_writes"]  # they register the writes
INJECTED = "injected"
_NAME = re.compile(r'"([^"<]+)"')
_JOB_STATE = r'job "[^"]+" (?:is|stays|went from|was never) (?:[A-Z]|<state>)'
# How a Then begins or contains, and the write that makes it false. The first that matches counts.
_PATTERNS = tuple(
    (re.compile(pattern), write)
    for pattern, write in (
        (r"no CPU is free", "pod-is-removed"),
        (r"no other pod was evicted", "pod-is-deleted"),
        (r".* (?:was|were) not evicted|at least \d+ pods of the gang .* run", "pod-is-deleted"),
        (r"no pod was preempted", "pod-is-preempted"),
        (r".* (?:was|were) preempted for", "victim-names-another-preemptor"),
        (r'"small", "large" stay pending|the gang "gated" is queued', "gates-are-removed"),
        (r"at least \d+ pods of the gang .* are bound", "one-pending-pod-is-bound"),
        (r".* stays? pending while|.* stays? pending$", "pending-pods-are-bound"),
        (r"no pod of the gang .* is bound|the gang .* is queued", "pending-pods-are-bound"),
        (r"exactly .* of the gangs", "pending-pods-are-bound"),
        (r"queue .* never used", "member-is-created-on-a-full-node"),
        (r"the other one of the gangs", "unfinished-pods-are-deleted"),
        (r"at no time more than", "pod-is-created-on-a-full-node"),
        (r".* run on (?:\w+ different|their nominated) nodes", "pod-is-created-again"),
        (r".* runs on the node of one of the victims", "pod-is-deleted"),
        (r"every pod of .* was bound before|.* were created once", "pod-is-created-again"),
        (r".* is held by its finalizer", "finalizers-are-removed"),
        (r"the output is:", "output-shows-another-value"),
        (r"the output does not contain the victim", "output-names-the-victim"),
        (r"the PodGroup of job .* went through", "podgroup-has-another-phase"),
        (r"a job from the manifest .* is rejected", "definition-allows-no-workers"),
        (r'job "[^"]+" is Failed', "job-has-succeeded"),
        (r'job "[^"]+" (?:stays|is Running)', "job-has-another-end"),
        (_JOB_STATE, "job-is-restarting"),
        (r"job .* has creation, start and completion times", "completion-time-is-removed"),
        (r"job .* consists of", "service-is-deleted"),
        (r'(?:the whole gang |at least \d+ pods of the gang )?"[^"]+"(?:, "[^"]+")* runs?\b', "pod-is-deleted"),
    )
)
_OF_NO_NAME = ("no other", "no pod", "no CPU", "exactly", "queue", "at no time", "the output is", "a job from")

# Thens that other Thens or an invariant imply: a fault from the beginning fails one of those first.
_IMPLIED = (
    'DOC-1: "pytorch-priority-medium-master-0", "pytorch-priority-medium-worker-0",',
    'DOC-1: "pytorch-priority-critical-master-0" runs on the node',
    'DOC-2: "medium-worker-0" runs on "worker-1"',
    'DOC-2: job "medium" is Failed',
    'DOC-2: job "critical" is Running',
    "DOC-3: ",
    'DOC-4: "plain-master-0" ',
    'DOC-4: "pytorch-toleration-master-0", "pytorch-toleration-worker-0" run on',
    'DOC-4: "pytorch-toleration-all-master-0" runs on "worker-3"',
    'DOC-4: job "plain" is Running',
    'DOC-5: the whole gang "hp-training-job" runs',
    'DOC-5: "hp-worker-1", "hp-worker-2" run on their nominated nodes',
    'DOC-5: "lp-pod-3" stays pending',
    'FLT-02: "train-2" runs',
    'FLT-07: exactly one of "first", "second" was preempted',
    'FLT-07: "urgent" stays pending while',
    'GNG-02: no pod of the gang "train" is bound',
    'GNG-05: at least 3 pods of the gang "train" are bound',
    'GNG-07: at least 3 pods of the gang "train" run',
    'GNG-14: the whole gang "train" runs',
    'GNG-16: the gang "train" stays pending while',
    'JOB-05: job "long-limit" stays Running',
    'JOB-05: job "long-ttl" stays Succeeded',
    'JOB-10: job "steady" stays Succeeded',
    'JPR-19: "master" runs on "small"',
    'PRE-02: "urgent" runs on "free"',
    'PRE-25: "large" runs on "added"',
    'PRE-26: "small", "large" stay pending',
    'PRE-28: "lower" stays pending',
    'QUE-19: "low-0", "low-1", "low-2", "low-3" were preempted',
    'QUE-18: the gang "gated" is queued',
    'TNT-01: "intolerant" ',
    'TNT-02: "intolerant" stays pending',
    'TNT-05: "one-effect" stays pending',
    'TNT-05: "without-effect" runs on "tainted"',
)


def injection_of(behaviour: Behaviour, position: int) -> Injection | None:
    """The wrong write that makes this Then false; None if there is none for it."""
    text = behaviour.steps[position].text
    for pattern, write in _PATTERNS:
        if pattern.match(text):
            about = () if text.startswith(_OF_NO_NAME) and "preempted for" not in text else _names(text)
            return Injection(position, write, about)
    return None


def _names(text: str) -> tuple[str, ...]:
    """The pods, gangs or job that the Then is about, without the preemptor."""
    stated = text.partition(" preempted for ")[0].partition(" was bound before ")[0]
    return tuple(_NAME.findall(stated))


def is_reached(behaviour: Behaviour, position: int) -> bool:
    """Whether a mutant with a fault from the beginning is aimed at this Then, and not at an earlier one."""
    thens = [step.text for step in behaviour.steps[: position + 1] if step.type == "then"]
    if f"{behaviour.id}: {thens[-1]}".startswith(_IMPLIED):
        return False
    aims = (aim for mutant in (*MUTANTS, *GENERAL_MUTANTS) for aim in mutant.aims if aim.id == behaviour.id)
    return any(
        aim.step and [text.startswith(aim.step) for text in thens].index(True) == len(thens) - 1
        for aim in aims
        if any(text.startswith(aim.step) for text in thens)
    )


def _injected_mutants() -> Iterator[Mutant]:
    found: dict[tuple[str, str, int], dict[str, tuple[Aim, Injection]]] = {}
    for behaviour in claimed_behaviours():
        scheduler = REFERENCE if reference_claims(behaviour) else KUBE_SCHEDULER
        for position, step in enumerate(behaviour.steps if behaviour.level == "must" else ()):
            injection = injection_of(behaviour, position) if step.type == "then" else None
            if injection is not None and not is_reached(behaviour, position):
                same = found.setdefault((scheduler, injection.write, position), {})
                same[behaviour.id] = (Aim(behaviour.id, step.text.partition("<")[0]), injection)
    for (scheduler, write, position), scenarios in sorted(found.items()):
        name = f"{write}-at-step-{position + 1}"
        yield Mutant(
            name if scheduler == REFERENCE else f"{name}-of-{scheduler}",
            description_of(write),
            tuple(aim for aim, _ in scenarios.values()),
            INJECTED,
            beside=scheduler,
            injections={id_: injection for id_, (_, injection) in scenarios.items()},
            general=True,
        )


INJECTED_MUTANTS = tuple(_injected_mutants())
