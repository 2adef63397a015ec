"""Pure scheduling decisions: cluster state in, actions out. No I/O, no clock, no randomness."""
