"""Gold sets that karat.yaml describes instead of naming a file, such as mined ones."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from karat.formats.fields import Checker, Location, Record
from karat.model import Dataset
from karat.registry import Registry

# The section of karat.yaml, and its key for an existing gold set, which is the core's own.
SECTION: Location = ("dataset",)
GOLD_SET = "gold_set"


class GoldSource(Protocol):
    """Makes a gold set from settings in the section ``dataset`` of karat.yaml.

    The section belongs to the source that knows most of its keys.
    """

    @property
    def keys(self) -> Sequence[str]:
        """The keys of the section that are settings of this source."""

    def read(self, check: Checker, section: Record) -> Mapping[str, object]:
        """Return the settings in *section*; problems are added to *check*.

        Keys may be unknown, and values may be null. The setting ``repositories``, if there is one,
        lists the folders to search where the command line names none.
        """

    def make(self, settings: Mapping[str, object]) -> Dataset | None:
        """Return the gold set, or None if *settings* do not say what to make it from."""


GOLD_SOURCES: Registry[GoldSource] = Registry("gold_source", {}, closed=True)


def read_gold_settings(check: Checker, top: Record) -> tuple[str, Mapping[str, object]]:
    """Return the name of a source and its settings, "" and none if the section has no such keys."""
    section = check.record(top.get("dataset") or {}, SECTION)
    given = section.keys() - {GOLD_SET}
    if not given:
        return "", {}
    sources = {name: GOLD_SOURCES.get(name) for name in GOLD_SOURCES}
    if not sources:
        keys = ", ".join(sorted(given))
        check.add(
            SECTION,
            f"no extension that is installed reads {keys}; valid without one: {GOLD_SET}; "
            "`karat plugins` lists the extensions",
        )
        return "", {}
    known = (key for source in sources.values() for key in source.keys)
    check.known(section, (GOLD_SET, *known), SECTION, list_keys=True)
    name = max(sources, key=lambda name: len(given.intersection(sources[name].keys)))
    return name, sources[name].read(check, section)
