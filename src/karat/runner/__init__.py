"""Engine and gold set become a run with timings: isolated, resumable, honestly timed."""

from karat.runner.announcements import Holder, announced
from karat.runner.depth import cut
from karat.runner.events import Event, Hooks, Sink
from karat.runner.load import LoadPoint, load
from karat.runner.plan import Configuration, Group, Settings, Visit, grouped, one_visit
from karat.runner.quality import QUALITY, quality
from karat.runner.record import counted, silence
from karat.runner.sources import Source
from karat.runner.timing import timing

__all__ = [
    "QUALITY",
    "Configuration",
    "Event",
    "Group",
    "Holder",
    "Hooks",
    "LoadPoint",
    "Settings",
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
