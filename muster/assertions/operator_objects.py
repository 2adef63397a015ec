"""What an operator makes for a job: pods, services and PodGroups, their contents, and what is left of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from muster.assertions.job_queries import (
    END_STATES,
    describe_job,
    job_events,
    job_records,
    job_states,
    job_warnings,
    latest_status,
    owned_objects,
    pods_ever_named,
)
from muster.assertions.pods import milestone
from muster.recording.history import History
from muster.recording.quantities import GPU
from muster.recording.questions import Answer, Milestone, Outcome, Question, all_of, always
from muster.recording.records import Moment

_OWNED_KINDS = ("Pod", "Service", "PodGroup")
_PER_REPLICA = ("Pod", "Service")  # of a PyTorchJob there is one of each per replica

Rows = Sequence[Mapping[str, str]]


def created(name: str) -> Milestone:
    return milestone(f"{name} is created", name, lambda pod: pod.created)


def job_owns_exactly(job: str, names: Iterable[str], kinds: Sequence[str] = _PER_REPLICA) -> Question:
    """The job owns exactly these pods, and a service of the same name for each."""
    wanted = set(names)

    def ask(history: History) -> Answer:
        found = {kind: set(owned_objects(history, job, kind)) for kind in kinds}
        seen = "; ".join(f"{kind}s: {', '.join(sorted(names)) or 'none'}" for kind, names in found.items())
        right = all(names == wanted for names in found.values())
        return Answer(Outcome.TRUE if right else Outcome.PENDING, seen)

    listed = ", ".join(sorted(wanted)) or "nothing"
    return Question(f"{listed} of job {job}, as {' and '.join(kinds)} each", ask, tuple(sorted(wanted)))


def pod_labels(table: Rows) -> Question:
    """Each pod has the labels of its row."""

    def differences(history: History) -> list[str]:
        found = []
        for row in table:
            pod = history.pod(row["pod"])
            labels = pod.latest.metadata.labels if pod else {}
            found += [
                f"{row['pod']}: {label} is {labels.get(label)!r}, not {value!r}"
                for label, value in row.items()
                if label != "pod" and labels.get(label) != value
            ]
        return found

    return _no_differences("the labels of the table", differences, table)


def pod_environment(job: str, table: Rows) -> Question:
    """Every container of each pod has the environment variables of its row."""

    def differences(history: History) -> list[str]:
        pods = owned_objects(history, job, "Pod")
        found = []
        for row in table:
            containers = pods.get(row["pod"], {}).get("spec", {}).get("containers", [{}])
            for container in containers:
                variables = {one["name"]: one.get("value") for one in container.get("env", [])}
                found += [
                    f"{row['pod']}: {variable} is {variables.get(variable)!r}, not {value!r}"
                    for variable, value in row.items()
                    if variable != "pod" and variables.get(variable) != value
                ]
        return found

    return _no_differences(f"the variables of the table in job {job}", differences, table)


def replica_restarted(job: str, name: str, restarts: int = 1) -> Question:
    """A lost replica is created again, so many times, and the job reports in between that it is restarting.

    By a condition or by an event: an operator that finds the master running in the same reconciliation may overwrite
    the condition Restarting at once.
    """

    def ask(history: History) -> Answer:
        pods, states = pods_ever_named(history, name), job_states(history, job)
        reasons = [event.reason for event in job_events(history, job)]
        reported = "Restarting" in states or any(reason.endswith("Restarting") for reason in reasons)
        seen = f"{len(pods)} pods {name} so far; {describe_job(history, job)}"
        if len(pods) > restarts + 1 or (states and states[-1] in END_STATES):
            return Answer(Outcome.FALSE, seen)
        again = len(pods) == restarts + 1 and pods[-1].deleting is None
        seen = seen if reported else f"{seen}; no restart was reported"
        done = again and reported and states[-1:] == ["Running"]
        return Answer(Outcome.TRUE if done else Outcome.PENDING, seen)

    return Question(f"{restarts + 1} pods {name} in turn, and job {job} restarting, then Running", ask, (name,))


def runs_again(name: str, restarts: int) -> Question:
    """The replica runs after so many restarts: a pod with this name was created as often again."""

    def ask(history: History) -> Answer:
        pods = pods_ever_named(history, name)
        running = len(pods) == restarts + 1 and pods[-1].running and not pods[-1].ended
        return Answer(Outcome.TRUE if running else Outcome.PENDING, f"{len(pods)} pods {name} so far")

    return Question(f"{name} running after {restarts} restart(s)", ask, (name,))


def created_times(name: str, times: int) -> Question:
    """So many pods of that name were ever created."""

    def ask(history: History) -> Answer:
        count = len(pods_ever_named(history, name))
        outcome = Outcome.FALSE if count > times else Outcome.TRUE if count == times else Outcome.PENDING
        return Answer(outcome, f"{count} pods {name} so far")

    return Question(f"{name} created {times} times", ask, (name,))


def created_once(pods: Iterable[str]) -> Question:
    """No pod of these names was ever created again."""
    names = tuple(pods)

    def violation(history: History) -> str:
        counts = {name: len(pods_ever_named(history, name)) for name in names}
        return ", ".join(f"{count} pods {name} so far" for name, count in counts.items() if count != 1)

    return always(f"{', '.join(names)} created once", violation, names)


def never_owned_anything(job: str) -> Question:
    """At no moment was there an object that the job owns."""

    def violation(history: History) -> str:
        found = [
            f"{kind} {name}" for kind in _OWNED_KINDS for name in owned_objects(history, job, kind, deleted_too=True)
        ]
        return f"job {job} owned {', '.join(found)}" if found else ""

    return always(f"nothing created for job {job}", violation)


def never_owned_other_pods(job: str, names: Iterable[str]) -> Question:
    """At no moment did the job own a pod of another name; those of these names need not exist."""
    allowed = tuple(names)

    def violation(history: History) -> str:
        others = sorted(set(owned_objects(history, job, "Pod", deleted_too=True)).difference(allowed))
        return f"job {job} owned {', '.join(others)}" if others else ""

    return always(f"no pod of job {job} but {', '.join(allowed)}", violation, allowed)


def nothing_left(job: str) -> Question:
    """The job is gone, and so is everything that it owned."""

    def ask(history: History) -> Answer:
        records = job_records(history, job)
        left = [f"{kind} {name}" for kind in _OWNED_KINDS for name in owned_objects(history, job, kind)]
        left += [] if records and records[-1].change == "DELETED" else [f"job {job} itself"]
        return Answer(Outcome.PENDING if left else Outcome.TRUE, f"left: {', '.join(left) or 'nothing'}")

    return Question(f"nothing of job {job} left", ask)


def remaining_pods_ended(job: str) -> Question:
    """All pods of the job that still exist have ended, after a loss that its processes do not survive."""

    def ask(history: History) -> Answer:
        pods = history.pods_named(tuple(owned_objects(history, job, "Pod")))
        active = [pod.name for pod in pods if pod.ended is None]
        return Answer(Outcome.PENDING if active else Outcome.TRUE, f"active: {', '.join(active) or 'none'}")

    return Question(f"all remaining pods of job {job} ended", ask)


def services_created_first(job: str) -> Question:
    """The service of every pod that the job ever owned was created before that pod."""

    def ask(history: History) -> Answer:
        services, pods = (_first_seen(history, job, kind) for kind in ("Service", "Pod"))
        if not pods:
            return Answer(Outcome.PENDING, f"job {job} has no pods")
        late = sorted(name for name, moment in pods.items() if name not in services or services[name] > moment)
        return Answer(
            Outcome.FALSE if late else Outcome.TRUE, f"pods before their service: {', '.join(late) or 'none'}"
        )

    return Question(f"the services of job {job} before its pods", ask)


def warning_event_contains(job: str, term: str) -> Question:
    """A Warning event about the job contains this term, in upper or lower case."""

    def ask(history: History) -> Answer:
        warnings = job_warnings(history, job)
        found = any(term.lower() in message.lower() for message in warnings)
        return Answer(Outcome.TRUE if found else Outcome.PENDING, f"warnings: {'; '.join(warnings) or 'none'}")

    return Question(f"a Warning event about job {job} that contains {term}", ask)


def job_rejected_for(job: str, field: str) -> Question:
    """The job is Failed, and a condition and a Warning event about it name the invalid field."""

    def failed(history: History) -> Answer:
        states = job_states(history, job)
        outcome = Outcome.FALSE if "Running" in states else Outcome.PENDING
        return Answer(Outcome.TRUE if states[-1:] == ["Failed"] else outcome, describe_job(history, job))

    def named(history: History) -> Answer:
        messages = [one.get("message", "") for one in latest_status(history, job).get("conditions", [])]
        warnings = job_warnings(history, job)
        seen = f"conditions: {'; '.join(messages) or 'none'}; warnings: {'; '.join(warnings) or 'none'}"
        in_both = all(any(field in text for text in texts) for texts in (messages, warnings))
        return Answer(Outcome.TRUE if in_both else Outcome.PENDING, seen)

    parts = [Question(f"job {job} Failed", failed), Question(f"{field} named", named)]
    return all_of(f"job {job} rejected for {field}", parts)


def variable_or_rejection(job: str, variable: str, value: str, field: str) -> Question:
    """A field is honoured or refused: all pods of the job have the variable, or it is Failed and names the field."""
    rejected = job_rejected_for(job, field)

    def ask(history: History) -> Answer:
        pods = owned_objects(history, job, "Pod")
        found = {name: _variable(pod, variable) for name, pod in pods.items()}
        if found and set(found.values()) == {value}:
            return Answer(Outcome.TRUE, f"{variable} is {value} in {', '.join(found)}")
        answer = rejected.ask(history)
        if answer.outcome is Outcome.TRUE:
            return answer
        seen = ", ".join(f"{name}: {variable} is {one!r}" for name, one in found.items()) or "no pods"
        return Answer(Outcome.FALSE if found else Outcome.PENDING, f"{seen}; {answer.seen}")

    return Question(f"job {job} with {variable}={value}, or rejected for {field}", ask)


def pod_group_spec(job: str, wanted: Mapping[str, Any]) -> Question:
    """The PodGroup of a job, which has the job's name, has these fields and maybe more."""

    def ask(history: History) -> Answer:
        spec = owned_objects(history, job, "PodGroup").get(job, {}).get("spec", {})
        found = {field: spec.get(field) for field in wanted}
        return Answer(Outcome.TRUE if found == wanted else Outcome.PENDING, f"the PodGroup of {job} has {found}")

    return Question(f"a PodGroup of job {job} with {dict(wanted)}", ask)


