"""The five documents: what a person types, what comes back, and the jobs behind it."""

from pytest_bdd import given, then, when

from muster.chronicle.documents import answer_reads, events_in_order, nobody_else_evicted, preempted_of, victim_told
from muster.chronicle.jobs import job_is, job_went
from muster.chronicle.operators import rest_ended
from muster.cli.typing import typed
from muster.errors import BehaviourViolated
from muster.report.attachments import attach
from muster.stage import Scene
from steps.words import sentence

_PRIORITY_CLASS = "spec.runPolicy.schedulingPolicy.priorityClass"
_WORKERS = "spec.pytorchReplicaSpecs.Worker"


@given(sentence('what the manifest "{file:Name}" describes'))
@when(sentence('what the manifest "{file:Name}" describes is created'))
def a_manifest_is_created(scene: Scene, file: str) -> None:
    scene.jobs.apply(file)


@when("a person types:")
@when("types:")
def a_command_is_typed(scene: Scene, docstring: str) -> None:
    operator = scene.jobs.expect()
    _, command, *words = docstring.split()
    if command == "submit":
        operator.must_carry_out(words[0])
    client = scene.client()
    answer = client.typed(docstring) if client else typed(docstring, scene.subject.workplace.admin)
    scene.jobs.answer = answer.text
    attach("answer", answer.text)
    scene.touch()
    if answer.code:
        raise BehaviourViolated(f"wanted   an answer to: {docstring}\nseen     exit code {answer.code}: {answer.text}")


@then("the answer reads:")
def the_answer_reads(scene: Scene, docstring: str) -> None:
    answer_reads(scene.jobs.answer, docstring)


@then(sentence("the answer does not show the one of {pods:Names} that was preempted"))
def the_victim_is_not_shown(scene: Scene, pods: tuple[str, ...]) -> None:
    (victim,) = preempted_of(scene.chronicle.history, pods)
    if victim in scene.jobs.answer:
        raise BehaviourViolated(f"wanted   {victim} no more among the instances\nseen     {scene.jobs.answer}")


@when(sentence('job "{called:Name}" is created from the manifest "{file:Name}"'))
def a_job_is_created(scene: Scene, called: str, file: str) -> None:
    scene.jobs.create(file, called)


@when(sentence('job "{called:Name}" is created from the manifest "{file:Name}", more than a second later'))
def a_younger_job_is_created(scene: Scene, called: str, file: str) -> None:
    scene.next_second()
    scene.jobs.create(file, called)


@when(sentence('job "{called:Name}" is created from the manifest "{file:Name}" without its priority class'))
def an_unimportant_job_is_created(scene: Scene, called: str, file: str) -> None:
    scene.jobs.create(file, called, without=_PRIORITY_CLASS)


@when(sentence('job "{called:Name}" is created from the manifest "{file:Name}" without its workers'))
def a_small_job_is_created(scene: Scene, called: str, file: str) -> None:
    scene.jobs.create(file, called, without=_WORKERS)


@then(sentence('a job of the manifest "{file:Name}" with {number:d} workers is refused'))
def such_a_job_is_refused(scene: Scene, file: str, number: int) -> None:
    if not scene.jobs.refusal(file, {f"{_WORKERS}.replicas": number}):
        raise BehaviourViolated(f"wanted   a job with {number} workers refused\nseen     the API server takes it")


@when(sentence('job "{called:Name}" runs to its end'))
def a_job_ends(scene: Scene, called: str) -> None:
    """Training lasts longer than an operator needs to see that it has begun."""
    scene.chronicle.staged(job_is(called, "Running"))
    scene.finish(*scene.groups.members(called))
    scene.chronicle.must(job_is(called, "Succeeded"))


@then(sentence('job "{called:Name}" is {state:w}'))
def the_job_is(scene: Scene, called: str, state: str) -> None:
    scene.chronicle.must(job_is(called, state))


@then(sentence('what is left of job "{called:Name}" has ended'))
def the_rest_has_ended(scene: Scene, called: str) -> None:
    """Those who lose a peer are ended by the harness: when it is slow, nobody is to blame."""
    scene.chronicle.staged(rest_ended(called))


@then(sentence('job "{called:Name}" went from {first:w} to {second:w} to {third:w}'))
def the_job_went(scene: Scene, called: str, first: str, second: str, third: str) -> None:
    scene.chronicle.must(job_went(called, first, second, third))


@then(sentence('an event about the preempted one of {pods:Names} names "{preemptor}" and the node'))
def the_event_about_the_victim(scene: Scene, pods: tuple[str, ...], preemptor: str) -> None:
    scene.chronicle.must(victim_told(pods, preemptor))


@then(sentence('the events about "{pod:Name}" are {reasons:Names}, in this order'))
def the_events_are(scene: Scene, pod: str, reasons: tuple[str, ...]) -> None:
    scene.chronicle.must(events_in_order(pod, reasons))


@then("nobody else was evicted")
def nobody_else_was_evicted(scene: Scene) -> None:
    scene.chronicle.stays(nobody_else_evicted())


@then(sentence('the answer does not show "{name:Name}"'))
def it_is_not_shown(scene: Scene, name: str) -> None:
    if name in scene.jobs.answer:
        raise BehaviourViolated(f"wanted   {name} not in the answer\nseen     {scene.jobs.answer}")
