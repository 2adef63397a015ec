"""Every limit of Muster in one place, each with its reason. Slow machine? MUSTER_TIMEOUT_SCALE=3 stretches the waits.

All values are seconds. A limit is a guard, not a pause: waiting ends the moment the awaited change happens.
"""

import os


def _scaled(seconds: float) -> float:
    return seconds * float(os.environ.get("MUSTER_TIMEOUT_SCALE", "1"))


# Scenarios
BEHAVIOUR = _scaled(20)  # a scheduler does what a Then asks; observed times are 0.1–3 s
SETTING_UP = _scaled(30)  # a Given becomes true (nodes ready, pods running)
KUBELET_SILENT = _scaled(20)  # a kubelet renews its lease every 10 s: one that has not has stopped
PROBE = _scaled(15)  # a live scheduler binds the probe pod; one that was just started has COMPONENT_READY
HEALTH_CHECK = 0.5  # how often a wait looks at the processes: one that died notifies no condition variable
QUIET_MINIMUM = 1.0  # "stays so" is never claimed for less than this

# The cluster and its API
LEASE_RENEWAL = _scaled(10)  # a live leader renews its Lease (kube-scheduler every 2 s; its time limit is 10 s)
COMPONENT_READY = _scaled(60)  # a control-plane process answers its health check (cold disk caches, busy CI)
COMPONENT_STOP = _scaled(1.5)  # from SIGTERM to SIGKILL: kube-apiserver drains for a minute if it is let
API_REQUEST = _scaled(5)  # one request, retries not counted; an API server that has lost its etcd just hangs
API_TRANSIENT = _scaled(8)  # transient API errors are retried for so long before they become an error
WATCH_IDLE = 150.0  # the API server sends a bookmark about once a minute; longer silence means a dead connection
WATCH_DOWN = _scaled(10)  # a broken watch is open again: a bit longer than the restart of an API server takes
RECORDER_STOP = 2.0  # a watching thread ends after its connection was cut
CLEARING_AWAY = _scaled(20)  # everything of a run on an existing cluster is gone; namespaces take a few seconds
LEASE_EXPIRED = 60.0  # the Lease of a run was not renewed for so long: the run is dead, its objects may be deleted
KIND_READY = 180  # `kind create cluster --wait`: the first start pulls and unpacks
ENGINE_COMMAND = _scaled(30)  # one command of docker or podman
ENGINE_SCRIPT = _scaled(120)  # a script inside a node's container
ENGINE_IMAGE = _scaled(1800)  # an image of a gigabyte, over a slow line
ROLLOUT = _scaled(120)  # all pods of a Deployment on a kind cluster are available
STATIC_POD_RESTART = 60  # the kubelet ends or starts the scheduler's static pod

# Processes and tools
WATCHDOG_GRACE = _scaled(20)  # from the interrupt to SIGKILL once the parent is dead: enough to stop a control plane
WORKERS_STOP = _scaled(30)  # from an interrupt to SIGKILL: workers stop their clusters in parallel, each within a few
EXPLAIN = _scaled(60)  # `muster explain`: the scheduler gives up by itself after half of that
VERSION_QUERY = _scaled(10)  # a tool prints its version
DOWNLOAD_CONNECT = 0.9  # a host accepts a connection; the next mirror is tried otherwise
DOWNLOAD_STALL = _scaled(10)  # without a single byte for so long a download counts as cut

# Tolerances of assertions. They allow for rounding and for busy machines, never for another rule.
RECORD_ORDER_TOLERANCE = 0.25  # watches of different kinds may be apart by this where versions do not compare
RECENTLY_BOUND = 5.0  # a pod bound so recently may be the preemptor of a pod that was just evicted
EVENT_ORDER_TOLERANCE = 1.0  # events have times of one second: closer ones have no order
TAINT_EVICTION_EARLY = 0.25  # the recorder and the taint controller see a taint at slightly different times
TAINT_EVICTION_LATE = 5.0  # a busy machine
JOB_TIMES_EARLY = 1.5  # times in a status are rounded down to a second, and arrive a little later
JOB_TIMES_LATE = 5.0  # a busy machine
