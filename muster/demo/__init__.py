"""`muster demo` runs a walk-through step by step in the terminal; `muster up` keeps a playground cluster.

The feature file is the only source of a walk-through. pytest runs it in its own process with `pytest_plugin`, which
sends every step to the `server` in the process of the command; `controller` and `console` show it.
"""
