"""Paths of the suite: the checkout's root when run from a checkout, `muster/_suite` inside an installed wheel.

MUSTER_SUITE names another directory of the same shape; the tests of the runner use it to run a toy suite.
"""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def _suite_directory() -> Path:
    installed = _PACKAGE / "_suite"
    return installed if installed.is_dir() else _PACKAGE.parent


def suite_root() -> Path:
    """The directory that holds features/, steps/, fixtures/, scheduler/ and pytest.ini."""
    override = os.environ.get("MUSTER_SUITE")
    return Path(override).resolve() if override else _suite_directory()


def manifests() -> Path:
    """YAML and nothing else: KWOK stages, configurations of schedulers, CRDs."""
    return _suite_directory() / "manifests"


def toolchain() -> Path:
    """One go.mod per real component, and the versions and checksums of the official downloads."""
    return _suite_directory() / "ci" / "toolchain"


def scheduler_environment() -> dict[str, str]:
    """The environment in which `python -m scheduler` finds the reference scheduler and operator."""
    return {**os.environ, "PYTHONPATH": str(_suite_directory())}
