"""Analysts read the same small benchmark as jobs."""

from tests.extensions.service.jobs.conftest import benchmark, cache, lease_clock, settings, store

__all__ = ["benchmark", "cache", "lease_clock", "settings", "store"]
