"""`python -m muster.player --kubeconfig FILE`: watch the members of jobs and mark those that crash, until stopped."""

from __future__ import annotations

import argparse
import http.client
import json
import logging
import time
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path

from muster.player.api import PlayerApi, Refused
from muster.player.jobs import EXIT_CODE, JOB_LABEL, Jobs, PodName

_PODS = "/api/v1/pods"
_RECONNECT_SECONDS = 0.2  # the API server is away: no event will tell when it is back
_MARK = {"metadata": {"annotations": {EXIT_CODE: "1", "muster.dev/exit-reason": "Error"}}}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m muster.player", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--only", default="", metavar="SELECTOR", help="of the labels of pods, where others play, too")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    given = parser.parse_args()
    api, jobs = PlayerApi(given.kubeconfig), Jobs()
    members = ",".join(filter(None, (JOB_LABEL, given.only)))
    while True:
        try:
            play(api, jobs, members)
        except (OSError, http.client.HTTPException, json.JSONDecodeError, Refused) as trouble:
            logging.info("starting over: %s", trouble)
            time.sleep(_RECONNECT_SECONDS)


def play(api: PlayerApi, jobs: Jobs, members: str = JOB_LABEL) -> None:
    """List, then follow the changes until the stream ends."""
    listed = api.list(_PODS, labelSelector=members)
    crash(api, jobs.replaced(listed["items"]))
    version = listed["metadata"]["resourceVersion"]
    for event, pod in api.watch(_PODS, labelSelector=members, resourceVersion=version):
        if event == "ERROR":  # 410 Gone, mostly: list again
            return
        crash(api, jobs.changed(event, pod))


def crash(api: PlayerApi, pods: Iterable[PodName]) -> None:
    for pod in sorted(pods):
        logging.info("%s/%s crashes: a member of its job was lost", pod.namespace, pod.name)
        try:
            api.patch(f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}", _MARK)
        except Refused as refusal:
            if refusal.status != HTTPStatus.NOT_FOUND:  # gone meanwhile
                raise


if __name__ == "__main__":
    main()
