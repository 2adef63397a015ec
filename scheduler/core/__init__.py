"""Pure decisions: a cluster in, actions out. No I/O, no clock, no randomness."""
