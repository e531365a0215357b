"""The tables are made in a new database, and brought up to date in an older one, step by step."""

from karat.experiments.store.migrations.version import is_current, upgrade

__all__ = ["is_current", "upgrade"]
