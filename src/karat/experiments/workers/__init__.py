"""Engine and gold set become a run with timings: isolated, resumable, honestly timed."""

from karat.experiments.workers.announcements import Holder, announced
from karat.experiments.workers.depth import cut
from karat.experiments.workers.load import LoadPoint, load
from karat.experiments.workers.plan import (
    Configuration,
    Group,
    RunSettings,
    Visit,
    grouped,
    one_visit,
)
from karat.experiments.workers.quality import QUALITY, quality
from karat.experiments.workers.record import Hooks, RunEvent, Sink, counted, silence
from karat.experiments.workers.sources import Source
from karat.experiments.workers.timing import timing

__all__ = [
    "QUALITY",
    "Configuration",
    "Group",
    "Holder",
    "Hooks",
    "LoadPoint",
    "RunEvent",
    "RunSettings",
    "Sink",
    "Source",
    "Visit",
    "announced",
    "counted",
    "cut",
    "grouped",
    "load",
    "one_visit",
    "quality",
    "silence",
    "timing",
]
