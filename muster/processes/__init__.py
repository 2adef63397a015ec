"""Child processes that never outlive the harness: start, stop, pause, and a reaper in case the harness is killed."""

from muster.processes.process import Process, wait_for_first_exit
from muster.processes.reaper import Reaper

__all__ = ["Process", "Reaper", "wait_for_first_exit"]
