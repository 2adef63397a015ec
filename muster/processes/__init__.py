"""Child processes that never outlive the harness: start, stop, pause, and a reaper in case the harness is killed."""

from muster.processes.process import Process, first_to_end
from muster.processes.reaper import Reaper

__all__ = ["Process", "Reaper", "first_to_end"]
