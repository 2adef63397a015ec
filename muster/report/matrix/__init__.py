"""Behaviours by schedulers: several subjects judged, one after the other, and one table of it.

Every cell comes from a ConformanceReport; nothing in the table is written by hand.
"""
