"""The reference scheduler under fire: killed at any moment, lied to by its connection, fed with hostile objects."""
