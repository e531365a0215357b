"""Repeat the runs of a report and list differences."""