def no_pod_group(job: str, *, ever: bool) -> Question:
    """There is no PodGroup of the job's name; nor was there `ever`. Schedulers may create others for single pods."""

    def ask(history: History) -> Answer:
        found = job in owned_objects(history, job, "PodGroup", deleted_too=ever)
        return Answer(Outcome.PENDING if found else Outcome.TRUE, f"{'a' if found else 'no'} PodGroup {job}")

    return Question(f"{'never a' if ever else 'no'} PodGroup of job {job}", ask)


def launchers_of(history: History, job: str) -> list[str]:
    return [name for name in owned_objects(history, job, "Pod") if name.startswith(f"{job}-launcher")]


def has_launcher(job: str) -> Question:
    """Job and pods are recorded by two watches: a job can be seen Running before its launcher is seen at all."""

    def ask(history: History) -> Answer:
        found = launchers_of(history, job)
        return Answer(Outcome.TRUE if found else Outcome.PENDING, f"launchers: {', '.join(found) or 'none'}")

    return Question(f"a launcher of job {job}", ask)


def launcher_created_after_workers(job: str) -> Question:
    """The launcher was created when every worker was ready, and requests no GPU."""

    def ask(history: History) -> Answer:
        pods = owned_objects(history, job, "Pod")
        launchers = launchers_of(history, job)
        if not launchers:
            return Answer(Outcome.PENDING, f"job {job} has no launcher")
        launcher = history.pod(launchers[0])
        assert launcher is not None
        workers = history.pods_named(tuple(name for name in pods if name not in launchers))
        late = [pod.name for pod in workers if pod.running is None or pod.running > launcher.created]
        if late or not workers:
            return Answer(Outcome.FALSE, f"the launcher was created before {', '.join(late) or 'any worker'} was ready")
        if launcher.requests.get(GPU):
            return Answer(Outcome.FALSE, "the launcher requests GPUs")
        return Answer(Outcome.TRUE, f"the launcher was created after {', '.join(pod.name for pod in workers)}")

    return Question(f"a launcher of job {job} after its workers, without a GPU", ask)


def _first_seen(history: History, job: str, kind: str) -> dict[str, Moment]:
    """When each object of a kind that the job ever owned was first seen, by name."""
    owned = owned_objects(history, job, kind, deleted_too=True)
    first: dict[str, Moment] = {}
    for record in history.records.get(kind, []):
        if record.object.metadata.namespace == history.namespace and record.object.metadata.name in owned:
            first.setdefault(record.object.metadata.name, record.moment)
    return first


def _variable(pod: Mapping[str, Any], name: str) -> str | None:
    """Of the first container."""
    variables = {one["name"]: one.get("value") for one in pod["spec"]["containers"][0].get("env", [])}
    return variables.get(name)


def _no_differences(wanted: str, differences: Callable[[History], list[str]], table: Rows) -> Question:
    def ask(history: History) -> Answer:
        found = differences(history)
        return Answer(Outcome.PENDING if found else Outcome.TRUE, "; ".join(found[:3]) or wanted)

    return Question(wanted, ask, tuple(row["pod"] for row in table))
