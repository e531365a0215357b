"""Results kept as they end, so that the same command continues where it was stopped."""

from typing import TYPE_CHECKING

from karat.experiments.store.base import Recorder, Store
from karat.experiments.store.recorder import Buffer
from karat.experiments.store.records import (
    Experiment,
    ExperimentPlan,
    Kind,
    PlannedRun,
    RunStatus,
    ScoredRun,
    StoredQueryResult,
    StoredRun,
)
from karat.exports import exports

if TYPE_CHECKING:
    from karat.experiments.store.sql_store import SqlStore

__all__ = [
    "Buffer",
    "Experiment",
    "ExperimentPlan",
    "Kind",
    "PlannedRun",
    "Recorder",
    "RunStatus",
    "ScoredRun",
    "SqlStore",
    "Store",
    "StoredQueryResult",
    "StoredRun",
]

# SQLAlchemy takes a third of a second to import; plans and protocols do without it.
__getattr__ = exports(__name__, {"sql_store": "SqlStore"})
