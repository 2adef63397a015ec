"""Side-by-side measurements. Never part of the tests: machines are noisy."""
