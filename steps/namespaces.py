"""Gangs in two namespaces: what a pod or a PodGroup of another namespace must not change."""

from pytest_bdd import given, when

from muster.environment import ScenarioContext
from muster.schedulers.requests import GangRequest, PodRequest
from steps.parsing import step_pattern


@given(step_pattern('a second namespace "{name}"'))
def second_namespace(scenario: ScenarioContext, name: str) -> None:
    scenario.add_namespace(name)


@when(
    step_pattern(
        'the PodGroup of gang "{gang:Name}" is created with minMember {min_member:d} in namespace "{namespace:Name}"'
    )
)
def pod_group_is_created_in_namespace(scenario: ScenarioContext, gang: str, min_member: int, namespace: str) -> None:
    scenario.groups.create_group(GangRequest(gang, min_member, namespace=namespace))


@when(
    step_pattern('pod "{pod:Name}" with {gpus:GPUs} in namespace "{namespace:Name}" names the PodGroup "{gang:Name}"')
)
def pod_of_namespace_names_pod_group(scenario: ScenarioContext, pod: str, gpus: int, namespace: str, gang: str) -> None:
    """Not a member of the scenario's gang of that name, whatever a scheduler makes of it."""
    scenario.submit(PodRequest(pod, gpus, gang=gang, namespace=namespace))
