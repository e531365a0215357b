"""Worker processes: engines run queries in isolation, for hits or for latency."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.experiments.workers.announcements import Holder, announce
    from karat.experiments.workers.engine_session import cut
    from karat.experiments.workers.plan import (
        QUALITY,
        Configuration,
        Group,
        RunSettings,
        SnapshotQueries,
        all_queries_on,
        group_configurations,
    )
    from karat.experiments.workers.run_collector import (
        Callbacks,
        RunEvent,
        count_problems,
        no_answer_error,
    )
    from karat.experiments.workers.sources import Source
    from karat.experiments.workers.timing import measure_latency

__all__ = [
    "QUALITY",
    "Callbacks",
    "Configuration",
    "Group",
    "Holder",
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
    "no_answer_error",
]

# A worker process imports a part of this package, and must not load all of it.
__getattr__ = exports(
    __name__,
    {
        "announcements": "Holder announce",
        "engine_session": "cut",
        "plan": (
            "QUALITY Configuration Group RunSettings SnapshotQueries all_queries_on "
            "group_configurations"
        ),
        "run_collector": "Callbacks RunEvent count_problems no_answer_error",
        "sources": "Source",
        "timing": "measure_latency",
    },
)
