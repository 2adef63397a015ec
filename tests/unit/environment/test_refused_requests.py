"""A request counts as refused when the API server refuses it, not when the policy was created."""

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

import pytest

from muster import timeouts
from muster.cluster.api import ApiRefused
from muster.cluster.run_scope import ScopedApi
from muster.environment.refused_requests import RefusedBindings, RefusedCreations
from muster.environment.scenario import ScenarioContext
from muster.errors import HarnessError, NotStaged

NOT_FOUND = ApiRefused(404, "NotFound", 'pods "train-1" not found', "bind")
REFUSED = ApiRefused(422, "Invalid", "denied request: this scenario refuses the request", "bind")


def refusals(*answers: ApiRefused, **api: Any) -> tuple[RefusedBindings, MagicMock]:
    """The answers of the API server to the bindings that are tried, one after the other."""
    fake = MagicMock(**api)
    fake.post.side_effect = answers
    scenario = SimpleNamespace(api=fake, namespace="space", note_activity=lambda: None)
    return RefusedBindings(cast(ScenarioContext, scenario)), fake


def test_the_policy_is_tried_until_it_is_in_force() -> None:
    bindings, api = refusals(NOT_FOUND, NOT_FOUND, REFUSED)
    bindings.refuse("train-1")
    assert api.post.call_count == 3
    assert all(call.kwargs == {"dryRun": "All"} for call in api.post.call_args_list)


def test_a_deleted_policy_is_tried_until_it_is_no_longer_in_force() -> None:
    bindings, api = refusals(REFUSED, REFUSED, NOT_FOUND)
    bindings.refuse("train-1")
    bindings.accept("train-1")
    assert api.post.call_count == 3
    deleted = api.delete.call_count
    bindings.cleanup()
    assert api.delete.call_count == deleted == 2, "nothing is left to delete"


def test_what_a_failed_scenario_leaves_is_deleted() -> None:
    bindings, api = refusals(REFUSED)
    bindings.refuse("train-1")
    bindings.cleanup()
    assert {call.args[1] for call in api.delete.call_args_list} == {"space-train-1-binding"}


def test_a_policy_without_effect_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "SETTING_UP", 0.1)
    bindings, api = refusals()
    api.post.side_effect = NOT_FOUND
    with pytest.raises(HarnessError, match="did not refuse the binding of train-1"):
        bindings.refuse("train-1")


def test_an_existing_cluster_gets_no_policy() -> None:
    bindings, api = refusals(REFUSED, spec=ScopedApi)
    with pytest.raises(NotStaged, match="cluster-wide"):
        bindings.refuse("train-1")
    api.create.assert_not_called()


def test_a_creation_is_forbidden_and_never_carried_out() -> None:
    """As by a quota: an operator may take what is invalid for a lost cause."""
    api = MagicMock()
    forbidden = ApiRefused(403, "Forbidden", "denied request: this scenario refuses the request", "create")
    api.dry_run.side_effect = [None, forbidden]
    scenario = SimpleNamespace(api=api, namespace="space", note_activity=lambda: None)
    RefusedCreations(cast(ScenarioContext, scenario)).refuse("train-worker-0")
    policy = api.create.call_args_list[0].args[0]
    assert policy["spec"]["validations"][0]["reason"] == "Forbidden"
    assert policy["spec"]["matchConstraints"]["resourceRules"][0]["resources"] == ["pods"]
    assert api.dry_run.call_count == 2
