from __future__ import annotations

import re

import pytest

from muster import assets
from muster.assets import components
from muster.assets.components import Component
from muster.suite import paths

# Others are images, or (etcd) have no pinned checksum yet and are built.
RELEASED = [components.component_of(binary) for binary in ("kube-apiserver", "kwok")]
EVERY_RELEASE = pytest.mark.parametrize("component", RELEASED, ids=lambda component: component.name)
EVERY_COMPONENT = pytest.mark.parametrize("component", components.components(), ids=lambda component: component.name)


def test_the_control_plane_is_in_the_catalogue() -> None:
    assert {components.component_of(name).name for name in assets.CONTROL_PLANE} == {"etcd", "kubernetes", "kwok"}


@EVERY_COMPONENT
def test_version_answer_address_and_module_agree(component: Component) -> None:
    assert not component.answers or component.version in component.answers  # some have no --version
    for download in component.downloads.values():
        assert f"v{component.version}/" in download.url
        assert re.fullmatch(r"[0-9a-f]{64}", download.sha256)
        assert download.url.startswith(("https://dl.k8s.io/release/", "https://github.com/"))
    required = (component.directory / "go.mod").read_text()
    assert re.search(rf"^\s*\S+ v{re.escape(component.version)}\b", required, re.MULTILINE)


@EVERY_RELEASE
def test_both_release_architectures_are_pinned(component: Component, monkeypatch: pytest.MonkeyPatch) -> None:
    checksums = []
    for machine in ("x86_64", "aarch64"):
        monkeypatch.setattr("platform.machine", lambda machine=machine: machine)
        pinned = components.component_of(next(iter(component.packages)))
        assert set(pinned.downloads) == set(pinned.packages)
        checksums += [download.sha256 for download in pinned.downloads.values()]
    assert len(set(checksums)) == len(checksums) == 2 * len(component.packages)


def test_a_machine_without_releases_has_no_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert all(not component.downloads for component in components.components())


def test_kubernetes_is_stamped_where_version_is_read() -> None:
    kubernetes = components.component_of("kube-apiserver")
    flags, minor = kubernetes.build["ldflags"], kubernetes.version.split(".")[1]
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        assert f"-X {package}.gitVersion=v{kubernetes.version}" in flags
        assert f"-X {package}.gitMinor={minor}" in flags


@EVERY_COMPONENT
def test_the_go_needed_is_read_from_go_mod(component: Component) -> None:
    assert (1, 25) <= component.go_needed < (2,)


def test_versions_compare_as_numbers() -> None:
    numbers = components.version_numbers
    assert numbers("go1.9.9") < numbers("1.26") < numbers("1.26.8") < numbers("1.27rc1")


def test_the_kubernetes_version_stands_in_one_place() -> None:
    version = components.component_of("kube-apiserver").version
    assert {components.component_of(name).version for name in ("kubectl", "kubelet", "kube-scheduler")} == {version}
    for file in paths.toolchain().glob("kube*/component.toml"):
        assert file.read_text().count(version) == (1 if file.parent.name == "kubernetes" else 0), file
