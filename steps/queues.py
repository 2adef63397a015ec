"""Queues: shares of the cluster that gangs wait in, in an order."""

from dataclasses import replace

from pytest_bdd import given, then, when

from muster.chronicle.queues import (
    counted_running,
    declared,
    goes_forward,
    is_queued,
    shares,
    started_whole,
    succeeded,
    whole_before_any,
    within_capability,
)
from muster.chronicle.sayings import explains
from muster.stage import Scene
from muster.stage.queues import dismiss, operate, promote
from muster.subject.requests import GangRequest, PodRequest, QueueRequest
from steps.words import rows, sentence

_QUEUE = 'a queue "{name:Name}" with {most:GPUs}'
_GANG = 'a gang "{name:Name}" of {pods:Shape}'
_SUBMITTED = _GANG + ' is submitted to queue "{queue:Name}"'
Pods = tuple[PodRequest, ...]
_Gang = tuple[GangRequest, list[PodRequest]]


def _gang(
    name: str, queue: str, pods: Pods, priority: int | None = None, chosen: str = "", *, gated: bool = False
) -> _Gang:
    """A gang in a queue; its pods are called after it, and are as important as it is."""
    request = GangRequest(name, len(pods), queue=queue, priority=priority, priority_class=chosen)
    members = [
        replace(pod, name=f"{name}-{number}", priority=priority, priority_class=chosen, gated=gated)
        for number, pod in enumerate(pods)
    ]
    return request, members


@given(sentence(_QUEUE))
@when(sentence(_QUEUE + " is created"))
def a_queue(scene: Scene, name: str, most: int) -> None:
    scene.groups.add_queue(QueueRequest(name, gpus=most))


@given(sentence(_QUEUE + ", {cpus:d} CPUs and {memory} of memory"))
def a_queue_with_more_limits(scene: Scene, name: str, most: int, cpus: int, memory: str) -> None:
    scene.groups.add_queue(QueueRequest(name, gpus=most, cpus=cpus, memory=memory))


@given(sentence(_QUEUE + ", served strictly in order"))
def a_strict_queue(scene: Scene, name: str, most: int) -> None:
    scene.groups.add_queue(QueueRequest(name, gpus=most, strictly_in_order=True))


@given(sentence(_QUEUE + ", whose head is not to be delayed"))
def a_queue_that_protects_its_head(scene: Scene, name: str, most: int) -> None:
    scene.groups.add_queue(QueueRequest(name, gpus=most, protects_head=True))


@given(sentence('a queue "{name:Name}" of weight {weight:d}'))
def a_weighted_queue(scene: Scene, name: str, weight: int) -> None:
    scene.groups.add_queue(QueueRequest(name, weight=weight))


@given(sentence('a queue "{name:Name}" of weight {weight:d} that lends what it does not use'))
def a_lending_queue(scene: Scene, name: str, weight: int) -> None:
    scene.groups.add_queue(QueueRequest(name, weight=weight, lends=True))


@given(
    sentence(
        'a queue "{name:Name}" of weight {weight:d} that lends what it does not use, down to {floor:d} guaranteed GPUs'
    )
)
def a_queue_with_a_guarantee(scene: Scene, name: str, weight: int, floor: int) -> None:
    scene.groups.add_queue(QueueRequest(name, weight=weight, lends=True, guaranteed_gpus=floor))


@when("preemption is switched off")
@given("preemption is not switched on")
def no_preemption(scene: Scene) -> None:
    if "preemption" in scene.subject.claims(scene.subject.configuration):
        scene.configure(preemption="off")


@given(sentence(_GANG + ' running in queue "{queue:Name}" at priority {priority:d}'))
def a_gang_runs_in(scene: Scene, name: str, pods: Pods, queue: str, priority: int) -> None:
    scene.groups.running(*_gang(name, queue, pods, priority))


@given(sentence(_GANG + ' running in queue "{queue:Name}"'))
def a_plain_gang_runs_in(scene: Scene, name: str, pods: Pods, queue: str) -> None:
    scene.groups.running(*_gang(name, queue, pods))


@given(sentence(_GANG + ' running in queue "{queue:Name}", {minimum:d} of them needed'))
def an_elastic_gang_runs_in(scene: Scene, name: str, pods: Pods, queue: str, minimum: int) -> None:
    request, members = _gang(name, queue, pods)
    scene.groups.running(replace(request, minimum=minimum), members)


@when(sentence(_SUBMITTED))
def a_gang_is_queued(scene: Scene, name: str, pods: Pods, queue: str) -> None:
    scene.groups.submit(*_gang(name, queue, pods))


@when(sentence(_SUBMITTED + " at priority {priority:d}"))
def an_important_gang_is_queued(scene: Scene, name: str, pods: Pods, queue: str, priority: int) -> None:
    scene.groups.submit(*_gang(name, queue, pods, priority))


@when(sentence(_SUBMITTED + ' with the priority class "{chosen:Name}"'))
def a_gang_of_a_class_is_queued(scene: Scene, name: str, pods: Pods, queue: str, chosen: str) -> None:
    scene.groups.submit(*_gang(name, queue, pods, chosen=chosen))


@when(sentence(_SUBMITTED + ", more than a second later"))
def a_younger_gang_is_queued(scene: Scene, name: str, pods: Pods, queue: str) -> None:
    scene.next_second()
    scene.groups.submit(*_gang(name, queue, pods))


