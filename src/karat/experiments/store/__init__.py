"""Stores of results: each query result is saved as it ends, so that a command can resume."""

from typing import TYPE_CHECKING

from karat.experiments.store.base import (
    STORES,
    Buffer,
    Experiment,
    ExperimentDefinition,
    ExperimentKind,
    LeaseHolder,
    PastRun,
    Recorder,
    RunCosts,
    RunDefinition,
    RunStatus,
    ScoredRun,
    Store,
    StoredQueryResult,
    StoredRun,
    open_store,
    url_without_password,
    watch_holders,
)
from karat.exports import exports

if TYPE_CHECKING:
    from karat.experiments.store.sql_store import SqlStore

__all__ = [
    "STORES",
    "Buffer",
    "Experiment",
    "ExperimentDefinition",
    "ExperimentKind",
    "LeaseHolder",
    "PastRun",
    "Recorder",
    "RunCosts",
    "RunDefinition",
    "RunStatus",
    "ScoredRun",
    "SqlStore",
    "Store",
    "StoredQueryResult",
    "StoredRun",
    "open_store",
    "url_without_password",
    "watch_holders",
]

# SQLAlchemy takes a third of a second to import; plans and protocols do without it.
__getattr__ = exports(__name__, {"sql_store": "SqlStore"})
