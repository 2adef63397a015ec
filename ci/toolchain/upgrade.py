"""Move a component of ci/toolchain to another release: `python ci/toolchain/upgrade.py COMPONENT VERSION`.

Changes the version in component.toml and the modules of that release in go.mod and go.sum, for the components of the
same release (`version_of`) too. Prints what is left to do by hand. docs/upgrading.md has the whole recipe.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

_TOOLCHAIN = Path(__file__).resolve().parent
_DEPTH = {"github.com": 3}  # parts of a package path that name the project; two elsewhere (go.etcd.io/etcd)


def main() -> int:
    if len(sys.argv) != 3 or not (_TOOLCHAIN / sys.argv[1] / "component.toml").is_file():
        names = ", ".join(sorted(file.parent.name for file in _TOOLCHAIN.glob("*/component.toml")))
        print(f"usage: python ci/toolchain/upgrade.py COMPONENT VERSION; components: {names}", file=sys.stderr)
        return 64
    name, new = sys.argv[1], sys.argv[2].removeprefix("v")
    file = _TOOLCHAIN / name / "component.toml"
    table = tomllib.loads(file.read_text())
    if "version_of" in table:
        print(f"{name} is of the same release as {table['version_of']}: upgrade that one", file=sys.stderr)
        return 64
    old = table["version"]
    followers = [
        one.parent for one in _TOOLCHAIN.glob("*/component.toml") if f'version_of = "{name}"' in one.read_text()
    ]
    for directory in (file.parent, *followers):
        _upgrade_modules(directory, old, new)
    file.write_text(file.read_text().replace(f'version = "{old}"', f'version = "{new}"', 1))
    print(f"{name} {old} -> {new}")
    if "sha256" in file.read_text():
        print(f"by hand: the sha256 of every download in {file.relative_to(_TOOLCHAIN.parent.parent)}")
    print("then: make assets, make test, and what docs/upgrading.md says")
    return 0


def _upgrade_modules(directory: Path, old: str, new: str) -> None:
    """The modules of the release move together; Kubernetes' staging modules carry its version as v0.MINOR.PATCH."""
    modules = directory / "go.mod"
    text = modules.read_text()
    packages = tomllib.loads((directory / "component.toml").read_text())["binaries"].values()
    for project in {
        "/".join(one["package"].split("/")[: _DEPTH.get(one["package"].split("/")[0], 2)]) for one in packages
    }:
        text = re.sub(rf"({re.escape(project)}\S* )v{re.escape(old)}(?!\S)", rf"\g<1>v{new}", text)
    if "k8s.io/kubernetes " in text:
        text = re.sub(rf"(k8s\.io/\S+ )v{re.escape(_staging(old))}(?!\S)", rf"\g<1>v{_staging(new)}", text)
    modules.write_text(text)
    subprocess.run(["go", "mod", "tidy"], cwd=directory, check=True)


def _project(package: str) -> str:
    parts = package.split("/")
    return "/".join(parts[: _DEPTH.get(parts[0], 2)])


def _staging(version: str) -> str:
    _, _, rest = version.partition(".")
    return f"0.{rest}"


if __name__ == "__main__":
    sys.exit(main())
