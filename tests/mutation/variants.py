"""Variants: schedulers that are correct but different. They must pass every MUST that they claim.

A mutant shows that a scenario can fail; a variant shows that it fails for no other reason. They run with the usual time
limits: a variant may be slow, as long as it is not slower than it promises.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.mutation.aims import Aim
from tests.mutation.faults.variations import VARIATIONS
from tests.mutation.mutants import KUBE_SCHEDULER, REFERENCE, Mutant
from tests.mutation.outcomes import Outcomes
from tests.mutation.proof import claimed_behaviours
from tests.mutation.runs import run_on_own_plane, time_scale

_CONFIGURATIONS = Path(__file__).resolve().parent / "configurations"
VARIANT = "variants"


@dataclass(frozen=True)
class Variant:
    """A correct scheduler: the reference with a variation, or kube-scheduler with another configuration."""

    name: str
    description: str
    configuration: str = ""
    kind: str = VARIANT

    def run(self, directory: Path) -> Outcomes:
        """Every MUST; what it does not claim is left out of the outcomes."""
        aims = tuple(Aim(one.id) for one in claimed_behaviours() if one.level == "must")
        if self.configuration:
            file = str(_CONFIGURATIONS / self.configuration)
            mutant = Mutant(self.name, self.description, aims, KUBE_SCHEDULER, file)
        else:
            variables = {"MUSTER_REFERENCE": f"tests.mutation.faults {self.name}"}
            mutant = Mutant(self.name, self.description, aims, REFERENCE, environment=variables)
        return run_on_own_plane(mutant, directory, time_scale("1"))


VARIANTS = (
    *(Variant(name, (variation.__doc__ or "").strip()) for name, variation in VARIATIONS.items()),
    Variant(
        "waits-the-longest-back-off",
        "kube-scheduler: every retry waits the longest back-off, 4 s.",
        configuration="longest-back-off.yaml",
    ),
    Variant("packs-pods", "kube-scheduler: pods are packed on the fullest node.", configuration="packing.yaml"),
)
