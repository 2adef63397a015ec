"""What is asserted about pods: each Then asks one question of the recording."""

from dataclasses import replace

from pytest_bdd import then

from muster.assertions.allocation import gpus_in_use_never_above, gpus_in_use_on, spread_over
from muster.assertions.evaluation import Recording
from muster.assertions.events import failed_scheduling_event_names, or_by_group, scheduling_failure_names
from muster.assertions.nomination import nominated_while_terminating, nomination_withdrawn
from muster.assertions.pods import (
    bound,
    disruption_target,
    gone,
    held_by_finalizer,
    not_evicted,
    released,
    still_runs,
    unschedulable,
)
from muster.assertions.preemption import (
    all_preempted,
    every_victim_necessary,
    exactly_preempted,
    no_other_pod_evicted_or_failed,
    no_pod_preempted,
    pending_while_victims_terminate,
    preempted_event_names,
    preempted_event_names_node,
    runs_on_node_of_victim,
    victims_named,
)
from muster.recording.conventions import BY_SCHEDULER
from muster.recording.questions import all_of, before, eventually, never
from steps.parsing import Names, rows, step_pattern


@then(step_pattern("{pods:Names} run"))
@then(step_pattern("{pods:Names} runs"))
def pods_run(recording: Recording, pods: Names) -> None:
    recording.must(all_of(f"{', '.join(pods)} running", [still_runs(pod) for pod in pods]), lasting=True)


@then(step_pattern("{pods:Names} runs on {nodes:Names}"))
@then(step_pattern("{pods:Names} run on {nodes:Names} only"))
def pods_run_on(recording: Recording, pods: Names, nodes: Names) -> None:
    wanted = f"{', '.join(pods)} on {' or '.join(nodes)}"
    recording.must(all_of(wanted, [still_runs(pod, nodes) for pod in pods]), lasting=True)


@then(step_pattern("{pods:Names} run on {number:Count} different nodes"))
def pods_run_on_different_nodes(recording: Recording, pods: Names, number: int) -> None:
    recording.must(spread_over(pods, number), lasting=True)


@then(step_pattern("{pods:Names} stay pending"))
@then(step_pattern("{pods:Names} stays pending"))
def pods_stay_pending(recording: Recording, pods: Names) -> None:
    pending = [never(fact(pod)) for pod in pods for fact in (bound, gone)]
    recording.stays(all_of(f"{', '.join(pods)} neither bound nor gone", pending))


@then(step_pattern("exactly {number:Count} of {pods:Names} was preempted for {by:Names}"))
@then(step_pattern("exactly {number:Count} of {pods:Names} were preempted for {by:Names}"))
def number_was_preempted(recording: Recording, number: int, pods: Names, by: Names) -> None:
    recording.must(exactly_preempted(pods, number, by[0]), lasting=True)


@then(step_pattern("{pods:Names} was preempted for {by:Names}"))
@then(step_pattern("{pods:Names} were preempted for {by:Names}"))
def pods_were_preempted(recording: Recording, pods: Names, by: Names) -> None:
    recording.must(exactly_preempted(pods, len(pods), by[0]), lasting=True)


@then(step_pattern("{pods:Names} was preempted"))
def pods_were_preempted_for_any_pod(recording: Recording, pods: Names) -> None:
    """For which pod is up to the scheduler: it may see one of two competing pods a moment before the other."""
    recording.must(all_preempted(pods), lasting=True)


@then(step_pattern('"{preemptor}" runs on the node of one of the victims {pods:Names}'))
def preemptor_runs_on_victims_node(recording: Recording, preemptor: str, pods: Names) -> None:
    recording.must(runs_on_node_of_victim(preemptor, pods), lasting=True)


@then("no pod was preempted")
def no_pod_was_preempted(recording: Recording) -> None:
    recording.stays(no_pod_preempted())


@then("no other pod was evicted or failed")
def check_no_other_pod_evicted_or_failed(recording: Recording) -> None:
    recording.stays(no_other_pod_evicted_or_failed())


@then(step_pattern('every victim of "{preemptor}" was necessary'))
def victims_were_necessary(recording: Recording, preemptor: str) -> None:
    recording.must(every_victim_necessary(preemptor))


@then(step_pattern('"{victim}" has DisruptionTarget=PreemptionByScheduler before deletion'))
def victim_has_disruption_target(recording: Recording, victim: str) -> None:
    marked = before(disruption_target(victim, BY_SCHEDULER), gone(victim))
    recording.must(replace(marked, victims=victims_named((victim,))))


@then(step_pattern('a Preempted event on "{victim}" names "{preemptor}" and the node'))
def preempted_event_names_preemptor_and_node(recording: Recording, victim: str, preemptor: str) -> None:
    recording.must(eventually(preempted_event_names(victim, preemptor)))
    recording.must(preempted_event_names_node((victim,), preemptor))


@then(step_pattern('"{pod}" is nominated to the node of "{victim}" while "{victim}" terminates'))
def preemptor_is_nominated_while_victim_terminates(recording: Recording, pod: str, victim: str) -> None:
    recording.must(nominated_while_terminating(pod, victim))


@then(step_pattern('"{pod}" is no longer nominated to the node of "{holder}"'))
def nomination_is_cleared(recording: Recording, pod: str, holder: str) -> None:
    recording.must(nomination_withdrawn(pod, holder))


@then(step_pattern('"{preemptor}" is bound only after "{victim}" is gone'))
def preemptor_is_bound_after(recording: Recording, preemptor: str, victim: str) -> None:
    """A kubelet reports that the victim's containers have ended before the pod is gone: its resources are free then."""
    recording.must(before(released(victim), bound(preemptor)))


@then(step_pattern('"{pod}" has ended and is held by its finalizer'))
def pod_is_held_by_finalizer(recording: Recording, pod: str) -> None:
    recording.must(held_by_finalizer(pod), lasting=True)


@then(step_pattern('"{preemptor}" stays pending while exactly one of {pods:Names} terminates'))
def preemptor_stays_pending_while_one_terminates(recording: Recording, preemptor: str, pods: Names) -> None:
    recording.stays(pending_while_victims_terminate((preemptor,), pods, 1, preemptor))


@then(step_pattern("{pod:Names} is reported unschedulable, and the condition contains {terms:Names}"))
def pod_is_reported_unschedulable(recording: Recording, pod: Names, terms: Names) -> None:
    recording.must(or_by_group(eventually(unschedulable(pod[0])), pod[0]))
    recording.must(or_by_group(scheduling_failure_names(pod[0], terms), pod[0], terms))


@then(step_pattern("a Warning event on {pod:Names} contains {terms:Names}"))
def warning_event_contains(recording: Recording, pod: Names, terms: Names) -> None:
    recording.must(or_by_group(failed_scheduling_event_names(pod[0], terms), pod[0], terms))


@then(step_pattern("{pods:Names} was not evicted"))
@then(step_pattern("{pods:Names} were not evicted"))
def pods_were_not_evicted(recording: Recording, pods: Names) -> None:
    recording.stays(all_of(f"{', '.join(pods)} not evicted", [not_evicted(pod) for pod in pods]))


@then("the GPUs in use are:")
def gpus_in_use(recording: Recording, datatable: list[list[str]]) -> None:
    table = {row["node"]: int(row["GPUs"]) for row in rows(datatable)}
    recording.must(gpus_in_use_on(table))


@then(step_pattern("at no time more than {gpus:GPUs} were in use"))
def never_more_gpus_in_use(recording: Recording, gpus: int) -> None:
    recording.must(gpus_in_use_never_above(gpus))
