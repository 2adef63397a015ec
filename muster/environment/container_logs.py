"""What containers on real nodes print, followed while they run: a pod that is deleted takes its log with it.

The first line of the program `training` names the GPUs that the kubelet has given to it, which nothing else tells: the
API server knows only how many a pod requests.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from contextlib import suppress

import urllib3

from muster import timeouts
from muster.cluster.api import Api
from muster.cluster.resources import POD
from muster.errors import HarnessError
from muster.recording.history import History
from muster.recording.pod_history import PodHistory

_MOST_BYTES = 20_000  # of each container, from its start
_CHUNK = 4096
_GPUS = re.compile(rb"^[^\n]*\bGPUs: (?P<ids>[^\n]*)\n")


class ContainerLogs:
    """The logs of one scenario. One thread for each pod: a dozen at most, which mostly wait."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._texts: dict[str, bytearray] = {}  # by uid
        self._titles: dict[str, str] = {}

    def follow(self, history: History, pods: Iterable[PodHistory]) -> None:
        """Begin with those whose containers have started; call it with `history.changed` held."""
        for pod in pods:
            if pod.uid not in self._texts and (pod.running or pod.ended) and not pod.gone:
                self._texts[pod.uid] = bytearray()
                self._titles[pod.uid] = f"{pod.name} on {pod.node}"
                arguments = (history, pod.uid, pod.namespace, pod.name)
                threading.Thread(target=self._read, args=arguments, name=f"log-{pod.name}", daemon=True).start()

    def text(self) -> str:
        """Everything so far."""
        read = [(self._titles[uid], bytes(text)) for uid, text in list(self._texts.items()) if text]
        return "\n".join(f"{title}:\n{text.decode('utf-8', 'replace')}" for title, text in read)

    def _read(self, history: History, uid: str, namespace: str, name: str) -> None:
        kept = self._texts[uid]
        query = {"follow": "true", "limitBytes": str(_MOST_BYTES)}
        with suppress(HarnessError, OSError, urllib3.exceptions.HTTPError):
            response = self._api.stream(POD.path(namespace, name, "log"), query, idle=timeouts.WATCH_IDLE)
            try:
                for chunk in response.stream(_CHUNK, decode_content=False):
                    kept += chunk
                    self._note_gpus(history, uid, kept)
            finally:
                response.close()
        if not kept:  # too early: the next call tries again
            self._texts.pop(uid, None)

    @staticmethod
    def _note_gpus(history: History, uid: str, kept: bytearray) -> None:
        if uid in history.gpu_ids or not (found := _GPUS.match(kept)):
            return
        ids = found["ids"].decode("utf-8", "replace").split(",")
        with history.changed:
            history.gpu_ids[uid] = tuple(filter(None, (one.strip() for one in ids)))
            history.changed.notify_all()
