"""A kind of training job is complete: the harness and the reference operator know it, and so do CRDs and RBAC."""

from __future__ import annotations

import pytest
import yaml

from muster.cluster.job_kinds import JOB_KINDS, JobKind
from muster.suite.paths import suite_root
from scheduler.operator.job_kinds import KINDS

MANIFESTS = suite_root() / "manifests"


def test_the_operator_reconciles_the_kinds_that_the_harness_knows() -> None:
    assert sorted(KINDS) == sorted(kind.kind for kind in JOB_KINDS)


@pytest.mark.parametrize("kind", JOB_KINDS, ids=lambda kind: kind.kind)
def test_a_kind_has_its_crd_and_its_permissions(kind: JobKind) -> None:
    crd = yaml.safe_load((MANIFESTS / "crds" / f"{kind.crd}.yaml").read_text())
    assert crd["spec"]["names"] == {**crd["spec"]["names"], "kind": kind.kind, "plural": kind.plural}
    served = {version["name"] for version in crd["spec"]["versions"] if version["served"]}
    assert served == {"v1", *kind.versions, *kind.other_versions}
    rules = [
        rule for role in yaml.safe_load_all((MANIFESTS / "rbac" / "muster.yaml").read_text()) for rule in role["rules"]
    ]
    assert sum(kind.plural in rule["resources"] for rule in rules) >= 2  # where it looks, and where it creates
