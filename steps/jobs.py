"""Jobs and what an operator makes of them.

Settings come in tables and have the names of the API: those of a role begin with it ("Worker.restartPolicy"), all
others belong to the job's run policy. "schedulingPolicy.priority" stands for a priority class of that value.
"""

from typing import Any

import yaml
from pytest_bdd import given, then, when

from muster.chronicle.facts import gone
from muster.chronicle.job_statuses import counts, failed_after, gone_after, never_was, tells_its_times
from muster.chronicle.jobs import job_is
from muster.chronicle.operators import (
    comes_back,
    consists_of,
    created,
    group_says,
    labelled,
    launched_when_ready,
    made_for,
    made_once,
    nothing_left,
    nothing_made,
    refused_for,
    told_by_environment,
    warned_of,
    without_group,
)
from muster.chronicle.quantities import GPU
from muster.chronicle.questions import eventually
from muster.cluster.resources import POD
from muster.stage import Scene
from muster.subject.operators import TRAINING_OPERATOR
from steps.words import rows, sentence

_JOB = 'a PyTorch job "{name:Name}" of 1 master and {workers:d} workers'
_ONE_EACH = 'a PyTorch job "{name:Name}" of 1 master and 1 worker'
_KILLS = 3  # in a row: the operator is killed while it starts, too


def _settings(scene: Scene, table: list[list[str]]) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for path, text in table:
        if path == "schedulingPolicy.priority":
            changed["spec.runPolicy.schedulingPolicy.priorityClass"] = scene.priority_class(int(text))
        else:
            home = "pytorchReplicaSpecs" if path[0].isupper() else "runPolicy"
            changed[f"spec.{home}.{path}"] = yaml.safe_load(text)
    return changed


@given("an operator that follows the restart policy of each role")
def an_operator(scene: Scene) -> None:
    scene.jobs.expect(profile=TRAINING_OPERATOR)


@when(sentence(_ONE_EACH + " is created"))
def a_small_job(scene: Scene, name: str) -> None:
    scene.jobs.create("pytorch", name)


@when(sentence(_JOB + " is created"))
def a_job(scene: Scene, name: str, workers: int) -> None:
    scene.jobs.create("pytorch", name, changed={"spec.pytorchReplicaSpecs.Worker.replicas": workers})


@when(sentence(_ONE_EACH + " is created with:"))
def a_small_job_with(scene: Scene, name: str, datatable: list[list[str]]) -> None:
    scene.jobs.create("pytorch", name, changed=_settings(scene, datatable))


@when(sentence(_JOB + " is created with:"))
def a_job_with(scene: Scene, name: str, workers: int, datatable: list[list[str]]) -> None:
    settings = _settings(scene, datatable)
    scene.jobs.create("pytorch", name, changed={"spec.pytorchReplicaSpecs.Worker.replicas": workers, **settings})


@when(sentence('an MPI job "{name:Name}" of {workers:d} workers is created'))
def an_mpi_job(scene: Scene, name: str, workers: int) -> None:
    scene.jobs.create("mpi", name, changed={"spec.replicas": workers})


@when(sentence('"{pod:Name}" ends with exit code {code:d}'))
def a_process_ends(scene: Scene, pod: str, code: int) -> None:
    scene.jobs.crash(pod, code)


@when(sentence('the launcher of job "{name:Name}" ends with exit code {code:d}'))
def the_launcher_ends(scene: Scene, name: str, code: int) -> None:
    (launcher,) = set(made_for(scene.chronicle.history, name, "Pod")).difference(scene.groups.members(name))
    scene.jobs.crash(launcher, code)


@when(sentence('"{pod:Name}" is preempted'))
def a_pod_is_preempted(scene: Scene, pod: str) -> None:
    scene.jobs.preempt(pod)


@when(sentence('job "{name:Name}" is suspended'))
def a_job_is_suspended(scene: Scene, name: str) -> None:
    scene.jobs.change(name, {"runPolicy": {"suspend": True}})


@when(sentence('job "{name:Name}" is resumed'))
def a_job_is_resumed(scene: Scene, name: str) -> None:
    scene.jobs.change(name, {"runPolicy": {"suspend": False}})


@when(sentence('job "{name:Name}" is deleted'))
def a_job_is_deleted(scene: Scene, name: str) -> None:
    scene.jobs.delete(name)


@when(sentence('the operator is killed as soon as "{pod:Name}" is there, and started again'))
def the_operator_is_killed_at_work(scene: Scene, pod: str) -> None:
    scene.chronicle.staged(eventually(created(pod)))
    the_operator_is_killed(scene)


@when("the operator is killed and started again")
def the_operator_is_killed(scene: Scene) -> None:
    operator = scene.jobs.expect()
    for _ in range(_KILLS):
        operator.kill()
        operator.start()
    scene.touch()


