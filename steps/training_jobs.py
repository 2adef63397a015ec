"""Training jobs, and the objects that an operator creates for them.

Settings are tables of API fields: those of a role start with it ("Worker.restartPolicy"), all others but elasticPolicy
belong to the job's runPolicy. "schedulingPolicy.priority" stands for a PriorityClass of that value, and "another
controller" for the value of managedBy that admission webhooks accept beside the operator's own.
"""

from typing import Any

import yaml
from pytest_bdd import given, then, when

from muster.assertions.evaluation import Recording
from muster.assertions.jobs import (
    job_deleted_after,
    job_failed_after,
    job_is,
    job_never_was,
    job_times_consistent,
    never_reconciled,
    replica_statuses,
)
from muster.assertions.operator_objects import (
    created,
    created_once,
    created_times,
    has_launcher,
    job_owns_exactly,
    job_rejected_for,
    launcher_created_after_workers,
    launchers_of,
    never_owned_anything,
    never_owned_other_pods,
    no_pod_group,
    nothing_left,
    pod_environment,
    pod_group_spec,
    pod_labels,
    remaining_pods_ended,
    replica_restarted,
    runs_again,
    services_created_first,
    variable_or_rejection,
    warning_event_contains,
)
from muster.assertions.pods import gone
from muster.cluster.job_kinds import OTHER_MANAGER
from muster.cluster.resources import POD
from muster.environment import ScenarioContext
from muster.errors import ConformanceFailure
from muster.operators.base import ALL_JOBS, DECLARED_JOBS, TRAINING_OPERATOR
from muster.recording.quantities import GPU
from muster.recording.questions import eventually
from steps.parsing import Names, rows, step_pattern

_JOB = 'a PyTorch job "{name:Name}" of 1 master and {workers:d} workers'
_SMALL_JOB = 'a PyTorch job "{name:Name}" of 1 master and 1 worker'
_KILLS = 3  # in a row, so that the operator is also killed while it starts


def _settings(scenario: ScenarioContext, table: list[list[str]]) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for path, text in table:
        if path == "schedulingPolicy.priority":
            changed["spec.runPolicy.schedulingPolicy.priorityClass"] = scenario.priority_class(int(text))
        elif text == "another controller":
            changed[f"spec.runPolicy.{path}"] = OTHER_MANAGER
        else:
            changed[f"spec.{_parent(path)}{path}"] = yaml.safe_load(text)
    return changed


def _parent(path: str) -> str:
    if path.startswith("elasticPolicy."):
        return ""
    return "pytorchReplicaSpecs." if path[0].isupper() else "runPolicy."


@given("an operator that applies the restartPolicy of each role")
def operator_applies_restart_policy(scenario: ScenarioContext) -> None:
    scenario.jobs.ensure_operator(profile=TRAINING_OPERATOR)


@given("an operator under which every job is a gang")
def every_job_is_a_gang(scenario: ScenarioContext) -> None:
    scenario.jobs.ensure_operator(gang_jobs=ALL_JOBS).check_gangs(ALL_JOBS)


@given("an operator under which only jobs with a schedulingPolicy are gangs")
def declared_jobs_are_gangs(scenario: ScenarioContext) -> None:
    scenario.jobs.ensure_operator(gang_jobs=DECLARED_JOBS).check_gangs(DECLARED_JOBS)


@given(step_pattern('the API server refuses the creation of "{pod:Name}"'))
def creation_is_refused(scenario: ScenarioContext, pod: str) -> None:
    scenario.refused_creations.refuse(pod)


@when(step_pattern(_SMALL_JOB + " is created"))
def small_pytorch_job_is_created(scenario: ScenarioContext, name: str) -> None:
    scenario.jobs.create_job("pytorch", name)


@when(step_pattern(_JOB + " is created"))
def pytorch_job_is_created(scenario: ScenarioContext, name: str, workers: int) -> None:
    scenario.jobs.create_job("pytorch", name, changed={"spec.pytorchReplicaSpecs.Worker.replicas": workers})


