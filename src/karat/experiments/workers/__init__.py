"""Worker processes: engines run queries in isolation, for hits or for latency."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.experiments.workers.announcements import Holder, announce
    from karat.experiments.workers.engine_session import cut
    from karat.experiments.workers.load import LoadPoint, measure_load
    from karat.experiments.workers.plan import (
        Configuration,
        Group,
        RunSettings,
        SnapshotQueries,
        all_queries_on,
        group_configurations,
    )
    from karat.experiments.workers.quality import QUALITY, measure_latency, measure_quality
    from karat.experiments.workers.run_collector import (
        Callbacks,
        RunEvent,
        count_problems,
        no_answer_error,
    )
    from karat.experiments.workers.sources import Source

__all__ = [
    "QUALITY",
    "Callbacks",
    "Configuration",
    "Group",
    "Holder",
    "LoadPoint",
    "RunEvent",
    "RunSettings",
    "SnapshotQueries",
    "Source",
    "all_queries_on",
    "announce",
    "count_problems",
    "cut",
    "group_configurations",
    "measure_latency",
    "measure_load",
    "measure_quality",
    "no_answer_error",
]

# A worker process imports a part of this package, and must not load all of it.
__getattr__ = exports(
    __name__,
    {
        "announcements": "Holder announce",
        "engine_session": "cut",
        "load": "LoadPoint measure_load",
        "plan": (
            "Configuration Group RunSettings SnapshotQueries all_queries_on group_configurations"
        ),
        "quality": "QUALITY measure_latency measure_quality",
        "run_collector": "Callbacks RunEvent count_problems no_answer_error",
        "sources": "Source",
    },
)
