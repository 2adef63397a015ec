"""Behaviours by schedulers: several schedulers tested one after the other, and one table of the results.

Every cell comes from a ConformanceReport; nothing in the table is written by hand.
"""