@when(step_pattern(_SMALL_JOB + " is created with:"))
def small_pytorch_job_is_created_with(scenario: ScenarioContext, name: str, datatable: list[list[str]]) -> None:
    scenario.jobs.create_job("pytorch", name, changed=_settings(scenario, datatable))


@when(step_pattern(_JOB + " is created with:"))
def pytorch_job_is_created_with(scenario: ScenarioContext, name: str, workers: int, datatable: list[list[str]]) -> None:
    settings = _settings(scenario, datatable)
    scenario.jobs.create_job("pytorch", name, changed={"spec.pytorchReplicaSpecs.Worker.replicas": workers, **settings})


@when(step_pattern('an MPI job "{name:Name}" of {workers:d} workers is created'))
def mpi_job_is_created(scenario: ScenarioContext, name: str, workers: int) -> None:
    scenario.jobs.create_job("mpi", name, changed={"spec.replicas": workers})


@when(step_pattern('"{pod:Name}" ends with exit code {code:d}'))
def pod_exits(scenario: ScenarioContext, pod: str, code: int) -> None:
    scenario.faults.crash(pod, code)


@when(step_pattern('"{pod:Name}" ends with exit code {code:d}, {times:d} times'))
def pod_exits_repeatedly(scenario: ScenarioContext, pod: str, code: int, times: int) -> None:
    """Each time it is created again and runs before it ends again."""
    scenario.faults.crash(pod, code)
    for restarts in range(1, times):
        scenario.recording.must(runs_again(pod, restarts))
        scenario.faults.crash(pod, code)


@when(step_pattern('job "{name:Name}" is scaled to 1 worker'))
def job_is_scaled_down(scenario: ScenarioContext, name: str) -> None:
    scenario.jobs.patch_spec(name, {"pytorchReplicaSpecs": {"Worker": {"replicas": 1}}})


@when(step_pattern('the launcher of job "{name:Name}" ends with exit code {code:d}'))
def launcher_exits(scenario: ScenarioContext, name: str, code: int) -> None:
    scenario.recording.set_up(has_launcher(name))
    (launcher,) = launchers_of(scenario.recording.history, name)
    scenario.faults.crash(launcher, code)


@when(step_pattern('"{pod:Name}" is preempted'))
def pod_is_preempted(scenario: ScenarioContext, pod: str) -> None:
    scenario.faults.preempt(pod)


@when(step_pattern('job "{name:Name}" is suspended'))
def job_is_suspended(scenario: ScenarioContext, name: str) -> None:
    scenario.jobs.patch_spec(name, {"runPolicy": {"suspend": True}})


@when(step_pattern('job "{name:Name}" is resumed'))
def job_is_resumed(scenario: ScenarioContext, name: str) -> None:
    scenario.jobs.patch_spec(name, {"runPolicy": {"suspend": False}})


@when(step_pattern('job "{name:Name}" is deleted'))
def job_is_deleted(scenario: ScenarioContext, name: str) -> None:
    scenario.jobs.delete(name)


@when(step_pattern('the operator is killed as soon as "{pod:Name}" exists, and restarted'))
def operator_is_killed_once_pod_exists(scenario: ScenarioContext, pod: str) -> None:
    scenario.recording.set_up(eventually(created(pod)))
    operator_is_killed(scenario)


@when("the operator is killed and restarted")
def operator_is_killed(scenario: ScenarioContext) -> None:
    operator = scenario.jobs.ensure_operator()
    for _ in range(_KILLS):
        operator.kill()
        operator.start()
    scenario.note_activity()


@when(step_pattern('"{pod:Name}" is deleted while the operator is down'))
def pod_is_deleted_while_operator_is_down(scenario: ScenarioContext, pod: str) -> None:
    operator = scenario.jobs.ensure_operator()
    operator.kill()
    scenario.api.delete(POD, pod, scenario.namespace, grace=0)
    scenario.recording.set_up(eventually(gone(pod)))
    operator.start()
    scenario.note_activity()