@when(sentence('"{pod:Name}" is lost while the operator is away'))
def a_pod_is_lost_unseen(scene: Scene, pod: str) -> None:
    operator = scene.jobs.expect()
    operator.kill()
    scene.api.delete(POD, pod, scene.namespace, grace=0)
    scene.chronicle.staged(eventually(gone(pod)))
    operator.start()
    scene.touch()


@then(sentence('job "{name:Name}" consists of {pods:Names}'))
def it_consists_of(scene: Scene, name: str, pods: tuple[str, ...]) -> None:
    scene.chronicle.stays(consists_of(name, pods))


@then(sentence('job "{name:Name}" has nobody left'))
def nobody_is_left(scene: Scene, name: str) -> None:
    scene.chronicle.stays(consists_of(name, ()))


@then("these labels are carried:")
def labels_are_carried(scene: Scene, datatable: list[list[str]]) -> None:
    scene.chronicle.must(labelled(rows(datatable)))


@then(sentence('the processes of job "{name:Name}" find in their environment:'))
def they_find_each_other(scene: Scene, name: str, datatable: list[list[str]]) -> None:
    scene.chronicle.must(told_by_environment(name, rows(datatable)))


@then(sentence('job "{name:Name}" stays {state:w}'))
def it_stays_so(scene: Scene, name: str, state: str) -> None:
    scene.chronicle.stays(job_is(name, state))


@then(sentence('job "{name:Name}" was never {state:w}'))
def it_never_was(scene: Scene, name: str, state: str) -> None:
    scene.chronicle.must(never_was(name, state))


@then(sentence('job "{name:Name}" counts:'))
def it_counts(scene: Scene, name: str, datatable: list[list[str]]) -> None:
    table = {row.pop("role"): {word: int(number) for word, number in row.items()} for row in rows(datatable)}
    scene.chronicle.must(counts(name, table))


@then(sentence('job "{name:Name}" tells when it was created, when it started and when it ended'))
def it_tells_its_times(scene: Scene, name: str) -> None:
    scene.chronicle.must(tells_its_times(name))


@then(sentence('job "{name:Name}" goes on with a new "{pod:Name}"'))
def it_goes_on(scene: Scene, name: str, pod: str) -> None:
    scene.chronicle.stays(comes_back(name, pod))


@then(sentence('job "{name:Name}" fails without a new "{pod:Name}"'))
def it_fails(scene: Scene, name: str, pod: str) -> None:
    scene.chronicle.must(job_is(name, "Failed"))
    scene.chronicle.stays(made_once([pod]))


@then(sentence('job "{name:Name}" is gone {seconds:d} s after its end'))
def it_is_gone_after(scene: Scene, name: str, seconds: int) -> None:
    scene.chronicle.must(gone_after(name, seconds))


@then(sentence('job "{name:Name}" fails after {seconds:d} s'))
def it_fails_after(scene: Scene, name: str, seconds: int) -> None:
    scene.chronicle.must(failed_after(name, seconds))


@then(sentence('nothing of job "{name:Name}" is left'))
def nothing_of_it_is_left(scene: Scene, name: str) -> None:
    scene.chronicle.stays(nothing_left(name))


@then(sentence('a warning about job "{name:Name}" says "{word:Name}", and nothing was made for it'))
def it_is_warned_about(scene: Scene, name: str, word: str) -> None:
    scene.chronicle.must(warned_of(name, word))
    scene.chronicle.stays(nothing_made(name))


@then(sentence('job "{name:Name}" is refused for "{field:Name}", and nothing was made for it'))
def it_is_invalid(scene: Scene, name: str, field: str) -> None:
    scene.chronicle.must(refused_for(name, field))
    scene.chronicle.stays(nothing_made(name))


@then(sentence('the group of the gang "{name:Name}" asks for {asked:GPUs} at priority {priority:d}'))
def the_group_asks(scene: Scene, name: str, asked: int, priority: int) -> None:
    importance = scene.subject.dialect.promotion(scene.priority_class(priority))["spec"]
    scene.chronicle.must(group_says(name, {"minResources": {GPU: str(asked)}, **importance}))


@then(sentence('the group of the gang "{name:Name}" is gone'))
def the_group_is_gone(scene: Scene, name: str) -> None:
    scene.chronicle.must(without_group(name, ever=False))


@then(sentence('job "{name:Name}" never had a group'))
def it_never_had_a_group(scene: Scene, name: str) -> None:
    scene.chronicle.stays(without_group(name, ever=True))


@then(sentence('job "{name:Name}" has no launcher yet'))
def no_launcher_yet(scene: Scene, name: str) -> None:
    scene.chronicle.stays(consists_of(name, scene.groups.members(name), kinds=("Pod",)))


@then(sentence('job "{name:Name}" got its launcher when its workers were ready, and without a GPU'))
def the_launcher_came(scene: Scene, name: str) -> None:
    scene.chronicle.must(launched_when_ready(name))


@then(sentence("{pods:Names} were made once"))
def they_were_made_once(scene: Scene, pods: tuple[str, ...]) -> None:
    scene.chronicle.stays(made_once(pods))
