"""The suite's steps, its fixtures and Muster's pytest plugin: every module of steps/ and fixtures/ is loaded."""

from pathlib import Path

import pytest

_ROOT = Path(__file__).parent


def _modules(package: str) -> list[str]:
    return [f"{package}.{file.stem}" for file in sorted((_ROOT / package).glob("*.py")) if file.stem != "__init__"]


# Before any of them is imported: they import each other, and pytest would complain that it came too late.
pytest.register_assert_rewrite(*_modules("fixtures"), *_modules("steps"))
pytest_plugins = ["muster.pytest_plugin.plugin", *_modules("fixtures"), *_modules("steps")]
