"""Muster: does your scheduler pass muster?"""

__version__ = "0.1.0"
