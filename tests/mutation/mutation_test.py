"""Mutation test: every scenario must fail on a component with a matching fault, at the step that is about it.

    python -m tests.mutation.mutation_test                       the baseline, all mutants, all variants
    python -m tests.mutation.mutation_test reference             those of the reference (or operator, kube-scheduler, …)
    python -m tests.mutation.mutation_test gangs-are-ignored …   these; the results of the others stay
    python -m tests.mutation.mutation_test --page                no run: write docs/proof.md from the results

MUSTER_LANES=4 uses four control planes at a time instead of two, MUSTER_TIMEOUT_SCALE=1 the usual time limits: for a
machine that is busy, where most of the time is waiting.

The control: the components without a fault run the same scenarios at the same time scale. Where one of them does not
pass, the run is invalid and exits with 2. Exits with 1 if a scenario is killed by no mutant, if a mutant kills nothing
that it is aimed at, or if a variant, a scheduler that is correct but different, is red on a MUST.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.mutation import proof_page
from tests.mutation.aims import Aim, Effect
from tests.mutation.general_mutants import GENERAL_MUTANTS
from tests.mutation.injected_mutants import INJECTED_MUTANTS
from tests.mutation.mutants import KUBE_SCHEDULER, MUTANTS, REFERENCE, Mutant
from tests.mutation.outcomes import Outcomes
from tests.mutation.proof import Proof, component, not_passed, survivors
from tests.mutation.runs import run_on_own_plane, run_on_shared_plane, time_scale
from tests.mutation.variants import VARIANTS, Variant

PAGE = Path(__file__).resolve().parents[2] / "docs" / "proof.md"
ALL_MUTANTS = (*MUTANTS, *GENERAL_MUTANTS, *INJECTED_MUTANTS)
_LANES = int(os.environ.get("MUSTER_LANES", "2"))  # runs at the same time, each with its own cluster
_MUTANTS_PER_PLANE = 16

Save = Callable[[dict[str, Outcomes]], None]


def main() -> int:
    options = _options()
    mutants, variants = select(options.names)
    proof = Proof.read() if options.names or options.page else Proof()
    if not options.page:
        _run_all(mutants, variants, proof)
    PAGE.write_text(proof_page.write(ALL_MUTANTS, VARIANTS, proof))
    return _conclude(mutants, variants, proof)


def select(names: Sequence[str]) -> tuple[list[Mutant], list[Variant]]:
    """Mutants and variants by name or by kind; all if no name is given."""
    known = {name for one in ALL_MUTANTS for name in (one.name, one.kind)}
    known |= {name for one in VARIANTS for name in (one.name, one.kind)}
    if unknown := sorted(set(names) - known):
        raise SystemExit(f"unknown mutant: {', '.join(unknown)}; docs/proof.md lists all names")
    mutants = [one for one in ALL_MUTANTS if not names or one.name in names or one.kind in names]
    return mutants, [one for one in VARIANTS if not names or one.name in names or one.kind in names]


def _run_all(mutants: Sequence[Mutant], variants: Sequence[Variant], proof: Proof) -> None:
    baselines = [baseline(scheduler, mutants) for scheduler in (REFERENCE, KUBE_SCHEDULER)]
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(_LANES) as pool:
        jobs = [partial(_run_alone, one, Path(directory, "baseline", one.kind)) for one in baselines if one.aims]
        for number, part in enumerate(_parts([one for one in mutants if not one.needs_own_plane])):
            jobs.append(partial(run_on_shared_plane, part, Path(directory, f"shared-{number}"), time_scale()))
        jobs += [partial(_run_alone, one, Path(directory, one.name)) for one in mutants if one.needs_own_plane]
        for done in pool.map(lambda job: job(), jobs):
            _keep(done, proof)
        for variant, found in zip(
            variants, pool.map(lambda one: one.run(Path(directory, one.name)), variants), strict=True
        ):
            proof.variants[variant.name] = found
            proof.save()


def _parts(mutants: Sequence[Mutant]) -> Iterator[list[Mutant]]:
    """Those that share a control plane: few enough, and with the same scheduler."""
    for scheduler in dict.fromkeys(one.scheduler for one in mutants):
        same = [one for one in mutants if one.scheduler == scheduler]
        yield from (same[first : first + _MUTANTS_PER_PLANE] for first in range(0, len(same), _MUTANTS_PER_PLANE))


def baseline(scheduler: str, mutants: Iterable[Mutant]) -> Mutant:
    """The component without a fault, on all scenarios of the mutants that are compared with it."""
    compared = [one for one in mutants if component(one) == scheduler]
    ids = dict.fromkeys(id_ for one in compared for id_ in one.ids)
    return Mutant(f"baseline of {scheduler}", "No fault.", tuple(map(Aim, ids)), scheduler)


def _run_alone(one: Mutant, directory: Path) -> dict[str, Outcomes]:
    return {one.name: run_on_own_plane(one, directory, time_scale())}


def _keep(done: dict[str, Outcomes], proof: Proof) -> None:
    """After each run: an interruption loses nothing."""
    by_name = {one.name: one for one in ALL_MUTANTS}
    for name, outcomes in done.items():
        if name in by_name:
            proof.mutants[name] = outcomes
            effects = proof.effects(by_name[name])
            missed = [f"{aim.id} {effect}" for aim, effect in effects.items() if effect is not Effect.KILLED]
            killed = sum(effect is Effect.KILLED for effect in effects.values())
            print(f"{name}: {killed} killed{'; ' if missed else ''}{', '.join(missed)}", flush=True)
        else:
            scheduler = name.removeprefix("baseline of ")
            proof.keep_baseline(scheduler, outcomes)
            print(f"{name}: {len(outcomes)} scenarios, not passed: {'; '.join(not_passed(outcomes)) or 'none'}")
    proof.save()


def _conclude(mutants: Sequence[Mutant], variants: Sequence[Variant], proof: Proof) -> int:
    invalid = [
        f"{scheduler}: {line}" for scheduler, found in sorted(proof.baseline.items()) for line in not_passed(found)
    ]
    if invalid:
        print("This run is invalid. Without any fault, at the same time scale, these scenarios do not pass:")
        print("\n".join(invalid))
        print("A red on a mutant proves nothing there: use a larger MUSTER_TIMEOUT_SCALE, or an idle machine.")
        return 2
    alive = survivors(ALL_MUTANTS, proof)
    idle = [one.name for one in mutants if not one.general and not _kills(one, proof)]
    red = [f"{one.name}: {line}" for one in variants for line in not_passed(proof.variants.get(one.name, {}))]
    print(f"scenarios that survive: {' '.join(alive) or 'none'}")
    print(f"mutants that kill nothing: {' '.join(idle) or 'none'}")
    print("\n".join(["red on a correct variant:", *red]) if red else "red on a correct variant: none")
    return 1 if alive or idle or red else 0


def _kills(mutant: Mutant, proof: Proof) -> bool:
    return any(effect in (Effect.KILLED, Effect.UNDECLARED) for effect in proof.effects(mutant).values())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation.mutation_test",
        description="Run scenarios on mutants; each must fail on one of them, at the step that is about the fault.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a mutant or variant, or a component such as reference"
    )
    parser.add_argument("--page", action="store_true", help="run nothing: write docs/proof.md from proof.json")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
