"""The five walk-throughs: the commands, their output, and the jobs behind them.

The last steps are those of variants, where the outcome depends on which pod of a job was preempted.
"""

from collections.abc import Callable

from pytest_bdd import given, then, when

from muster.arena.in_process import CommandResult, command_and_arguments
from muster.assertions.evaluation import Recording
from muster.assertions.event_order import WantedEvent, events_in_order
from muster.assertions.jobs import job_is, job_went_through
from muster.assertions.operator_objects import job_owns_exactly, remaining_pods_ended, replica_restarted
from muster.assertions.podgroup_table import PodGroupLine, podgroup_went_through
from muster.assertions.preemption import no_other_pod_evicted, preempted_event_names_node, victims_among
from muster.assertions.walkthroughs import (
    job_pods_are,
    one_preempted,
    output_contains,
    output_does_not_name,
    output_is,
)
from muster.environment import ScenarioContext
from muster.errors import ConformanceFailure
from muster.report.allure_files import attach
from steps.parsing import Names, rows, step_pattern

_PRIORITY_CLASS = "spec.runPolicy.schedulingPolicy.priorityClass"
_WORKERS = "spec.pytorchReplicaSpecs.Worker"


@given(step_pattern('the objects of the manifest "{manifest:Name}"'))
@when(step_pattern('the objects of the manifest "{manifest:Name}" are created'))
def manifest_objects_are_created(scenario: ScenarioContext, manifest: str) -> None:
    scenario.jobs.create_objects(manifest)


@when("the user runs:")
def user_runs(scenario: ScenarioContext, run_command: Callable[[str], CommandResult], docstring: str) -> None:
    """A command that does not succeed is a harness error: only what a working command shows can be a failure."""
    operator = scenario.jobs.ensure_operator()
    command, *arguments = command_and_arguments(docstring)
    if command == "submit":
        operator.check_job_kind(arguments[0])
    result = run_command(docstring)
    attach("answer", result.output)
    scenario.jobs.last_output = result.require_success(docstring)
    scenario.note_activity()


@then("the output is:")
def check_output_is(scenario: ScenarioContext, docstring: str) -> None:
    scenario.recording.must(output_is(scenario.jobs.last_output, docstring))


@then(step_pattern("the output does not contain the victim among {pods:Names}"))
def output_does_not_contain_victim(scenario: ScenarioContext, pods: Names) -> None:
    scenario.recording.must(output_does_not_name(scenario.jobs.last_output, _preempted_pod(scenario, pods)))


@then(step_pattern('the pods of job "{job:Name}" are:'))
def check_job_pods(recording: Recording, job: str, datatable: list[list[str]]) -> None:
    recording.must(job_pods_are(job, rows(datatable)))


@then(step_pattern('the PodGroup of job "{job:Name}" went through:'))
def check_podgroup_went_through(scenario: ScenarioContext, job: str, datatable: list[list[str]]) -> None:
    lines = [
        PodGroupLine(row["STATUS"], int(row["MINMEMBER"]), row["QUEUE"], int(row["RUNNINGS"] or 0))
        for row in rows(datatable)
    ]
    scenario.recording.must(podgroup_went_through(job, lines, scenario.scheduler.dialect.running_members))


@when(step_pattern('job "{job:Name}" is created from the manifest "{manifest:Name}"'))
def job_is_created(scenario: ScenarioContext, job: str, manifest: str) -> None:
    scenario.jobs.create_job(manifest, job)


@when(step_pattern('job "{job:Name}" is created from the manifest "{manifest:Name}", more than a second later'))
def job_is_created_later(scenario: ScenarioContext, job: str, manifest: str) -> None:
    scenario.wait_for_next_second()
    scenario.jobs.create_job(manifest, job)


@when(step_pattern('job "{job:Name}" is created from the manifest "{manifest:Name}" without its priority class'))
def job_is_created_without_priority_class(scenario: ScenarioContext, job: str, manifest: str) -> None:
    scenario.jobs.create_job(manifest, job, without=_PRIORITY_CLASS)


@when(step_pattern('job "{job:Name}" is created from the manifest "{manifest:Name}" without its workers'))
def job_is_created_without_workers(scenario: ScenarioContext, job: str, manifest: str) -> None:
    scenario.jobs.create_job(manifest, job, without=_WORKERS)


