"""The API server as this package sees it: one client for requests, one reflector per kind that is followed.

Written on aiohttp and msgspec, because the official client costs 43 MB and most of a core at a few hundred pods a
second.
"""

from scheduler.client.access import Access, AccessError
from scheduler.client.client import Client
from scheduler.client.errors import ApiError, Unreachable
from scheduler.client.objects import Metadata, OwnerReference, Watched
from scheduler.client.reflector import ADDED, DELETED, MODIFIED, Reflector

__all__ = [
    "ADDED",
    "DELETED",
    "MODIFIED",
    "Access",
    "AccessError",
    "ApiError",
    "Client",
    "Metadata",
    "OwnerReference",
    "Reflector",
    "Unreachable",
    "Watched",
]
