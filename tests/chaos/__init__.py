"""Chaos tests of the reference scheduler: kills, API errors, an outage, hostile objects."""
