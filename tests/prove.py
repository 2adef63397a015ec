"""Every scenario goes red on a scheduler that is broken in its way: run the suite on broken ones and keep the score.

    python -m tests.prove    prints the kill matrix, writes docs/proof.md; ends with 1 if a scenario survives them all

A scenario that cannot fail is a defect. A mutant is kube-scheduler with a broken configuration (tests/mutants/), with a
saboteur beside it (tests/saboteur.py), or both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROOF = HERE.parent / "docs" / "proof.md"
IMPATIENCE = "0.3"  # a broken scheduler never does what is waited for: wait less for it


@dataclass(frozen=True)
class Mutant:
    """A scheduler broken on purpose."""

    name: str
    what: str
    configuration: str = ""
    sabotage: str = ""

    @property
    def scheduler(self) -> str:
        return f"kube-scheduler:{HERE / 'mutants' / self.configuration}" if self.configuration else "kube-scheduler"


MUTANTS = (
    Mutant("no preemption", "the plugin DefaultPreemption is off", "no-preemption.yaml"),
    Mutant("no taints", "the plugins TaintToleration and NodeUnschedulable are off", "no-taints.yaml"),
    Mutant(
        "reckless", "every new pod is bound at once to the newest node, whatever room and taints say", "", "reckless"
    ),
    Mutant("massacre", "when one pod is preempted, all less important ones are evicted as well", "", "massacre"),
    Mutant("trigger-happy", "a running pod is evicted as soon as another one asks", "", "trigger-happy"),
    Mutant("silent", "a pod is deleted for a waiting one, without condition or event", "no-preemption.yaml", "silent"),
    Mutant("merciless", "a NoExecute taint drives every pod out at once, whatever it tolerates", "", "merciless"),
)


def judge(mutant: Mutant, results: Path) -> dict[str, str]:
    """The verdict of each scenario on this mutant."""
    environment = {**os.environ, "MUSTER_TIMEOUT_SCALE": IMPATIENCE}
    if mutant.sabotage:
        environment["MUSTER_SABOTEUR"] = f"{sys.executable} {HERE / 'saboteur.py'} {mutant.sabotage}"
    command = [sys.executable, "-m", "muster", "run", "--workers", "2", "--scheduler", mutant.scheduler]
    subprocess.run(
        [*command, "--results", str(results)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    lines = (results / "results.jsonl").read_text().splitlines()
    judged = [one for one in map(json.loads, lines) if one["verdict"] not in ("not-supported", "not-staged")]
    return {one["id"]: one["verdict"] for one in judged}


def matrix(verdicts: dict[str, dict[str, str]]) -> list[str]:
    ids = sorted({each for column in verdicts.values() for each in column})
    head = [" | ".join(["behaviour", *verdicts]), " | ".join(["---"] * (len(verdicts) + 1))]
    body = [" | ".join([one, *(column.get(one, "-") for column in verdicts.values())]) for one in ids]
    return [f"| {row} |" for row in head + body]


def main() -> int:
    verdicts: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as directory:
        for mutant in MUTANTS:
            verdicts[mutant.name] = judge(mutant, Path(directory, mutant.name.replace(" ", "-")))
            red = [one for one, verdict in verdicts[mutant.name].items() if verdict == "failed"]
            print(f"{mutant.name}: {len(red)} red: {' '.join(sorted(red))}", flush=True)
    ids = {each for column in verdicts.values() for each in column}
    survivors = sorted(one for one in ids if all(column.get(one) != "failed" for column in verdicts.values()))
    text = [
        "# Every scenario has been seen red",
        "",
        "Made by `make prove`: the suite on schedulers that are broken on purpose. A scenario is worth its green only",
        "if there is a red in its row. (*error* means that the scenario could not even be set up on that mutant.)",
        "",
        *(f"- **{mutant.name}**: {mutant.what}" for mutant in MUTANTS),
        "",
        *matrix(verdicts),
    ]
    PROOF.write_text("\n".join(text) + "\n")
    print(f"survivors: {' '.join(survivors) or 'none'}; written to {PROOF.relative_to(HERE.parent)}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
