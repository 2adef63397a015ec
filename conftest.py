"""The suite's sentences, its fixtures and Muster's own plugin: whatever lies in steps/ and fixtures/ is loaded."""

from pathlib import Path

_ROOT = Path(__file__).parent


def _modules(package: str) -> list[str]:
    return [f"{package}.{file.stem}" for file in sorted((_ROOT / package).glob("*.py")) if file.stem != "__init__"]


pytest_plugins = ["muster.plugin", *_modules("fixtures"), *_modules("steps")]
