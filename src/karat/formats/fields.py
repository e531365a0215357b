"""Checks on parsed JSON and YAML that collect every problem with the line it is on."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from math import isfinite

from karat.errors import InputError
from karat.formats.source import Problems

Location = tuple[str | int, ...]
Record = Mapping[str, object]

EMPTY: Record = {}

# Raises ValueError if the option of this name rejects the value.
Accepts = Callable[[str, object], object]
ANYTHING: Accepts = lambda _name, _value: None  # noqa: E731 - what a default is called


class Checker:
    """Checks the values of one source and collects all problems until :meth:`finish`.

    Each check returns a usable value even when it failed, so that the reader can go on and find
    the next problem. *locate* gives the line of each location and is called only after a problem.
    """

    def __init__(
        self, source: str | os.PathLike[str], locate: Callable[[], Mapping[Location, int]]
    ) -> None:
        """Start with no problem in *source*."""
        self.source = os.fspath(source)
        self._locate = locate
        self._problems: list[tuple[Location, str]] = []
        self._broken: list[Location] = []
        # How often a problem was found, by its location without list indexes.
        self._repeated: Counter[tuple[Location, str]] = Counter()

    def add(self, location: Location, message: str, *, once: bool = False) -> None:
        """Record a problem at *location*, unless the value there is not an object.

        With *once*, the same problem in further entries of a list is counted and not repeated.
        """
        if any(location[: len(broken)] == broken for broken in self._broken):
            return
        if once:
            kind = _kind_of(location, message)
            self._repeated[kind] += 1
            if self._repeated[kind] > 1:
                return
        self._problems.append((location, message))

    def finish(self) -> None:
        """Raise FormatError with every problem, or do nothing."""
        if not self._problems:
            return
        lines = self._locate()
        problems = Problems(self.source)
        for location, message in self._problems:
            known = location
            while known and known not in lines:
                known = known[:-1]
            problems.add(
                lines.get(known, 0), f"{_dotted(location)}{message}{self._more(location, message)}"
            )
        problems.finish()

    def _more(self, location: Location, message: str) -> str:
        others = self._repeated[_kind_of(location, message)] - 1
        return f" (and in {others:,} more)" if others > 0 else ""

    def record(self, value: object, location: Location) -> Record:
        """Return *value* if it is an object, else an empty one."""
        if isinstance(value, Mapping):
            return value
        self.add(location, f"expected an object, found {_kind(value)}")
        self._broken.append(location)
        return EMPTY

    def rows(
        self, value: object, location: Location, *, filled: bool = False
    ) -> Iterator[tuple[Location, object]]:
        """Yield location and value of each entry; with *filled* an empty list is a problem."""
        if not isinstance(value, list):
            self.add(location, f"expected a list, found {_kind(value)}")
            return
        if filled and not value:
            self.add(location, "the list is empty")
        for index, item in enumerate(value):
            yield (*location, index), item

    def listed(
        self, record: Record, key: str, location: Location
    ) -> Iterator[tuple[Location, object]]:
        """Yield the entries of the list at *key*, none where it is absent or null."""
        if record.get(key) is not None:
            yield from self.rows(record[key], (*location, key))

    def text(
        self, record: Record, key: str, location: Location, *, default: str | None = None
    ) -> str:
        """Return the text at *key*, not empty; without *default* it must be there."""
        value = record.get(key)
        if value is None and default is not None:
            return default
        if value is None:
            self.add(location, f"{key!r} is missing", once=True)
            return ""
        return self.word(value, (*location, key))

    def word(self, value: object, location: Location) -> str:
        """Return *value* if it is text with something in it."""
        if not isinstance(value, str):
            self.add(location, f"expected text, found {_kind(value)}")
            return ""
        if not value.strip():
            self.add(location, "the text is empty")
        return value

    def texts(self, value: object, location: Location) -> list[str]:
        """Return a list of texts; a single text may stand without a list."""
        if isinstance(value, str):
            return [self.word(value, location)]
        return [self.word(item, at) for at, item in self.rows(value, location)]

    def label(self, record: Record, key: str, location: Location) -> str:
        """Return the id at *key*, which must be there: text, or a whole number as text."""
        value = record.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(record, key, location)

    def number(
        self,
        record: Record,
        key: str,
        location: Location,
        *,
        default: float,
        low: float | None = None,
        high: float | None = None,
    ) -> float:
        """Return the finite number at *key*, within [*low*, *high*], or *default*."""
        value = record.get(key)
        if value is None:
            return default
        at = (*location, key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.add(at, f"expected a number, found {_kind(value)}")
            return default
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if not isfinite(number):
            self.add(at, "expected a finite number")
        elif (low is not None and number < low) or (high is not None and number > high):
            self.add(at, f"{value} is out of range; expected {_range(low, high)}")
        return number

    def whole(
        self,
        record: Record,
        key: str,
        location: Location,
        *,
        default: int,
        low: int = 0,
        below: int = 2**63,
    ) -> int:
        """Return the whole number at *key*, at least *low* and *below* that, or *default*."""
        value = record.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            self.add((*location, key), f"expected a whole number, found {_kind(value)}")
            return default
        if not low <= value < below:
            self.add((*location, key), f"{value} is out of range; expected {low} or more")
            return default
        return value

    def lines(self, record: Record, location: Location) -> tuple[int, int]:
        """Return ``start_line`` and ``end_line``, 0 and 0 where neither is given."""
        start = self.whole(record, "start_line", location, default=0, low=1)
        end = self.whole(record, "end_line", location, default=0, low=1)
        if (start == 0) != (end == 0):
            self.add(location, "start_line and end_line must be given together")
        elif end < start:
            self.add(location, f"end_line {end} is before start_line {start}")
        elif end >= 2**31:
            self.add(location, f"end_line {end} is out of range")
        else:
            return start, end
        return 0, 0

    def unique(self, labels: Iterable[tuple[Location, str]], what: str) -> None:
        """Record each label that came before."""
        seen: set[str] = set()
        for location, label in labels:
            if label and label in seen:
                self.add(location, f"{what} {label!r} appears more than once")
            seen.add(label)

    def known(
        self, record: Record, keys: Iterable[str], location: Location, *, list_keys: bool = False
    ) -> None:
        """Note each key of *record* that is not among *keys*, with the nearest one.

        With *list_keys*, the message lists all valid keys.
        """
        allowed = list(keys)
        for key in record:
            if key not in allowed:
                near = get_close_matches(key, allowed, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                if list_keys:
                    hint += f"{'' if near else ';'} valid keys: {', '.join(allowed)}"
                self.add((*location, key), f"unknown key{hint}", once=True)


def _kind_of(location: Location, message: str) -> tuple[Location, str]:
    """Return the key under which equal problems of other list entries are counted."""
    return tuple(0 if isinstance(key, int) else key for key in location), message


def _dotted(location: Location) -> str:
    """Return a location as readers write it, ``queries[3].id: ``."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in location)
    return f"{text.removeprefix('.')}: " if text else ""


def _kind(value: object) -> str:
    """Return the JSON name of the type of *value*."""
    names = {bool: "true or false", str: "text", list: "a list", dict: "an object"}
    if value is None:
        return "null"
    return names.get(type(value), "a number")


def _range(low: float | None, high: float | None) -> str:
    if high is None:
        return f"{low:g} or more"
    return f"at most {high:g}" if low is None else f"{low:g} to {high:g}"


SECTIONS = (
    *("plugins", "dataset", "corpus", "engines", "agents", "evaluation", "metrics"),
    *("matrix", "suites", "gate", "output"),
)


def find_section(check: Checker, top: Record, name: str) -> tuple[Location, Record]:
    """Return the location and the content of the section *name* of a file.

    A file without sections holds the content alone: it is returned as it is. A file with other
    sections but without this one is an error.
    """
    if isinstance(top.get(name), Mapping):
        check.known(top, SECTIONS, (), list_keys=True)
        return (name,), check.record(top[name], (name,))
    if any(isinstance(top.get(section), Mapping) for section in SECTIONS):
        raise InputError(
            f"{check.source}: no section {name!r}; the file has {', '.join(map(repr, top))}"
        )
    return (), top
