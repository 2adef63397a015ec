"""Queues: shares of the cluster that gangs and pods wait in."""

from pytest_bdd import given, when

from muster.stage import Scene
from muster.subject.requests import GangRequest, PodRequest, QueueRequest
from steps.words import sentence


@given(sentence('a queue "{name}" with {most:GPUs}'))
def a_queue(scene: Scene, name: str, most: int) -> None:
    scene.groups.add_queue(QueueRequest(name, gpus=most))


@when(sentence('a gang "{name}" of {size:d} pods with {asked:GPUs} each is submitted to queue "{queue}"'))
def a_gang_is_queued(scene: Scene, name: str, size: int, asked: int, queue: str) -> None:
    pods = [PodRequest(f"{name}-{number}", asked) for number in range(size)]
    scene.groups.submit(GangRequest(name, size, queue=queue), pods)
