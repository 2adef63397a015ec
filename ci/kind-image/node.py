"""A Debian root file system becomes a kind node: kind's own files, its programs, the images of its control plane.

What kind's Dockerfile does with `systemctl` is done here with the links that it would make: no running systemd. The
images lie in one archive that the node hands to its containerd when it starts (load-images.service).
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from muster.assets import image_archive as archive
from muster.assets.components import Component
from muster.assets.image_archive import Image

OUR_FILES = Path(__file__).parent / "files"
NODE_PROGRAMS = {
    "usr/bin": ("kubeadm", "kubelet", "kubectl"),
    "usr/local/bin": ("containerd", "ctr", "containerd-shim-runc-v2", "gpu-plugin"),
}
POD_PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "etcd", "coredns")
_KINDS_FILES = "images/base/files/"  # in kind's module: below it lies the shape of a node
_WANTED = ("kubelet", "containerd", "undo-mount-hacks", "pod-network", "gpu-plugin", "load-images")
# As kind's Dockerfile has it: units that would touch the machine outside the container, or fail in it.
_UNWANTED = (
    "lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service",
    "lib/systemd/system/multi-user.target.wants/*",
    "etc/systemd/system/*.wants/*",
    "lib/systemd/system/local-fs.target.wants/*",
    "lib/systemd/system/sockets.target.wants/*udev*",
    "lib/systemd/system/sockets.target.wants/*initctl*",
    "lib/systemd/system/basic.target.wants/*",
)
_NETWORK_PLUGINS = ("loopback", "host-local", "ptp", "portmap")
# containerd writes a node's network configuration when the kubelet tells it the node's addresses for pods.
_POD_NETWORK = """
[plugins."io.containerd.grpc.v1.cri".cni]
  conf_dir = "/etc/cni/generated.d"
  conf_template = "/kind/pods.conflist.template"
"""
_PAUSE = "usr/bin/catatonit"  # static; -P waits for signals and reaps, which is all that a pause does
_FIREWALL = ("iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore")


def furnish(root: Path, kind: Component, files: Mapping[str, Path], version: str) -> None:
    """Turn the root file system into a node: `files` are kind's own and the programs, by name."""
    for name, place in kind.files.items():
        _install(files[name], root / place.removeprefix(_KINDS_FILES), executable="/bin/" in place)
    for place, programs in NODE_PROGRAMS.items():
        for program in programs:
            _install(files[program], root / place / program, executable=True)
    for plugin in _NETWORK_PLUGINS:
        _install(root / "usr/lib/cni" / plugin, root / "opt/cni/bin" / plugin, executable=True)
    shutil.copytree(OUR_FILES, root, dirs_exist_ok=True)
    with (root / "etc/containerd/config.toml").open("a") as settings:
        settings.write(_POD_NETWORK)
    (root / "kind/version").write_text(f"v{version}")
    (root / "etc/kubernetes/manifests").mkdir(parents=True)
    _choose_units(root)
    _write_container_defaults(root, files["ctr"])


def preload(root: Path, files: Mapping[str, Path], version: str, work: Path) -> None:
    """Put the images that kubeadm and containerd need into the node."""
    asked = subprocess.run(
        [files["kubeadm"], "config", "images", "list", f"--kubernetes-version=v{version}"],
        env={"HOME": str(work), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    sandbox = re.findall(r'sandbox_image = "(\S+)"', (root / "etc/containerd/config.toml").read_text())
    references: dict[str, set[str]] = {}
    for reference in [*asked, *sandbox]:
        references.setdefault(reference.rpartition("/")[2].partition(":")[0], set()).add(reference)
    images = [_image(program, sorted(known), root, files) for program, known in sorted(references.items())]
    archive.write(images, work / "images.tar")
    shutil.move(work / "images.tar", root / "kind/images.tar")


def _image(program: str, references: list[str], root: Path, files: Mapping[str, Path]) -> Image:
    if program == "pause":
        settings = {"Entrypoint": ["/pause", "-P"]}
        return Image(references=references, files={"pause": root / _PAUSE}, settings=settings)
    own = {f"usr/local/bin/{program}": files[program]}
    if program == "kube-proxy":
        return Image(references=references, files=own | _firewall(root))
    return Image(references=references, files=own, settings={"Entrypoint": [f"/usr/local/bin/{program}"]})


def _firewall(root: Path) -> dict[str, Path]:
    """iptables and nft with every library that they load, by the paths of the loader."""
    rules, nft = Path("usr/sbin/xtables-nft-multi"), Path("usr/sbin/nft")
    modules = [path.relative_to(root) for path in root.glob("usr/lib/*/xtables/*.so")]
    found = subprocess.run(
        ["chroot", root, "ldd", *(f"/{path}" for path in (rules, nft, *modules))],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    libraries = sorted(set(re.findall(r"(?:=>\s|^\s+)/(\S+\.so\S*) \(", found, re.MULTILINE)))
    named = {f"usr/sbin/{name}": root / rules for name in _FIREWALL}
    return named | {str(place): (root / place).resolve() for place in (nft, *modules, *map(Path, libraries))}


def _install(source: Path, target: Path, *, executable: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if executable else 0o644)


def _choose_units(root: Path) -> None:
    for pattern in _UNWANTED:
        for unit in root.glob(pattern):
            unit.unlink()
    units = root / "etc/systemd/system"
    wants = units / "multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    for name in _WANTED:
        (wants / f"{name}.service").symlink_to(f"/etc/systemd/system/{name}.service")
    (units / "systemd-binfmt.service").symlink_to("/dev/null")  # it would register formats in the machine's kernel
    with (root / "etc/systemd/journald.conf").open("a") as journal:
        journal.write("ReadKMsg=no\n")


def _write_container_defaults(root: Path, ctr: Path) -> None:
    """Every container of the node hides the machine's product name and id, by a hook of kind's."""
    spec = json.loads(subprocess.run([ctr, "oci", "spec"], capture_output=True, text=True, check=True).stdout)
    spec["hooks"] = {"createContainer": [{"path": "/kind/bin/mount-product-files.sh"}]}
    spec["process"].pop("rlimits", None)
    (root / "etc/containerd/cri-base.json").write_text(json.dumps(spec, indent=1))
