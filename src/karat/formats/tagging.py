"""Tags by row number: ``hard=101-127``."""

import re
from collections.abc import Sequence

from karat.errors import InputError
from karat.model import Dataset

__all__ = ["tagged"]

RANGE = re.compile(r"(?P<name>[^=\s][^=]*)=(?P<first>\d+)-(?P<last>\d+)")


def tagged(data: Dataset, ranges: Sequence[str]) -> Dataset:
    """Return *data* with one more tag per range; a name may have several ranges.

    >>> from karat.model import Query
    >>> two = Dataset.of([Query("1", "where is login"), Query("2", "who waits for whom")])
    >>> tagged(two, ["hard=2-2"]).tags
    {'hard': ('standard', 'hard')}
    """
    tags = dict(data.tags)
    columns: dict[str, list[str]] = {}
    for text in ranges:
        match = RANGE.fullmatch(text.strip())
        if not match:
            raise InputError(f"tag {text!r} is no range of rows; expected name=first-last")
        name, first, last = match["name"], int(match["first"]), int(match["last"])
        if not 1 <= first <= last <= len(data):
            raise InputError(
                f"tag {text!r}: {data.name} has rows 1 to {len(data)}; expected a range in there"
            )
        if name in tags:
            raise InputError(f"tag {name!r}: {data.name} already has a column of that name")
        column = columns.setdefault(name, ["standard"] * len(data))
        column[first - 1 : last] = [name] * (last - first + 1)
    tags |= {name: tuple(column) for name, column in columns.items()}
    from dataclasses import replace

    return replace(data, tags=dict(sorted(tags.items())))
