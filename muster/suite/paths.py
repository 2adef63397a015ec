"""Where the suite lives: the checkout's root when run from a checkout, `muster/_suite` inside an installed wheel.

MUSTER_SUITE names another directory of the same shape; the runner's own tests use it to run a toy suite.
"""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _home() -> Path:
    packed = _PACKAGE / "_suite"
    return packed if packed.is_dir() else _PACKAGE.parent


def suite_root() -> Path:
    """The directory that holds features/, steps/, fixtures/, scheduler/ and pytest.ini."""
    other = os.environ.get("MUSTER_SUITE")
    return Path(other).resolve() if other else _home()


def manifests() -> Path:
    """YAML and nothing else: KWOK stages, subjects' configurations, CRDs."""
    return _home() / "manifests"


def toolchain() -> Path:
    """One go.mod per real component, and the versions and checksums of the official downloads."""
    return _home() / "ci" / "toolchain"


def scheduler_environment() -> dict[str, str]:
    """In which `python -m scheduler` finds the reference scheduler and operator."""
    return {**os.environ, "PYTHONPATH": str(_home())}
