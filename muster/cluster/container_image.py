"""The image that holds the control plane. Its name says what is in it: an old one is never taken for a new one."""

from __future__ import annotations

import hashlib

from muster.assets.catalogue import component_of
from muster.cluster.local.plane import BINARIES

INIT = "plane-init"
PROGRAMS = (*BINARIES, INIT)
PLACE = "/bin"  # of the programs in the image


def reference() -> str:
    """Such as muster-plane:1.37.1-0123456789ab. Two of the same name hold the same programs."""
    made_of = {f"{one.name} {one.version} {one.fingerprint}" for one in map(component_of, PROGRAMS)}
    key = hashlib.sha256("\n".join(sorted(made_of)).encode()).hexdigest()[:12]
    return f"muster-plane:{component_of('kube-apiserver').version}-{key}"