@then(step_pattern(_SMALL_JOB + ' is rejected for "{field:Name}" with:'))
def small_pytorch_job_is_rejected(scenario: ScenarioContext, name: str, field: str, datatable: list[list[str]]) -> None:
    """By validation, with an error that names the field."""
    rejection = scenario.jobs.rejection("pytorch", _settings(scenario, datatable), name=name)
    if field not in rejection:
        seen = rejection or "the API server accepts it"
        raise ConformanceFailure(f"wanted   job {name} rejected for {field}\nseen     {seen}")


@then(step_pattern('job "{name:Name}" consists of {pods:Names}'))
def job_consists_of(recording: Recording, name: str, pods: Names) -> None:
    recording.stays(job_owns_exactly(name, pods))


@then(step_pattern('job "{name:Name}" has no pods left'))
def job_has_no_pods(recording: Recording, name: str) -> None:
    recording.stays(job_owns_exactly(name, ()))


@then(step_pattern('no pod of job "{name:Name}" is pending or running'))
def no_pod_is_active(recording: Recording, name: str) -> None:
    recording.stays(remaining_pods_ended(name))


@then(step_pattern('the service of each replica of job "{name:Name}" was created before its pod'))
def services_were_created_first(recording: Recording, name: str) -> None:
    recording.must(services_created_first(name))


@then("the pods have these labels:")
def pods_have_labels(recording: Recording, datatable: list[list[str]]) -> None:
    recording.must(pod_labels(rows(datatable)))


@then(step_pattern('the pods of job "{name:Name}" have these environment variables:'))
def pods_have_environment(recording: Recording, name: str, datatable: list[list[str]]) -> None:
    recording.must(pod_environment(name, rows(datatable)))


@then(step_pattern('job "{name:Name}" stays {state:w}'))
def job_stays(recording: Recording, name: str, state: str) -> None:
    recording.stays(job_is(name, state))


@then(step_pattern('job "{name:Name}" was never {state:w}'))
def job_was_never(recording: Recording, name: str, state: str) -> None:
    recording.must(job_never_was(name, state))


@then(step_pattern('job "{name:Name}" has replicaStatuses:'))
def job_has_replica_statuses(recording: Recording, name: str, datatable: list[list[str]]) -> None:
    table = {row.pop("role"): {field: int(number) for field, number in row.items()} for row in rows(datatable)}
    recording.must(replica_statuses(name, table))


@then(step_pattern('job "{name:Name}" has creation, start and completion times'))
def job_has_times(recording: Recording, name: str) -> None:
    recording.must(job_times_consistent(name))


@then(step_pattern('job "{name:Name}" continues with a new "{pod:Name}"'))
def job_continues_with_new_pod(recording: Recording, name: str, pod: str) -> None:
    recording.stays(replica_restarted(name, pod))


@then(step_pattern('"{pod:Name}" runs again'))
def pod_runs_again(recording: Recording, pod: str) -> None:
    recording.must(runs_again(pod, 1))


@then(step_pattern('job "{name:Name}" fails without a new "{pod:Name}"'))
def job_fails_without_new_pod(recording: Recording, name: str, pod: str) -> None:
    recording.must(job_is(name, "Failed"))
    recording.stays(created_once([pod]))


@then(step_pattern('job "{name:Name}" continues after {restarts:d} restarts with a new "{pod:Name}"'))
def job_continues_after_restarts(recording: Recording, name: str, restarts: int, pod: str) -> None:
    recording.stays(replica_restarted(name, pod, restarts))


@then(step_pattern('job "{name:Name}" fails after {restarts:d} restart without a new "{pod:Name}"'))
@then(step_pattern('job "{name:Name}" fails after {restarts:d} restarts without a new "{pod:Name}"'))
def job_fails_after_restarts(recording: Recording, name: str, restarts: int, pod: str) -> None:
    recording.must(job_is(name, "Failed"))
    recording.stays(created_times(pod, restarts + 1))


