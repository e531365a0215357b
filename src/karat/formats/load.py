"""Read and write files whose format is named or found out."""

import os
import re
from collections.abc import Sequence, Set

from karat.errors import FormatError, InputError, Problem, UnknownFormat
from karat.formats.base import DEFAULT, Format, ReadLimits, ReadOptions, as_dataset, as_run
from karat.formats.source import head_of
from karat.formats.table import FORMATS, SHAPES
from karat.formats.trec_lines import first_row
from karat.model import Dataset, Run

__all__ = ["detect", "read", "read_dataset", "read_run", "tagged", "write"]

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


FEWEST_FIELDS = 4


def detect(path: str | os.PathLike[str], *, kind: str | None = None) -> Format:
    """Return the format of an existing file: by its content, among equals by its suffix.

    Plug-ins are asked about what no built-in format recognises. *kind* asks only for formats of a
    ``dataset`` or of a ``run``.
    """
    place = os.fspath(path)
    head = head_of(place)
    shape = _shape(place, head)
    if shape != "folder" and not head.strip():
        raise FormatError([Problem(place, 0, "the file is empty")])
    found = _recognised(SHAPES[shape], place, head, kind)
    if not found:
        found = _recognised(set(FORMATS) - set(FORMATS.built_in()), place, head, kind)
    if len(found) != 1:
        found = [item for item in found or _all(kind) if _ends_like(place, item)] or found
    if len(found) == 1:
        return found[0]
    names = " or ".join(item.name for item in found)
    reason = f"could be {names}" if found else "is unknown"
    raise UnknownFormat(place, reason, [item.name for item in _all(kind)], kind=kind)


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users write
    kind: str | None = None,
    limits: ReadLimits = DEFAULT,
) -> Dataset | Run:
    """Return what *path* holds, a dataset or a run."""
    from pathlib import Path

    place = Path(path)
    chosen = FORMATS.get(format) if format else detect(place, kind=kind)
    if kind and chosen.kind != kind:
        raise InputError(
            f"{place}: format {chosen.name!r} holds a {chosen.kind}; expected a {kind}"
        )
    return chosen.read(place, ReadOptions(limits))


def read_dataset(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users write
    limits: ReadLimits = DEFAULT,
    tags: Sequence[str] = (),
) -> Dataset:
    """Return the dataset in *path*.

    Each of *tags* is ``name=first-last``: the queries from row *first* to row *last* (from 1) get
    the tag ``name: name`` and all others ``name: standard``.
    """
    data = as_dataset(read(path, format=format, kind="dataset", limits=limits))
    if not tags:
        return data

    return tagged(data, tags)


def read_run(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - as above
    limits: ReadLimits = DEFAULT,
) -> Run:
    """Return the run in *path*."""
    return as_run(read(path, format=format, kind="run", limits=limits))


def write(
    data: Dataset | Run,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - as above
) -> Format:
    """Write *data* whole or not at all and return the format used.

    Without *format* the suffix decides; where several formats of the right kind share it, the
    first in the table is taken, which is ours.
    """
    from pathlib import Path

    from karat.formats.losses import writable

    place = Path(path)
    kind = "dataset" if isinstance(data, Dataset) else "run"
    chosen = FORMATS.get(format) if format else _by_suffix(os.fspath(path), kind)
    if chosen.kind != kind:
        raise InputError(f"{place}: format {chosen.name!r} holds a {chosen.kind}, not a {kind}")
    if chosen.write is None:
        raise InputError(f"{place}: format {chosen.name!r} is only read, never written")
    chosen.write(writable(data, chosen), place)
    return chosen


def _by_suffix(path: str, kind: str) -> Format:
    for item in _all(kind):
        if item.write and _ends_like(path, item):
            return item
    known = ", ".join(item.name for item in _all(kind) if item.write)
    raise InputError(f"{path}: the name fits no format of a {kind}; name one of: {known}")


def _recognised(names: Set[str], path: str, head: bytes, kind: str | None) -> list[Format]:
    found = (FORMATS.get(name) for name in sorted(names))
    return [item for item in found if kind in (None, item.kind) and item.sniff(path, head)]


def _shape(path: str, head: bytes) -> str:
    """Return what the first bytes tell at once, so that few formats need be loaded."""
    if os.path.isdir(path):  # noqa: PTH112 - without pathlib
        return "folder"
    if head.startswith(b"PAR1"):
        return "binary"
    if head.lstrip()[:1] in (b"{", b"["):
        return "json"
    return "rows" if len(first_row(head)) >= FEWEST_FIELDS else "text"


def _ends_like(path: str, item: Format) -> bool:
    return path.lower().removesuffix(".gz").endswith(item.suffixes)


def _all(kind: str | None) -> list[Format]:
    found = (FORMATS.get(name) for name in FORMATS)
    return [item for item in found if kind in (None, item.kind)]
