"""Why does a pod wait? Answered from the objects as they are now, by the same rules that decide."""

from __future__ import annotations

import asyncio
import sys

from scheduler.client import Access, Client
from scheduler.core.explain import explain
from scheduler.core.policy import Policy
from scheduler.runtime.world import World, all_synced

_PATIENCE = 30.0  # seconds for listing everything


async def explain_pod(access: Access, policy: Policy, namespace: str, name: str) -> int:
    """The exit code: 0 when there was something to explain, 1 when there is no such pod."""
    world = World(lambda: None)
    async with Client(access) as client:
        reflectors = world.reflectors(client)
        tasks = [asyncio.create_task(reflector.run()) for reflector in reflectors]
        try:
            async with asyncio.timeout(_PATIENCE):
                await all_synced(reflectors)
        except TimeoutError:
            sys.stderr.write("the API server could not be read completely\n")
            return 1
        finally:
            for task in tasks:
                task.cancel()
    pod = next((pod for pod in world.cluster.pods.values() if pod.key == (namespace, name)), None)
    if pod is None:
        sys.stderr.write(f"there is no pod {namespace}/{name} that waits or runs\n")
        return 1
    sys.stdout.write(f"{explain(world.cluster, policy, pod)}\n")
    return 0
