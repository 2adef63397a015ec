"""Every limit of Muster in one place, each with its reason. Slow machine? MUSTER_TIMEOUT_SCALE=3 stretches them all.

A limit is a guard, not a wait: whatever is awaited ends the waiting the moment it happens.
"""

import os


def _scaled(seconds: float) -> float:
    return seconds * float(os.environ.get("MUSTER_TIMEOUT_SCALE", "1"))


COMPONENT_READY = _scaled(60)  # a control-plane process answers its health check (cold disk caches, busy CI)
COMPONENT_STOP = _scaled(1.5)  # from SIGTERM to SIGKILL: kube-apiserver drains for a minute if it is let
BEHAVIOUR = _scaled(20)  # a scheduler does what a Then asks; observed times are 0.1–3 s
SETTING_UP = _scaled(30)  # a Given becomes true (nodes ready, pods running)
CANARY = _scaled(15)  # a live scheduler binds a pod that nothing stands against; one just started has COMPONENT_READY
API_REQUEST = _scaled(5)  # one request, retries not counted; an API server that has lost its etcd just hangs
API_TRANSIENT = _scaled(8)  # transient API errors are retried for so long before they become an error
CLEARING_AWAY = _scaled(20)  # everything of a run on somebody's cluster is gone; namespaces take a few seconds
QUIET_MINIMUM = 1.0  # "stays so" is never claimed for less than this
