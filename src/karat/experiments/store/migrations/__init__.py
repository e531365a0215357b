"""Create the tables of a new database, and migrate those of an older one step by step."""

from karat.experiments.store.migrations.version import is_current, upgrade

__all__ = ["is_current", "upgrade"]
