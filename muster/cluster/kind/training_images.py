"""The images of containers on real nodes, written without an engine: one program under the names that manifests use.

Whatever a container runs (sh, sleep, python, mpirun) is the program `training` of ci/toolchain; the environment in an
image's configuration says how it behaves where the pod does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from muster import assets
from muster.assets import cache
from muster.assets.components import component_of
from muster.assets.image_archive import Image, write

PROGRAM = "training"
TRAINING = "muster.dev/training:1"  # named by no manifest: for an owner's nodes, where a pod has the variables
KUBECTL_DELIVERY = "muster.dev/kubectl-delivery:1"  # the init container of launchers that reach workers by kubectl
_COMMANDS = (
    "bin/sh",
    "bin/sleep",
    "usr/bin/python",
    "usr/bin/mpirun",
    "usr/sbin/sshd",
    "usr/local/bin/tensorboard",
)
_PATH = "PATH=/usr/local/bin:/usr/bin:/bin"
_WALKTHROUGHS = (
    "registry.cn-huhehaote.aliyuncs.com/lumo/pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime",
    "registry.aliyuncs.com/tensorflow-samples/horovod:0.13.11-tf1.10.0-torch0.4.0-py3.5",
    "docker.io/tensorflow/tensorflow:2.19.0",
)
# It lasts until the scenario ends it, also when a peer is lost: a busy machine must not decide when a job is over, and
# the operator alone decides what a lost replica does to its job.
_STEADY = ("docker.io/library/training:latest", "muster.dev/nothing-runs-here:latest")
_BUSYBOX = ("docker.io/library/busybox:latest",)  # the first process of a container has no handler for SIGTERM
_INIT = ("registry.k8s.io/git-sync/git-sync:v4.4.0", "docker.io/library/alpine:3.10", KUBECTL_DELIVERY)
VARIABLES = {
    (*_WALKTHROUGHS, TRAINING): (),
    _STEADY: ("MUSTER_TRAINING=steady",),
    _BUSYBOX: ("MUSTER_ON_SIGTERM=ignore",),
    _INIT: ("MUSTER_TRAINING=init",),
}


def variables_by_reference() -> dict[str, tuple[str, ...]]:
    """What the environment of a container adds where one image takes the place of all."""
    return {reference: variables for references, variables in VARIABLES.items() for reference in references}


def training_archive(print_line: Callable[[str], None]) -> Path:
    """The archive of all images, from the cache or newly written; the program is built where it is missing."""
    program = assets.ensure((PROGRAM,), print_line=print_line)[PROGRAM]
    kept = cache.directory() / "kind" / f"training-{_key()}.tar"
    with cache.install_lock("training-images", "the images of real nodes", print_line):
        if not kept.is_file():
            with cache.scratch_directory("training-images") as work:
                write(images(program, work), work / kept.name)
                with cache.writing():
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    (work / kept.name).replace(kept)
    return kept


def images(program: Path, work: Path) -> list[Image]:
    """One image for each set of variables; links in `work` become the links in the images."""
    link = work / "link"
    link.symlink_to(f"/{PROGRAM}")
    files = {PROGRAM: program} | dict.fromkeys(_COMMANDS, link)
    return [
        Image(
            references=references,
            files=files,
            settings={"Entrypoint": [f"/{PROGRAM}"], "Env": [_PATH, *variables]},
        )
        for references, variables in VARIABLES.items()
    ]


def _key() -> str:
    recipe = repr((component_of(PROGRAM).fingerprint, VARIABLES, _COMMANDS))
    return hashlib.sha256(recipe.encode()).hexdigest()[:12]
