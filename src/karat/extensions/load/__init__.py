"""Measure latency under load."""
