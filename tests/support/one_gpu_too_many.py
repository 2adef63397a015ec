"""`python -m tests.support.one_gpu_too_many`: the reference scheduler, for which every node with GPUs has one more."""

from __future__ import annotations

import sys
from dataclasses import replace

from scheduler.__main__ import main
from scheduler.core.scheduling_types import Node
from scheduler.runtime import convert
from scheduler.runtime.api_types import ApiNode
from scheduler.runtime.quantities import exact
from tests.mutation.faults.registry import Patch

_GPU = "nvidia.com/gpu"

if __name__ == "__main__":
    read = convert.convert_node

    def with_one_more(found: ApiNode) -> Node:
        node = read(found)
        gpus = node.allocatable.get(_GPU, 0)
        return replace(node, allocatable={**node.allocatable, _GPU: gpus + exact(_GPU, 1)}) if gpus else node

    Patch().function(read, with_one_more)
    sys.exit(main(sys.argv[1:]))
