"""The command that asks for the same run again, as stories, tables and reports print it."""

from __future__ import annotations

from muster.subject.clients import DEFAULT_CLIENT
from muster.subject.operators import DEFAULT_OPERATOR


def run_command(scheduler: str, operator: str = DEFAULT_OPERATOR, client: str = DEFAULT_CLIENT, where: str = "") -> str:
    """`where` in the words of the command line, empty for the embedded cluster; what is usual is left out."""
    words = ["muster run --scheduler", scheduler]
    words += ["--operator", operator] if operator != DEFAULT_OPERATOR else []
    words += ["--client", client] if client != DEFAULT_CLIENT else []
    return " ".join([*words, where]).rstrip()


def on_somebodys(kubeconfig: str, context: str | None) -> str:
    """Where: on a cluster that was there before."""
    return f"--kubeconfig {kubeconfig}" + (f" --context {context}" if context else "")


def on_our_own(cluster: str, image: str = "", *, reuse: bool = False) -> str:
    """Where: on a cluster that is made for the run; nothing to say about the embedded one."""
    words = ["--cluster", cluster] if cluster != "local" else []
    return " ".join([*words, *(("--kind-image", image) if image else ()), *(("--reuse",) if reuse else ())])
