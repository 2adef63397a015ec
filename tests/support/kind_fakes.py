"""A `docker` and a `kind` that do as they are told and write down what they were asked."""

from __future__ import annotations

from pathlib import Path

import pytest

# MOOD decides what goes wrong. The file of calls is part of the text: the reaper calls with an empty environment.
_DOCKER = """#!/bin/sh
echo "docker $*" >> "@CALLS"
case "$1-$MOOD" in
info-down) echo '{"ServerErrors": ["Cannot connect to the Docker daemon at unix:///x."]}'; exit 1 ;;
info-forbidden) echo '{"ServerErrors": ["dial unix /var/run/docker.sock: connect: permission denied"]}'; exit 1 ;;
info-*) echo '{"ServerVersion": "20.10.24", "CgroupVersion": "1"}' ;;
image-*) test -e "@LOADED" || { echo 'Error: No such image' >&2; exit 1; }; echo "id-of-$5" ;;
container-*) echo "id-of-$NODE_IMAGE $NODE_IMAGE" ;;
load-full) echo 'write /layer.tar: no space left on device' >&2; exit 1 ;;
load-*) touch "@LOADED" ;;
pull-*) echo 'Error response from daemon: dial tcp: lookup registry-1.docker.io: no such host' >&2; exit 1 ;;
exec-*) case "$*" in
  *scheduler.conf*) cat "$HANDED_OUT" ;;
  *'cat /etc/kubernetes/kube-scheduler.yaml') echo 'spec: {containers: [{command: [kube-scheduler]}]}' ;;
  *'cat > '*) cat >> "@CALLS" ;;
  esac ;;
rm-*) echo 'Error: No such container' >&2; exit 1 ;;
esac
"""
_KIND = """#!/bin/sh
test "$1" = --version && { echo 'kind version 0.33.0'; exit 0; }
echo "kind $*" >> "@CALLS"
case "$1-$2-$MOOD" in
get-clusters-*) echo "$CLUSTERS" ;;
get-nodes-*) echo "$NODES" ;;
get-kubeconfig-*) cat "$HANDED_OUT" ;;
create-cluster-fail) echo 'ERROR: failed to create cluster: could not find a log line'; exit 1 ;;
create-cluster-full) echo 'Error response from daemon: mkdir /x: no space left on device'; exit 1 ;;
create-cluster-hang) sleep 600 ;;
esac
"""
_KWOK = "#!/bin/sh\necho kwok version v0.8.0\n"


class Fakes:
    """Programs on PATH, and what became of them."""

    def __init__(self, base: Path, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self.bin = base / "bin"
        self.calls_file = base / "calls"
        self.loaded = base / "loaded"
        self.temporary = base / "tmp"
        for folder in (self.bin, self.temporary):
            folder.mkdir()
        for name, text in (("docker", _DOCKER), ("kind", _KIND), ("kwok", _KWOK)):
            text = text.replace("@CALLS", str(self.calls_file)).replace("@LOADED", str(self.loaded))
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)
        patch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")
        patch.setenv("MUSTER_ASSET_KIND", str(self.bin / "kind"))
        patch.setenv("MUSTER_ASSET_KWOK", str(self.bin / "kwok"))
        patch.setenv("HANDED_OUT", str(base / "nothing"))
        patch.setenv("CLUSTERS", "")
        patch.setenv("NODES", "")
        patch.setenv("NODE_IMAGE", "the-image-it-was-made-from")
        patch.setenv("MUSTER_CACHE", str(base / "cache"))  # where locks are
        patch.setenv("TMPDIR", str(self.temporary))
        patch.setattr("tempfile.tempdir", str(self.temporary))
        self.mood("")

    def mood(self, mood: str) -> None:
        self._patch.setenv("MOOD", mood)

    def set(self, name: str, value: str) -> None:
        self._patch.setenv(name, value)

    def has_image(self) -> None:
        self.loaded.touch()

    def calls(self, beginning: str = "") -> list[str]:
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        return [line for line in lines if line.startswith(beginning)]
