"""Child processes that never outlive the harness: start, stop, pause, and a janitor for hard times."""

from muster.processes.children import Process, first_to_end
from muster.processes.janitor import Janitor

__all__ = ["Janitor", "Process", "first_to_end"]
