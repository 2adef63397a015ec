"""A scenario as kubectl commands, from made-up writes."""

import re
import subprocess

from muster.cluster.api import MERGE_PATCH, STRATEGIC_PATCH, Write
from muster.environment.kubectl_script import PAUSE, RESTART, RESUME, KubectlScript

JSON = "application/json"


def created(kind: str, name: str, path: str, namespace: str = "") -> Write:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return Write("POST", path, {}, {"apiVersion": "v1", "kind": kind, "metadata": metadata}, JSON)


def script_of(*writes: Write, kind: str = "when") -> str:
    script = KubectlScript("muster-7-1", "pre-01", "muster up --nodes 0 --scheduler mine")
    script.step_begins(kind.title(), "something happens", kind)
    for write in writes:
        script.write(write)
    return script.text("PRE-01 A title", "wanted   this\nseen     that")


def test_objects_of_one_step_are_applied_together_in_a_namespace_of_the_scenario() -> None:
    node = created("Node", "gpu-1", "/api/v1/nodes")
    pod = created("Pod", "urgent", "/api/v1/namespaces/muster-7-1/pods", "muster-7-1")
    lines = script_of(node, pod).splitlines()
    assert lines[1:7] == [
        "# PRE-01 A title",
        "#",
        "# Run it with kubectl on a cluster whose nodes KWOK simulates and that runs the scheduler, for example",
        "#   muster up --nodes 0 --scheduler mine",
        "# wanted   this",
        "# seen     that",
    ]
    begin = lines.index("# When something happens") + 1
    assert lines[begin : begin + 11] == [
        "kubectl apply -f - <<'END'",
        "apiVersion: v1",
        "kind: Node",
        "metadata: {name: gpu-1}",
        "---",
        "apiVersion: v1",
        "kind: Pod",
        "metadata: {name: urgent, namespace: pre-01}",
        "END",
        "settle",
        "look",
    ]


def test_pods_of_a_given_are_waited_for() -> None:
    pod = created("Pod", "low", "/api/v1/namespaces/muster-7-1/pods", "muster-7-1")
    wait = "kubectl wait -n pre-01 --for=jsonpath='{.status.phase}'=Running --timeout=30s pod/low"
    assert wait in script_of(pod, kind="given").splitlines()


def test_a_pod_that_is_created_again_is_gone_before() -> None:
    pods = "/api/v1/namespaces/muster-7-1/pods"
    again = created("Pod", "low", pods, "muster-7-1")
    lines = script_of(Write("DELETE", f"{pods}/low", {}, None, JSON), again).splitlines()
    gone = lines.index("kubectl wait -n pre-01 --for=delete --timeout=60s pod/low")
    assert lines[gone - 1] == "kubectl delete pods low -n pre-01 --wait=false"
    assert lines[gone + 1] == "kubectl apply -f - <<'END'"


def test_changes_and_deletions_are_commands() -> None:
    groups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/muster-7-1/podgroups/gang"
    pod = "/api/v1/namespaces/muster-7-1/pods/low"
    lines = script_of(
        Write("PATCH", "/api/v1/nodes/gpu-1", {}, {"spec": {"note": "it's"}}, MERGE_PATCH),
        Write("PATCH", "/api/v1/nodes/gpu-1/status", {}, {"status": {}}, STRATEGIC_PATCH),
        Write("PATCH", groups, {}, {"spec": {"minMember": 2}}, MERGE_PATCH),
        Write("DELETE", pod, {"gracePeriodSeconds": "0"}, None, JSON),
        Write("DELETE", pod, {}, None, JSON),
        Write("POST", f"{pod}/binding", {}, {"kind": "Binding"}, JSON),
    ).splitlines()
    begin = lines.index("# When something happens") + 1
    assert lines[begin : begin + 8] == [
        """kubectl patch nodes gpu-1 --type=merge -p '{"spec": {"note": "it'\\''s"}}'""",
        """kubectl patch nodes gpu-1 --subresource=status --type=strategic -p '{"status": {}}'""",
        """kubectl patch podgroups.scheduling.volcano.sh gang -n pre-01 --type=merge -p '{"spec": {"minMember": 2}}'""",
        "kubectl delete pods low -n pre-01 --grace-period=0 --force --wait=false",
        "kubectl delete pods low -n pre-01 --wait=false",
        "kubectl create --raw /api/v1/namespaces/pre-01/pods/low/binding -f - <<'END'",
        '{"kind": "Binding"}',
        "END",
    ]


def test_objects_of_the_harness_are_left_out() -> None:
    probe = created("Pod", "muster-probe-3", "/api/v1/namespaces/muster/pods", "muster")
    label = Write("PATCH", "/api/v1/nodes/muster-probe", {}, {"metadata": {}}, MERGE_PATCH)
    assert "probe" not in script_of(probe, label)


def test_what_only_the_reader_can_do_is_a_function_where_it_is_needed() -> None:
    script = KubectlScript("muster-7-1", "pre-21", "muster up")
    script.step_begins("When", "pods compete", "when")
    script.call(PAUSE)
    script.call(RESUME)
    text = script.text("PRE-21", "failed")
    assert "pause_scheduler() { kill -STOP" in text
    assert RESTART not in text


def test_the_script_is_valid_shell() -> None:
    pod = created("Pod", "low", "/api/v1/namespaces/muster-7-1/pods", "muster-7-1")
    checked = subprocess.run(["sh", "-n"], input=script_of(pod, kind="given"), text=True, check=False)
    assert checked.returncode == 0


def test_a_time_is_that_of_the_script_and_not_of_the_scenario() -> None:
    since = {"status": {"conditions": [{"type": "Ready", "lastTransitionTime": "2026-11-18T16:05:07Z"}]}}
    patch = Write("PATCH", "/api/v1/nodes/gpu-1/status", {}, since, STRATEGIC_PATCH)
    (line,) = (one for one in script_of(patch).splitlines() if one.startswith("kubectl patch"))
    printed = subprocess.run(
        ["sh", "-c", line.replace("kubectl", "echo", 1)], capture_output=True, text=True, check=True
    )
    assert "2026-11-18T16:05:07Z" not in printed.stdout
    assert re.search(r'"lastTransitionTime": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"', printed.stdout)
