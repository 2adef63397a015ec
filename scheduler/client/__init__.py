"""The API client: one client for requests, one reflector per watched kind.

Built on aiohttp and msgspec: the official client costs 43 MB and most of a core at a few hundred pods per second.
"""

from scheduler.client.access import Access, AccessError
from scheduler.client.client import Client
from scheduler.client.errors import ApiError, NotLeader, Unreachable
from scheduler.client.metadata import Metadata, OwnerReference, Watched
from scheduler.client.reflector import ADDED, DELETED, IS_SCOPED, MODIFIED, Reflector, all_synced, relist_all
from scheduler.client.write_deadline import WriteDeadline

__all__ = [
    "ADDED",
    "DELETED",
    "IS_SCOPED",
    "MODIFIED",
    "Access",
    "AccessError",
    "ApiError",
    "Client",
    "Metadata",
    "NotLeader",
    "OwnerReference",
    "Reflector",
    "Unreachable",
    "Watched",
    "WriteDeadline",
    "all_synced",
    "relist_all",
]
