"""`python -m muster.simulator --kubeconfig FILE`: mark pods as crashed whose job lost a member, until stopped."""

from __future__ import annotations

import argparse
import http.client
import json
import logging
import time
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path

from muster.simulator.api import Refused, SimulatorApi
from muster.simulator.peer_loss import EXIT_CODE, JOB_LABEL, JobMembers, PodName

_PODS = "/api/v1/pods"
_RECONNECT_SECONDS = 0.2  # the API server is down: no event reports when it is back
_CRASH = {"metadata": {"annotations": {EXIT_CODE: "1", "muster.dev/exit-reason": "Error"}}}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m muster.simulator", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--only", default="", metavar="SELECTOR", help="label selector of the pods to simulate")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    args = parser.parse_args()
    api, members = SimulatorApi(args.kubeconfig), JobMembers()
    selector = ",".join(filter(None, (JOB_LABEL, args.only)))
    while True:
        try:
            simulate(api, members, selector)
        except (OSError, http.client.HTTPException, json.JSONDecodeError, Refused) as error:
            logging.info("reconnecting: %s", error)
            time.sleep(_RECONNECT_SECONDS)


def simulate(api: SimulatorApi, members: JobMembers, selector: str = JOB_LABEL) -> None:
    """List, then watch until the stream ends."""
    listed = api.list(_PODS, labelSelector=selector)
    crash(api, members.relist_pods(listed["items"]))
    version = listed["metadata"]["resourceVersion"]
    for event, pod in api.watch(_PODS, labelSelector=selector, resourceVersion=version):
        if event == "ERROR":  # 410 Gone, mostly: list again
            return
        crash(api, members.update(event, pod))


def crash(api: SimulatorApi, pods: Iterable[PodName]) -> None:
    for pod in sorted(pods):
        logging.info("%s/%s crashes: a member of its job was lost", pod.namespace, pod.name)
        try:
            api.patch(f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}", _CRASH)
        except Refused as refusal:
            if refusal.status != HTTPStatus.NOT_FOUND:  # deleted meanwhile
                raise


if __name__ == "__main__":
    main()