@then(step_pattern('job "{name:Name}" is deleted {seconds:d} s after it finished'))
def job_is_deleted_after(recording: Recording, name: str, seconds: int) -> None:
    recording.must(job_deleted_after(name, seconds))


@then(step_pattern('job "{name:Name}" fails after {seconds:d} s'))
def job_fails_after(recording: Recording, name: str, seconds: int) -> None:
    recording.must(job_failed_after(name, seconds))


@then(step_pattern('no object of job "{name:Name}" is left'))
def no_object_is_left(recording: Recording, name: str) -> None:
    recording.stays(nothing_left(name))


@then(step_pattern('a Warning event on job "{name:Name}" contains "{text:Name}", and no objects were created for it'))
def job_has_warning_event(recording: Recording, name: str, text: str) -> None:
    recording.must(warning_event_contains(name, text))
    recording.stays(never_owned_anything(name))


@then(step_pattern('a Warning event on job "{name:Name}" contains "{text:Name}"'))
def job_has_warning(recording: Recording, name: str, text: str) -> None:
    recording.must(warning_event_contains(name, text))


@then(step_pattern('of the pods of job "{name:Name}" none but {pods:Names} was created'))
def no_other_pod_was_created(recording: Recording, name: str, pods: Names) -> None:
    recording.stays(never_owned_other_pods(name, pods))


@then(
    step_pattern(
        'job "{name:Name}" has a Failed condition that names "{field:Name}", and no objects were created for it'
    )
)
def job_has_failed_condition(recording: Recording, name: str, field: str) -> None:
    recording.must(job_rejected_for(name, field))
    recording.stays(never_owned_anything(name))


@then(
    step_pattern(
        'job "{name:Name}" has pods with {variable:w} "{value:Name}", or a Failed condition that names "{field:Name}"'
    )
)
def job_is_honoured_or_refused(recording: Recording, name: str, variable: str, value: str, field: str) -> None:
    recording.must(variable_or_rejection(name, variable, value, field))


@then(step_pattern('job "{name:Name}" has no conditions, and no objects were created for it'))
def job_was_never_reconciled(recording: Recording, name: str) -> None:
    recording.must(never_reconciled(name))
    recording.stays(never_owned_anything(name))


@then(step_pattern('the PodGroup of gang "{name:Name}" requests {gpus:GPUs} at priority {priority:d}'))
def pod_group_requests(scenario: ScenarioContext, name: str, gpus: int, priority: int) -> None:
    priority_field = scenario.scheduler.dialect.priority_patch(scenario.priority_class(priority))["spec"]
    scenario.recording.must(pod_group_spec(name, {"minResources": {GPU: str(gpus)}, **priority_field}))


@then(step_pattern('the PodGroup of job "{name:Name}" has minMember {number:d}'))
def pod_group_has_min_member(recording: Recording, name: str, number: int) -> None:
    recording.must(pod_group_spec(name, {"minMember": number}))


@then(step_pattern('the PodGroup of gang "{name:Name}" is deleted'))
def pod_group_is_deleted(recording: Recording, name: str) -> None:
    recording.must(no_pod_group(name, ever=False))


@then(step_pattern('job "{name:Name}" never had a PodGroup'))
def job_never_had_pod_group(recording: Recording, name: str) -> None:
    recording.stays(no_pod_group(name, ever=True))


@then(step_pattern('job "{name:Name}" has no launcher yet'))
def job_has_no_launcher(scenario: ScenarioContext, name: str) -> None:
    scenario.recording.stays(job_owns_exactly(name, scenario.groups.members(name), kinds=("Pod",)))


@then(step_pattern('job "{name:Name}" got a launcher without GPUs after its workers were ready'))
def launcher_started_after_workers(recording: Recording, name: str) -> None:
    recording.must(launcher_created_after_workers(name))


@then(step_pattern("{pods:Names} were created once"))
def pods_were_created_once(recording: Recording, pods: Names) -> None:
    recording.stays(created_once(pods))
