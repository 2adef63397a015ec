"""A failed scenario as a shell script of manifests and kubectl commands: it shows the same without Muster.

Made from the scenario's own writes to the API, in their order, under the text of the step that made each. Traps: names
of an existing cluster are those of the scenario, without the run id; what is not a write, such as pausing the
scheduler, is a function at the top that the reader has to fill in.
"""

from __future__ import annotations

import json
import re

import yaml

from muster.cluster.api import MERGE_PATCH, Write

_PATH = re.compile(
    r"^/apis?/(?:(?P<group>[^/]+\.[^/]+|apps|policy|batch)/)?v[^/]+"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<subresource>[^/]+))?$"
)
_SINCE = re.compile(r'(?<="lastTransitionTime": ")[^"]+')
_NOW = "'\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\"'"  # ends and begins the quotes around the patch
_HARNESS = "muster-probe"  # the probe's node and pods: they prove that the scheduler is live, and change nothing
_HEAD = """\
#!/bin/sh
# {title}
#
# Run it with kubectl on a cluster whose nodes KWOK simulates and that runs the scheduler, for example
#   {cluster}
# {verdict}
NAMESPACE={namespace}
settle() {{ sleep "${{SETTLE:-3}}"; }}  # time for the scheduler to act
look() {{ settle; kubectl get pods -n "$NAMESPACE" -o wide; }}
"""
PAUSE, RESUME, RESTART = "pause_scheduler", "resume_scheduler", "restart_scheduler"
_FUNCTIONS = {
    PAUSE: 'kill -STOP "${SCHEDULER_PID:?set it to the process id of the scheduler}"',
    RESUME: 'kill -CONT "$SCHEDULER_PID"',
    RESTART: "printf 'Kill and start the scheduler, then press Enter: '; read -r _",
}
_TAIL = """
kubectl get pods -n "$NAMESPACE" \\
  -o custom-columns='POD:.metadata.name,WHY PENDING:.status.conditions[?(@.type=="PodScheduled")].message' | cut -c1-200
kubectl get events -n "$NAMESPACE" --sort-by=.metadata.creationTimestamp --no-headers \\
  -o custom-columns=REASON:.reason,OBJECT:.involvedObject.name,MESSAGE:.message |
  grep -vE '^(Pulled|Created|Started|FailedScheduling) ' | cut -c1-200 | tail -n 20
# To delete all of it: kubectl delete namespace "$NAMESPACE"; kubectl delete node {nodes}
"""


class KubectlScript:
    """Collects what one scenario does."""

    def __init__(self, namespace: str, name: str, cluster: str) -> None:
        """`name` is the namespace in the script, and `cluster` a command that starts a cluster for it."""
        self._namespace, self._name, self._cluster = namespace, name, cluster
        self._lines: list[str] = []
        self._manifests: list[str] = []  # to be applied by one command
        self._created: list[str] = []  # pods of the current step
        self._nodes: list[str] = []
        self._deleted: set[str] = set()  # pods that may still terminate
        self._is_given = self._is_then = False

    def step_begins(self, keyword: str, text: str, kind: str) -> None:
        self._end_step()
        if self._is_then and kind != "then":
            self._lines.append("look")
        self._is_given, self._is_then = kind == "given", kind == "then"
        self._lines += ["", f"# {keyword} {text}"]

    def write(self, write: Write) -> None:
        """Record one write; those about the harness's own objects are left out."""
        found = _PATH.match(write.path)
        about = f"{write.path} {(write.body or {}).get('metadata', {}).get('name', '')}"
        if found is None or _HARNESS in about or found["plural"] == "serviceaccounts":  # a controller creates these
            return
        if write.method != "POST" or found["subresource"]:
            self._apply()
            self._lines += _command(write, found)
            if write.method == "DELETE" and found["plural"] == "pods" and found["name"]:
                self._deleted.add(found["name"])
            return
        name = str((write.body or {}).get("metadata", {}).get("name", ""))
        if found["plural"] == "pods" and name in self._deleted:  # or it would be the terminating pod that is changed
            self._apply()
            self._lines.append(f"kubectl wait -n {found['namespace']} --for=delete --timeout=60s pod/{name}")
            self._deleted.remove(name)
        self._manifests.append(_yaml(write.body))
        if found["plural"] == "pods":
            self._created.append(name)
        elif found["plural"] == "nodes":
            self._nodes.append(name)

    def call(self, function: str) -> None:
        """PAUSE, RESUME or RESTART: what no request to the API can do."""
        self._apply()
        self._lines.append(function)

    def comment(self, text: str) -> None:
        """What the reader has to do at this point."""
        self._apply()
        self._lines.append(f"# {text}")

    def text(self, title: str, failure: str) -> str:
        """The whole script, up to the step that failed."""
        self._end_step()
        verdict = "\n# ".join(failure.splitlines())
        head = _HEAD.format(title=title, cluster=self._cluster, verdict=verdict, namespace=self._name)
        used = [f"{name}() {{ {body}; }}\n" for name, body in _FUNCTIONS.items() if name in self._lines]
        body = "\n".join([*self._lines, "look"])
        tail = _TAIL.format(nodes=" ".join(self._nodes))
        return head + "".join(used) + body.replace(self._namespace, self._name) + tail

    def _apply(self) -> None:
        if self._manifests:
            self._lines += _with_input("kubectl apply -f -", "---\n".join(self._manifests))
        self._manifests = []

    def _end_step(self) -> None:
        self._apply()
        if self._created and self._is_given:
            pods = " ".join(f"pod/{name}" for name in self._created)
            self._lines.append(
                f"kubectl wait -n {self._namespace} --for=jsonpath='{{.status.phase}}'=Running --timeout=30s {pods}"
            )
        elif self._created:
            self._lines.append("settle")
        self._created = []


def _command(write: Write, found: re.Match[str]) -> list[str]:
    """Anything but the creation of an object."""
    if write.method == "POST":
        return _with_input(f"kubectl create --raw {write.path} -f -", json.dumps(write.body))
    arguments = [found["plural"] + (f".{found['group']}" if found["group"] else ""), found["name"] or "--all"]
    if found["namespace"]:
        arguments += ["-n", found["namespace"]]
    if write.method == "DELETE":
        grace = write.query.get("gracePeriodSeconds")
        arguments += [f"--grace-period={grace}"] if grace is not None else []
        arguments += ["--force"] if grace == "0" else []
        return [" ".join(["kubectl delete", *arguments, "--wait=false"])]
    kind = "merge" if write.content_type == MERGE_PATCH else "strategic"
    arguments += [f"--subresource={found['subresource']}"] if found["subresource"] else []
    patch = _SINCE.sub(_NOW, _quoted(json.dumps(write.body)))
    return [" ".join(["kubectl patch", *arguments, f"--type={kind}", "-p", patch])]


def _yaml(manifest: object) -> str:
    """Without aliases, and lists and maps of scalars in one line."""
    copied = json.loads(json.dumps(manifest))
    return yaml.safe_dump(copied, allow_unicode=True, sort_keys=False, default_flow_style=None, width=120)


def _with_input(command: str, text: str) -> list[str]:
    return [f"{command} <<'END'", *text.rstrip("\n").split("\n"), "END"]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
