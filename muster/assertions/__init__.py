"""What is asked of a recording: questions about preemption, nomination, gangs, queues and jobs; the invariants; the
failure report."""
