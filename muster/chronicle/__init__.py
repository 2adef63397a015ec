"""What happened: a recording of every change, the questions asked of it, and the invariants that hold throughout."""
