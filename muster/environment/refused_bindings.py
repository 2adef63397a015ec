"""Bindings that the API server refuses: a ValidatingAdmissionPolicy denies pods/binding for one pod, by its name.

Trap: the API server applies a new or deleted policy some time after it has answered. So a binding is tried until the
answer shows that it is in force: to a node that does not exist, and as a dry run, so that no pod is ever bound by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tenacity

from muster import timeouts
from muster.cluster.api import ApiRefused
from muster.cluster.resources import ADMISSION_POLICY, ADMISSION_POLICY_BINDING, POD
from muster.cluster.run_scope import ScopedApi
from muster.errors import HarnessError, NotStaged

if TYPE_CHECKING:
    from muster.environment.scenario import ScenarioContext

_REFUSAL = "this scenario refuses the binding"


class RefusedBindings:
    """`scenario.refused_bindings`: refuse the binding of a pod, and accept it again."""

    def __init__(self, scenario: ScenarioContext) -> None:
        self._scenario = scenario
        self._pods: list[str] = []

    def refuse(self, pod: str) -> None:
        """From now on the pod cannot be bound, whether it exists yet or not."""
        api, namespace = self._scenario.api, self._scenario.namespace
        if isinstance(api, ScopedApi):
            raise NotStaged("the scenario creates a ValidatingAdmissionPolicy, which is cluster-wide")
        self._pods.append(pod)
        for manifest in _policy(_name(namespace, pod), namespace, pod):
            api.create(manifest)
        self._wait_until(pod, refused=True)

    def accept(self, pod: str) -> None:
        """The pod can be bound again."""
        self._delete(pod)
        self._wait_until(pod, refused=False)
        self._scenario.note_activity()

    def cleanup(self) -> None:
        for pod in list(self._pods):
            self._delete(pod)

    def _delete(self, pod: str) -> None:
        self._pods.remove(pod)
        for kind in (ADMISSION_POLICY_BINDING, ADMISSION_POLICY):
            self._scenario.api.delete(kind, _name(self._scenario.namespace, pod))

    def _wait_until(self, pod: str, *, refused: bool) -> None:
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_not_result(lambda found: found is refused),
            wait=tenacity.wait_fixed(0.05),
            stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
        )
        try:
            attempts(self._is_refused, pod)
        except tenacity.RetryError:
            state = "refuse" if refused else "accept"
            raise HarnessError(f"the API server did not {state} the binding of {pod} in time") from None

    def _is_refused(self, pod: str) -> bool:
        target = {"apiVersion": "v1", "kind": "Node", "name": "no-such-node"}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": target}
        try:
            self._scenario.api.post(POD.path(self._scenario.namespace, pod, "binding"), body, dryRun="All")
        except ApiRefused as refusal:
            return _REFUSAL in refusal.message
        return False


def _name(namespace: str, pod: str) -> str:
    return f"{namespace}-{pod}"


def _policy(name: str, namespace: str, pod: str) -> tuple[dict[str, Any], dict[str, Any]]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
    in_namespace = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    policy = {
        "apiVersion": ADMISSION_POLICY.api_version,
        "kind": ADMISSION_POLICY.kind,
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": in_namespace},
            "validations": [{"expression": f"object.metadata.name != '{pod}'", "message": _REFUSAL}],
        },
    }
    binding = {
        "apiVersion": ADMISSION_POLICY_BINDING.api_version,
        "kind": ADMISSION_POLICY_BINDING.kind,
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    return policy, binding
