"""A run as a whole: checks before it, pytest as a process, the live view, the results directory, the report."""
