"""What happened: every change of the recorded kinds, and the form of the questions that are asked about it."""
