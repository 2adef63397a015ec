"""Requests that the API server refuses: a ValidatingAdmissionPolicy denies them for one pod, by its name.

Trap: the API server applies a new or deleted policy some time after it has answered. So the request is tried until the
answer shows that it is in force: as a dry run, so that no pod is ever bound or created by it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import tenacity

from muster import timeouts
from muster.cluster.api import ApiRefused
from muster.cluster.resources import ADMISSION_POLICY, ADMISSION_POLICY_BINDING, POD
from muster.cluster.run_scope import ScopedApi
from muster.errors import HarnessError, NotStaged

if TYPE_CHECKING:
    from muster.environment.scenario import ScenarioContext

_REFUSAL = "this scenario refuses the request"


class RefusedRequests(ABC):
    """Refuse one kind of request for a pod, and accept it again."""

    request: ClassVar[str]  # for the reader of an error
    resource: ClassVar[str]  # that the request creates
    reason: ClassVar[str]  # of the refusal, which decides its status code

    def __init__(self, scenario: ScenarioContext) -> None:
        self._scenario = scenario
        self._pods: list[str] = []

    @abstractmethod
    def _attempt(self, pod: str) -> None:
        """The request as a dry run; raises ApiRefused."""

    def refuse(self, pod: str) -> None:
        """From now on it is refused, whether the pod exists yet or not."""
        api = self._scenario.api
        if isinstance(api, ScopedApi):
            raise NotStaged("the scenario creates a ValidatingAdmissionPolicy, which is cluster-wide")
        self._pods.append(pod)
        for manifest in self._policy(pod):
            api.create(manifest)
        self._wait_until(pod, refused=True)

    def accept(self, pod: str) -> None:
        """It is possible again."""
        self._delete(pod)
        self._wait_until(pod, refused=False)
        self._scenario.note_activity()

    def cleanup(self) -> None:
        for pod in list(self._pods):
            self._delete(pod)

    def _delete(self, pod: str) -> None:
        self._pods.remove(pod)
        for kind in (ADMISSION_POLICY_BINDING, ADMISSION_POLICY):
            self._scenario.api.delete(kind, self._name(pod))

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
            raise HarnessError(f"the API server did not {state} the {self.request} of {pod} in time") from None

    def _is_refused(self, pod: str) -> bool:
        try:
            self._attempt(pod)
        except ApiRefused as refusal:
            return _REFUSAL in refusal.message
        return False

    def _name(self, pod: str) -> str:
        return f"{self._scenario.namespace}-{pod}-{self.request}"

    def _policy(self, pod: str) -> tuple[dict[str, Any], dict[str, Any]]:
        name, namespace = self._name(pod), self._scenario.namespace
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [self.resource]}
        in_namespace = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
        validation = {"expression": f"object.metadata.name != '{pod}'", "message": _REFUSAL, "reason": self.reason}
        policy = {
            "apiVersion": ADMISSION_POLICY.api_version,
            "kind": ADMISSION_POLICY.kind,
            "metadata": {"name": name},
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": [rule], "namespaceSelector": in_namespace},
                "validations": [validation],
            },
        }
        binding = {
            "apiVersion": ADMISSION_POLICY_BINDING.api_version,
            "kind": ADMISSION_POLICY_BINDING.kind,
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        }
        return policy, binding


class RefusedBindings(RefusedRequests):
    """`scenario.refused_bindings`: a pod cannot be bound. It is tried with a node that does not exist."""

    request = "binding"
    resource = "pods/binding"
    reason = "Invalid"

    def _attempt(self, pod: str) -> None:
        target = {"apiVersion": "v1", "kind": "Node", "name": "no-such-node"}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": target}
        self._scenario.api.post(POD.path(self._scenario.namespace, pod, "binding"), body, dryRun="All")


class RefusedCreations(RefusedRequests):
    """`scenario.refused_creations`: a pod cannot be created; it is forbidden, as by a quota, and not invalid."""

    request = "creation"
    resource = "pods"
    reason = "Forbidden"

    def _attempt(self, pod: str) -> None:
        metadata = {"name": pod, "namespace": self._scenario.namespace}
        spec = {"containers": [{"name": "tried", "image": "tried"}]}
        self._scenario.api.dry_run({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
