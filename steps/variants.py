"""How a document goes with what people run today, where that depends on which member of a job was lost."""

from pytest_bdd import then

from muster.chronicle.documents import answer_reads, preempted_of
from muster.chronicle.jobs import job_is
from muster.chronicle.operators import comes_back, consists_of
from muster.errors import BehaviourViolated
from muster.stage import Scene
from steps.words import sentence


def _lost(scene: Scene, job: str) -> str:
    (victim,) = preempted_of(scene.chronicle.history, (f"{job}-master-0", f"{job}-worker-0", f"{job}-worker-1"))
    return victim


@then(sentence('job "{job:Name}" fails and has nobody left if it lost its master, and else gets a new worker'))
def it_ends_as_its_lost_member_says(scene: Scene, job: str) -> None:
    lost = _lost(scene, job)
    if lost.endswith("-master-0"):
        scene.chronicle.must(job_is(job, "Failed"))
        scene.chronicle.stays(consists_of(job, ()))
    else:
        scene.chronicle.stays(comes_back(job, lost))


@then(sentence('the answer shows job "{job:Name}" without instances if it lost its master, and else its new worker'))
def it_is_shown_so(scene: Scene, job: str) -> None:
    lost = _lost(scene, job)
    if lost.endswith("-master-0"):
        answer_reads(scene.jobs.answer, "Status: FAILED")
        if f"{job}-" in scene.jobs.answer:
            raise BehaviourViolated(f"wanted   no instances of {job} any more\nseen     {scene.jobs.answer}")
        return
    answer_reads(scene.jobs.answer, f"Status: PENDING\n{lost} Pending * false 4 N/A")


@then(sentence('a job of the manifest "{file:Name}" with {number:d} workers is taken'))
def such_a_job_is_taken(scene: Scene, file: str, number: int) -> None:
    if refusal := scene.jobs.refusal(file, {"spec.pytorchReplicaSpecs.Worker.replicas": number}):
        raise BehaviourViolated(f"wanted   a job with {number} workers taken\nseen     {refusal}")
