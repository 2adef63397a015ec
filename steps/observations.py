"""What was seen: each Then is one question to the chronicle."""

from pytest_bdd import then

from muster.chronicle.facts import bound, deleting, gone, marked, nominated, refused, runs, runs_on
from muster.chronicle.preemptions import (
    BY_SCHEDULER,
    exactly_preempted,
    no_victim_could_stay,
    nobody_preempted,
    nothing_else_disturbed,
    preempted_for,
)
from muster.chronicle.questions import all_of, always, before, eventually, never
from muster.chronicle.rooms import never_more_in_use, spread_over, takes_the_place_of, used_on, waits_for_one_victim
from muster.chronicle.sayings import event_names_node, explains, nominated_to_the_node_of, warns
from muster.stage import Scene
from steps.words import rows, sentence


@then(sentence("{pods:Names} run"))
@then(sentence("{pods:Names} runs"))
def they_run(scene: Scene, pods: tuple[str, ...]) -> None:
    scene.chronicle.must(all_of(f"{', '.join(pods)} running", [eventually(runs(pod)) for pod in pods]))


@then(sentence("{pods:Names} runs on {nodes:Names}"))
@then(sentence("{pods:Names} run on {nodes:Names} only"))
def they_run_on(scene: Scene, pods: tuple[str, ...], nodes: tuple[str, ...]) -> None:
    wanted = f"{', '.join(pods)} on {' or '.join(nodes)}"
    scene.chronicle.must(all_of(wanted, [eventually(runs_on(pod, nodes)) for pod in pods]))


@then(sentence("{pods:Names} run on {number:Count} different nodes"))
def they_are_spread(scene: Scene, pods: tuple[str, ...], number: int) -> None:
    scene.chronicle.must(spread_over(pods, number))


@then(sentence("{pods:Names} keep waiting"))
@then(sentence("{pods:Names} keeps waiting"))
def they_keep_waiting(scene: Scene, pods: tuple[str, ...]) -> None:
    waiting = [never(fact(pod)) for pod in pods for fact in (bound, gone)]
    scene.chronicle.stays(all_of(f"{', '.join(pods)} neither bound nor gone", waiting))


@then(sentence("exactly {number:Count} of {pods:Names} was preempted for {by:Names}"))
@then(sentence("exactly {number:Count} of {pods:Names} were preempted for {by:Names}"))
def so_many_were_preempted(scene: Scene, number: int, pods: tuple[str, ...], by: tuple[str, ...]) -> None:
    scene.chronicle.must(exactly_preempted(pods, number, by[0]))


@then(sentence("{pods:Names} was preempted for {by:Names}"))
@then(sentence("{pods:Names} were preempted for {by:Names}"))
def they_were_preempted(scene: Scene, pods: tuple[str, ...], by: tuple[str, ...]) -> None:
    scene.chronicle.must(exactly_preempted(pods, len(pods), by[0]))


@then(sentence('"{preemptor}" runs in the place of one of {pods:Names}'))
def it_takes_the_place(scene: Scene, preemptor: str, pods: tuple[str, ...]) -> None:
    scene.chronicle.must(takes_the_place_of(preemptor, pods))


@then("nobody was preempted")
def nobody_was_preempted(scene: Scene) -> None:
    scene.chronicle.stays(nobody_preempted())


@then("nothing else was disturbed")
def nothing_else_was_disturbed(scene: Scene) -> None:
    scene.chronicle.stays(always("nothing else is disturbed", nothing_else_disturbed))


@then(sentence('every victim of "{preemptor}" was necessary'))
def victims_were_necessary(scene: Scene, preemptor: str) -> None:
    scene.chronicle.must(no_victim_could_stay(preemptor))


@then(sentence('"{victim}" says before it goes that a scheduler preempted it'))
def the_victim_says_so(scene: Scene, victim: str) -> None:
    scene.chronicle.must(before(marked(victim, BY_SCHEDULER), gone(victim)))


@then(sentence('an event tells that "{victim}" was preempted for "{preemptor}" and from which node'))
def an_event_tells(scene: Scene, victim: str, preemptor: str) -> None:
    scene.chronicle.must(eventually(preempted_for(victim, preemptor)))
    scene.chronicle.must(event_names_node(victim, preemptor))


@then(sentence('"{preemptor}" is nominated to the node of "{victim}" while "{same}" still terminates'))
def it_is_nominated(scene: Scene, preemptor: str, victim: str, same: str) -> None:
    scene.chronicle.must(before(nominated(preemptor), gone(same)))
    scene.chronicle.must(nominated_to_the_node_of(preemptor, victim))


@then(sentence('"{preemptor}" is bound only after "{victim}" is gone'))
def it_is_bound_after(scene: Scene, preemptor: str, victim: str) -> None:
    scene.chronicle.must(before(gone(victim), bound(preemptor)))


@then(sentence('"{preemptor}" waits while exactly one of {pods:Names} terminates'))
def it_waits_for_one_victim(scene: Scene, preemptor: str, pods: tuple[str, ...]) -> None:
    scene.chronicle.stays(waits_for_one_victim(preemptor, pods))


@then(sentence("{pod:Names} is refused, and the reason names {words:Names}"))
def it_is_refused(scene: Scene, pod: tuple[str, ...], words: tuple[str, ...]) -> None:
    scene.chronicle.must(eventually(refused(pod[0])))
    scene.chronicle.must(explains(pod[0], words))


@then(sentence("a warning event about {pod:Names} names {words:Names}"))
def a_warning_names(scene: Scene, pod: tuple[str, ...], words: tuple[str, ...]) -> None:
    scene.chronicle.must(warns(pod[0], words))


@then(sentence("{pods:Names} is still there"))
@then(sentence("{pods:Names} are still there"))
def they_are_still_there(scene: Scene, pods: tuple[str, ...]) -> None:
    scene.chronicle.stays(all_of(f"{', '.join(pods)} undisturbed", [never(deleting(pod)) for pod in pods]))


@then("the GPUs in use are:")
def gpus_in_use(scene: Scene, datatable: list[list[str]]) -> None:
    table = {row["node"]: int(row["GPUs"]) for row in rows(datatable)}
    scene.chronicle.must(used_on(table))


@then(sentence("at no time more than {most:GPUs} were in use"))
def never_more(scene: Scene, most: int) -> None:
    scene.chronicle.must(never_more_in_use(most))
