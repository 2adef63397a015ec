"""The output of commands, compared line by line with the walk-through and with the recording."""

import pytest

from muster.assertions.walkthroughs import (
    one_preempted,
    output_contains,
    output_does_not_name,
    output_is,
)
from muster.recording.pod_history import PROBE_ROLE, ROLE_LABEL
from tests.support.history_builder import FALSE, PENDING, TRUE, HistoryBuilder, ask, full_node

OUTPUT = """
NAME   STATUS   AGE
train  RUNNING  3s

eval   PENDING  1s
"""


def test_lines_are_found_in_order_and_columns_by_pattern() -> None:
    assert ask(output_contains(OUTPUT, "NAME STATUS AGE\ntrain RUNNING *\neval PEND* 1s"), HistoryBuilder()) is TRUE


@pytest.mark.parametrize("wanted", ["eval * *\ntrain * *", "train RUNNING", "train PENDING *", "train RUNNING [0-9]s"])
def test_a_missing_line_is_a_failure(wanted: str) -> None:
    assert ask(output_contains(OUTPUT, wanted), HistoryBuilder()) is FALSE
    assert "no line that matches: " in output_contains(OUTPUT, wanted).ask(HistoryBuilder().history).seen


def test_the_whole_output_has_no_other_line() -> None:
    whole = "NAME STATUS AGE\ntrain RUNNING <time>\neval PENDING <time>"
    assert ask(output_is(OUTPUT, whole), HistoryBuilder()) is TRUE
    for wanted, seen in (
        ("NAME STATUS AGE\ntrain RUNNING <time>", "not in the walk-through: 'eval   PENDING  1s'"),
        (f"{whole}\nlate PENDING <time>", "no line that matches: late PENDING <time>"),
        ("NAME STATUS AGE\neval * *\ntrain * *", "'train  RUNNING  3s' does not match: eval * *"),
    ):
        assert ask(output_is(OUTPUT, wanted), HistoryBuilder()) is FALSE
        assert output_is(OUTPUT, wanted).ask(HistoryBuilder().history).seen == seen


@pytest.mark.parametrize(("text", "is_time"), [("3s", True), ("12m", True), ("N/A", False), ("s", False), ("3", False)])
def test_a_time_is_a_number_with_a_unit(text: str, is_time: bool) -> None:
    question = output_is(f"TRAINING DURATION: {text}", "TRAINING DURATION: <time>")
    assert ask(question, HistoryBuilder()) is (TRUE if is_time else FALSE)


def two_nodes() -> HistoryBuilder:
    builder = HistoryBuilder().node("worker-1", 1, address="172.16.0.1").node("worker-2", 1, address="172.16.0.2")
    return builder.running_pod("job-master-0", "worker-1", 1).running_pod("job-worker-0", "worker-2", 1)


def test_the_node_of_a_line_is_where_the_pod_really_is() -> None:
    line = "job RUNNING 3s {} {}"
    for pod, address, outcome in (
        ("job-master-0", "172.16.0.1", TRUE),
        ("job-worker-0", "172.16.0.2", TRUE),
        ("job-worker-0", "172.16.0.1", FALSE),  # the other one's
        ("job-worker-0", "N/A", FALSE),
    ):
        assert ask(output_is(line.format(pod, address), f"job RUNNING <time> {pod} <address>"), two_nodes()) is outcome
    assert ask(output_is(line.format("job-worker-0", "worker-2"), "job * * job-w* <node>"), two_nodes()) is TRUE
    assert ask(output_is(line.format("job-worker-0", "worker-1"), "job * * job-w* <node>"), two_nodes()) is FALSE


def test_the_node_may_be_named_in_the_line_above_or_in_the_pattern() -> None:
    details = "NAME: worker-2\nIPADDRESS: 172.16.0.{}\n"
    assert ask(output_is(details.format(2), "NAME: worker-2\nIPADDRESS: <address>"), two_nodes()) is TRUE
    assert ask(output_is(details.format(1), "NAME: worker-2\nIPADDRESS: <address>"), two_nodes()) is FALSE
    assert ask(output_is("http://172.16.0.1:30001", "http://<address:worker-1>:3*"), two_nodes()) is TRUE
    assert ask(output_is("http://172.16.0.2:30001", "http://<address:worker-1>:3*"), two_nodes()) is FALSE


def test_what_is_not_recorded_yet_is_pending() -> None:
    builder = two_nodes().pod("job-worker-1")
    question = output_is("job-worker-1 172.16.0.2", "job-worker-1 <address>")
    assert ask(question, builder) is PENDING
    assert ask(question, builder.run("job-worker-1", "worker-2")) is TRUE


def test_the_line_of_the_probe_node_does_not_count() -> None:
    builder = two_nodes().node("probe", labels={ROLE_LABEL: PROBE_ROLE})
    output = "worker-1 ready\nprobe ready\nworker-2 ready\n-----\n0/2 (0%)"
    assert ask(output_is(output, "worker-1 ready\nworker-2 ready\n-----\n0/2 (0%)"), builder) is TRUE
    assert ask(output_is("worker-1 ready\nprobe ready\n-----", "worker-1 ready\n-----"), builder) is TRUE


def test_a_name_is_a_whole_column() -> None:
    for name, outcome in (("train", FALSE), ("rain", TRUE), ("late", TRUE)):
        assert ask(output_does_not_name(OUTPUT, name), HistoryBuilder()) is outcome
    assert ask(output_does_not_name("medium-launcher-x4k2p 0", "medium-launcher"), HistoryBuilder()) is FALSE
    assert ask(output_does_not_name("medium-worker-10 1", "medium-worker-1"), HistoryBuilder()) is TRUE


def test_one_victim_and_no_more() -> None:
    both = ("left", "right")
    builder = full_node().pod("urgent", 1, 100)
    assert ask(one_preempted(both), builder) is PENDING
    assert ask(one_preempted(both), builder.preempt("left", by="urgent")) is TRUE
    assert ask(one_preempted(both), builder.preempt("right", by="urgent")) is FALSE
    assert one_preempted(both).ask(builder.history).seen == "preempted: left, right"