@when(sentence(_SUBMITTED + " with its pods gated"))
def a_gated_gang_is_queued(scene: Scene, name: str, pods: Pods, queue: str) -> None:
    scene.groups.submit(*_gang(name, queue, pods, gated=True))


@when("gangs ask their queues while the scheduler looks away:")
def rival_gangs_are_queued(scene: Scene, datatable: list[list[str]]) -> None:
    with scene.scheduler_paused():
        for row in rows(datatable):
            pods = (PodRequest("", int(row["GPUs"])),) * int(row["pods"])
            scene.groups.submit(*_gang(row["gang"], row["queue"], pods))


@when(
    sentence(
        "{number:d} gangs of 1 pod with {asked:GPUs} ask each of the queues {queues:Names}"
        " while the scheduler looks away"
    )
)
def a_crowd_asks(scene: Scene, number: int, asked: int, queues: tuple[str, ...]) -> None:
    with scene.scheduler_paused():
        for turn in range(number):
            for queue in queues:
                scene.groups.submit(*_gang(f"{queue}-{turn}", queue, (PodRequest("", asked),)))


@when(sentence('queue "{name:Name}" is closed'))
def a_queue_is_closed(scene: Scene, name: str) -> None:
    operate(scene, name, opened=False)


@when(sentence('queue "{name:Name}" is opened'))
def a_queue_is_opened(scene: Scene, name: str) -> None:
    operate(scene, name, opened=True)


@when(sentence('the gang "{name:Name}" is raised to priority {priority:d}'))
def a_gang_is_raised(scene: Scene, name: str, priority: int) -> None:
    promote(scene, name, priority)


@when(sentence('the gates of the gang "{name:Name}" are lifted'))
def the_gates_are_lifted(scene: Scene, name: str) -> None:
    for pod in scene.groups.members(name):
        scene.ungate(pod)


@when(sentence('the gang "{name:Name}" finishes and is cleared away'))
def a_gang_is_cleared_away(scene: Scene, name: str) -> None:
    scene.finish(*scene.groups.members(name))
    dismiss(scene, name)


@when(sentence('the gang "{name:Name}" finishes, its pods are deleted and its group stays'))
def only_the_group_stays(scene: Scene, name: str) -> None:
    scene.finish(*scene.groups.members(name))
    for pod in scene.groups.members(name):
        scene.remove(pod)
    scene.chronicle.prove_live()  # the scheduler has had a look at what is left


@then(sentence('the gang "{name:Name}" is queued'))
def the_gang_is_queued(scene: Scene, name: str) -> None:
    scene.chronicle.stays(is_queued(name, scene.groups.members(name), scene.subject.dialect))


@then(sentence('every pod of "{first:Name}" was bound before any pod of "{second:Name}"'))
def one_gang_before_the_other(scene: Scene, first: str, second: str) -> None:
    wanted = f"every pod of {first} bound before any pod of {second}"
    scene.chronicle.must(whole_before_any(scene.groups.members(first), scene.groups.members(second), wanted))


@then(
    sentence("exactly {number:Count} of the gangs {gangs:Names} has started whole, and nobody of the others is bound")
)
@then(
    sentence("exactly {number:Count} of the gangs {gangs:Names} have started whole, and nobody of the others is bound")
)
def so_many_gangs_started(scene: Scene, number: int, gangs: tuple[str, ...]) -> None:
    scene.chronicle.stays(started_whole({name: scene.groups.members(name) for name in gangs}, number))


@then(sentence('queue "{name:Name}" never used more than its capability'))
def never_above_capability(scene: Scene, name: str) -> None:
    scene.chronicle.must(within_capability(name, scene.subject.dialect))


@then(sentence('the group of the gang "{name:Name}" went from waiting to running and never back'))
def the_group_went_forward(scene: Scene, name: str) -> None:
    scene.chronicle.must(goes_forward(name, scene.subject.dialect))


@then(sentence('the group of the gang "{name:Name}" counted {number:d} running pods'))
def the_group_counted(scene: Scene, name: str, number: int) -> None:
    scene.chronicle.must(counted_running(name, number, scene.subject.dialect))


@then(sentence("all pods of the gangs {gangs:Names} have succeeded"))
def they_have_succeeded(scene: Scene, gangs: tuple[str, ...]) -> None:
    scene.chronicle.must(succeeded(tuple(pod for gang in gangs for pod in scene.groups.members(gang))))


@then("the GPUs in use, give or take one, are:")
def the_queues_share(scene: Scene, datatable: list[list[str]]) -> None:
    table = {row["queue"]: int(row["GPUs"]) for row in rows(datatable)}
    scene.chronicle.stays(shares(table, scene.subject.dialect, give_or_take=1))


@then(sentence('"{pod:Name}" is told that queue "{queue:Name}" keeps it waiting'))
def told_about_its_queue(scene: Scene, pod: str, queue: str) -> None:
    """Where a part that does not run here would tell it, as an admission webhook does, there is nothing to judge."""
    if scene.subject.dialect.tells_why_a_queue_refuses:
        scene.chronicle.must(explains(pod, (queue,)))


@then(sentence('the group of the gang "{name:Name}" needs {number:d} pods and is in queue "{queue:Name}"'))
@then(sentence('the group of the gang "{name:Name}" needs {number:d} pod and is in queue "{queue:Name}"'))
def the_group_says(scene: Scene, name: str, number: int, queue: str) -> None:
    scene.chronicle.must(declared(name, number, queue, scene.subject.dialect))