@then(step_pattern('a job from the manifest "{manifest:Name}" with {number:d} workers is rejected'))
def job_is_rejected(scenario: ScenarioContext, manifest: str, number: int) -> None:
    """By validation, with an error that names the field."""
    rejection = scenario.jobs.rejection(manifest, {f"{_WORKERS}.replicas": number})
    if not all(part in rejection for part in ("Worker", "replicas")):
        seen = rejection or "the API server accepts it"
        raise ConformanceFailure(f"wanted   a job with {number} workers rejected for that number\nseen     {seen}")


@when(step_pattern('job "{job:Name}" completes'))
def job_completes(scenario: ScenarioContext, job: str) -> None:
    """Wait for Running first: an operator may miss a job that ends as soon as it starts."""
    scenario.recording.set_up(job_is(job, "Running"))
    scenario.finish_pods(*scenario.groups.members(job))
    scenario.recording.must(job_is(job, "Succeeded"))


@then(step_pattern('job "{job:Name}" is {state:w}'))
def job_is_in_state(recording: Recording, job: str, state: str) -> None:
    recording.must(job_is(job, state))


@when(step_pattern('all remaining pods of job "{job:Name}" have finished'))
def remaining_pods_have_finished(recording: Recording, job: str) -> None:
    """No promise of the scheduler: the workload simulator ends the peers of a lost pod."""
    recording.set_up(remaining_pods_ended(job))


@then(step_pattern('job "{job:Name}" went from {first:w} to {second:w} to {third:w}'))
def job_went_through_states(recording: Recording, job: str, first: str, second: str, third: str) -> None:
    recording.must(job_went_through(job, first, second, third))


@then(step_pattern('a Preempted event on the victim among {pods:Names} names "{preemptor}" and the node'))
def preempted_event_on_victim_names_preemptor(recording: Recording, pods: Names, preemptor: str) -> None:
    recording.must(preempted_event_names_node(pods, preemptor))


@then(step_pattern('the events on "{pod:Name}" include, in this order:'))
def events_are_in_order(recording: Recording, pod: str, datatable: list[list[str]]) -> None:
    wanted = [WantedEvent(row["type"], row["reason"], row["message"]) for row in rows(datatable)]
    recording.must(events_in_order(pod, wanted))


@then("no other pod was evicted")
def check_no_other_pod_evicted(recording: Recording) -> None:
    recording.stays(no_other_pod_evicted())


def _preempted_pod(scenario: ScenarioContext, pods: Names) -> str:
    """The one that was preempted; a ConformanceFailure if it is not exactly one."""
    scenario.recording.must(one_preempted(pods))
    return victims_among(scenario.recording.history, pods)[0]


def _pods_of(job: str) -> Names:
    return f"{job}-master-0", f"{job}-worker-0", f"{job}-worker-1"


@then(step_pattern('job "{job:Name}" fails and keeps no pods if it lost its master, otherwise gets a new worker'))
def job_fails_or_gets_new_worker(scenario: ScenarioContext, job: str) -> None:
    lost = _preempted_pod(scenario, _pods_of(job))
    if lost.endswith("-master-0"):
        scenario.recording.must(job_is(job, "Failed"))
        scenario.recording.stays(job_owns_exactly(job, ()))
    else:
        scenario.recording.stays(replica_restarted(job, lost))


@then(
    step_pattern('the output shows job "{job:Name}" without instances if it lost its master, otherwise its new worker')
)
def output_shows_failed_job_or_new_worker(scenario: ScenarioContext, job: str) -> None:
    lost = _preempted_pod(scenario, _pods_of(job))
    output = scenario.jobs.last_output
    if lost.endswith("-master-0"):
        scenario.recording.must(output_contains(output, "Status: FAILED"))
        for pod in _pods_of(job):
            scenario.recording.must(output_does_not_name(output, pod))
        return
    scenario.recording.must(output_contains(output, f"Status: PENDING\n{lost} Pending * false 4 N/A"))


@then(step_pattern('a job from the manifest "{manifest:Name}" with {number:d} workers is accepted'))
def job_is_accepted(scenario: ScenarioContext, manifest: str, number: int) -> None:
    if rejection := scenario.jobs.rejection(manifest, {f"{_WORKERS}.replicas": number}):
        raise ConformanceFailure(f"wanted   a job with {number} workers accepted\nseen     {rejection}")
