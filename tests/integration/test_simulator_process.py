"""The workload simulator with a real API server."""

from __future__ import annotations

from pathlib import Path

import pytest

from muster.cluster.local import LocalCluster
from muster.cluster.resources import POD
from tests.support.local_cluster import Watch, bind, is_gone, node, phase_is, pod

pytestmark = pytest.mark.plane


def test_only_the_peers_of_a_lost_member_crash() -> None:
    with LocalCluster() as cluster:
        api = cluster.connection.api
        watch = Watch(api)
        api.create(node("n", gpus=8))
        members = {"m1": "mine", "m2": "mine", "m3": "mine", "other": "other"}
        for name, job in members.items():
            api.create(pod(name, job=job, on_peer_loss="crash"))
            bind(api, name, "n")
            watch.until(POD, name, phase_is("Running"))
        api.delete(POD, "m1", "default")
        gone = watch.until(POD, "m1", is_gone)
        for name in ("m2", "m3"):
            crashed = watch.until(POD, name, phase_is("Failed"))
            assert gone <= crashed
            print(f"{name} failed {(crashed - gone) * 1000:.0f} ms after m1 was gone")
            ended = api.get(POD, name, "default")["status"]["containerStatuses"][0]["state"]["terminated"]
            assert (ended["exitCode"], ended["reason"]) == (1, "Error")
        assert api.get(POD, "other", "default")["status"]["phase"] == "Running"

        pid = cluster.processes["simulator"].pid
        status = Path(f"/proc/{pid}/status").read_text()
        memory = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024
        print(f"simulator: {memory:.0f} MiB")
        assert memory < 60
