"""Trouble in the middle of a scenario is an error with its cause, and the next scenario finds a working plane."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from muster.chronicle.facts import runs
from muster.chronicle.preemptions import nobody_preempted
from muster.chronicle.questions import eventually
from muster.cluster.local import LocalCluster
from muster.errors import BehaviourViolated, HarnessError
from muster.stage import Scene, Stage
from muster.subject.requests import NodeRequest, PodRequest

pytestmark = pytest.mark.plane


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    stage = Stage("kube-scheduler")
    stage.start()
    yield stage
    stage.stop()


@pytest.mark.parametrize("component", ["etcd", "kube-apiserver", "kube-controller-manager", "kwok"])
def test_a_killed_component_is_an_error_that_names_it(stage: Stage, component: str) -> None:
    scene = stage.scene("PRE-01")
    scene.add_nodes([NodeRequest("gpu-1", gpus=1)])
    assert isinstance(stage.cluster, LocalCluster)
    stage.cluster.processes[component].kill()
    with pytest.raises(HarnessError, match=f"{component}.*SIGKILL"):
        play(scene, "first")
    scene = stage.scene("PRE-01")
    scene.add_nodes([NodeRequest("gpu-1", gpus=1)])
    play(scene, "second")
    stage.strike(scene)


def play(scene: Scene, pod: str) -> None:
    scene.submit(PodRequest(pod, 1, 10))
    scene.chronicle.must(eventually(runs(pod)))
    scene.chronicle.close()


def test_a_killed_scheduler_is_an_error_that_names_it(stage: Stage) -> None:
    scene = stage.scene("PRE-01")
    stage.subject.kill()
    with pytest.raises(HarnessError, match="the scheduler kube-scheduler was ended by SIGKILL"):
        scene.chronicle.must(eventually(runs("anything")))
    stage.strike(stage.scene("PRE-01"))


def test_a_paused_scheduler_is_not_live(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = stage.scene("PRE-01")
    stage.subject.pause()
    with monkeypatch.context() as impatient:  # not where a canary is to be bound
        impatient.setattr("muster.timeouts.CANARY", 0.5)
        with pytest.raises(HarnessError, match="not live"):
            scene.chronicle.stays(nobody_preempted())
    stage.strike(scene)  # resumes it
    stage.strike(stage.scene("PRE-01"))


def test_a_scheduler_that_does_not_do_it_fails_with_a_story(stage: Stage) -> None:
    scene = stage.scene("PRE-01")
    scene.add_nodes([NodeRequest("gpu-1", gpus=1)])
    scene.submit(PodRequest("large", 2, 10))
    with pytest.raises(BehaviourViolated) as violated:
        scene.chronicle.must(eventually(runs("large")), within=0.5)
    story = str(violated.value)
    assert "nearest  large waits (asks 2 GPU at priority 10): 0/2 nodes are available" in story
    assert "muster run --scheduler kube-scheduler --only PRE-01 --keep" in story
    stage.strike(scene)


def test_nothing_is_left_behind_by_scenes(stage: Stage) -> None:
    scene = stage.scene("PRE-01")
    scene.add_nodes([NodeRequest("gpu-1", gpus=1)])
    scene.running([PodRequest("one", 1, 10)])
    assert sorted(stage.leaks()) == ["node gpu-1", f"pod {scene.namespace}/one"]
    stage.strike(scene)
    assert stage.leaks() == []
