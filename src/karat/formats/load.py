"""Read and write files whose format is named or detected."""

import os
import re
from collections.abc import Iterable, Sequence

from karat.errors import FormatError, InputError, Problem, UnknownFormat
from karat.formats.base import DEFAULT, Format, ReadLimits, ReadOptions, as_dataset, as_run
from karat.formats.source import head_of
from karat.model import Dataset, Run
from karat.registry import Registry

__all__ = ["FORMATS", "add_tags", "detect", "read", "read_dataset", "read_run", "write"]

# In the order in which detection tries them. Those of TREC come first: a match decides, and a large
# run is then scored without loading any other format.
FORMATS: Registry[Format] = Registry(
    "format",
    {
        "trec-qrels": "karat.formats.trec_qrels:FORMAT",
        "trec-run": "karat.formats.trec_run:FORMAT",
        "gold": "karat.formats.gold:FORMAT",
        "octocode": "karat.formats.octocode:FORMAT",
        "akashic": "karat.formats.akashic:FORMAT",
        "semantik": "karat.formats.semantik:FORMAT",
        "semantik-csv": "karat.formats.semantik_csv:FORMAT",
        "beir": "karat.formats.beir:FORMAT",
        "semble": "karat.formats.semble:FORMAT",
        "karat-run": "karat.formats.karat_run:FORMAT",
        "parquet": "karat.formats.parquet:FORMAT",
        "results": "karat.formats.results:FORMAT",
        "results-csv": "karat.formats.results_csv:FORMAT",
        "akashic-report": "karat.formats.akashic_report:FORMAT",
    },
    aliases={"karat-gold": "gold", "qrels": "trec-qrels", "trec": "trec-run"},
)


RANGE = re.compile(r"(?P<name>[^=\s][^=]*)=(?P<first>\d+)-(?P<last>\d+)")


def add_tags(data: Dataset, ranges: Sequence[str]) -> Dataset:
    """Return *data* with one more tag per range; a name may have several ranges.

    >>> from karat.model import Query
    >>> two = Dataset.of([Query("1", "where is login"), Query("2", "who waits for whom")])
    >>> add_tags(two, ["hard=2-2"]).tags
    {'hard': ('standard', 'hard')}
    """
    tags = dict(data.tags)
    columns: dict[str, list[str]] = {}
    for text in ranges:
        match = RANGE.fullmatch(text.strip())
        if not match:
            raise InputError(f"tag {text!r} is not a range of rows; expected name=first-last")
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


def detect(path: str | os.PathLike[str], *, kind: str | None = None) -> Format:
    """Return the format of an existing file: by its content, among equals by its suffix.

    Every built-in format is tried in turn, then plug-ins if none has matched. *kind* limits the
    search to formats of a ``dataset`` or of a ``run``.
    """
    source = os.fspath(path)
    head = head_of(source)
    if not head.strip() and not os.path.isdir(source):  # noqa: PTH112 - without pathlib
        raise FormatError([Problem(source, 0, "the file is empty")])
    matches = _matches(FORMATS.built_in(), source, head, kind)
    if not matches:
        plugins = [name for name in FORMATS if name not in FORMATS.built_in()]
        matches = _matches(plugins, source, head, kind)
    if len(matches) != 1:
        matches = [item for item in matches or _all(kind) if _ends_like(source, item)] or matches
    if len(matches) == 1:
        return matches[0]
    names = " or ".join(item.name for item in matches)
    reason = f"could be {names}" if matches else "is unknown"
    raise UnknownFormat(source, reason, [item.name for item in _all(kind)], kind=kind)


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users write
    kind: str | None = None,
    limits: ReadLimits = DEFAULT,
) -> Dataset | Run:
    """Return the dataset or run in *path*."""
    from pathlib import Path

    file = Path(path)
    chosen = FORMATS.get(format) if format else detect(file, kind=kind)
    if kind and chosen.kind != kind:
        raise InputError(f"{file}: format {chosen.name!r} holds a {chosen.kind}; expected a {kind}")
    return chosen.read(file, ReadOptions(limits))


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

    return add_tags(data, tags)


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

    from karat.formats.unsupported import writable

    file = Path(path)
    kind = "dataset" if isinstance(data, Dataset) else "run"
    chosen = FORMATS.get(format) if format else _by_suffix(os.fspath(path), kind)
    if chosen.kind != kind:
        raise InputError(f"{file}: format {chosen.name!r} holds a {chosen.kind}, not a {kind}")
    if chosen.write is None:
        raise InputError(f"{file}: format {chosen.name!r} is only read, never written")
    chosen.write(writable(data, chosen), file)
    return chosen


def _by_suffix(path: str, kind: str) -> Format:
    for item in _all(kind):
        if item.write and _ends_like(path, item):
            return item
    known = ", ".join(item.name for item in _all(kind) if item.write)
    raise InputError(f"{path}: the name fits no format of a {kind}; name one of: {known}")


def _matches(names: Iterable[str], path: str, head: bytes, kind: str | None) -> list[Format]:
    matches = []
    for item in map(FORMATS.get, names):
        if kind in (None, item.kind) and item.detect(path, head):
            if item.decisive:
                return [item]
            matches.append(item)
    return matches


def _ends_like(path: str, item: Format) -> bool:
    return path.lower().removesuffix(".gz").endswith(item.suffixes)


def _all(kind: str | None) -> list[Format]:
    return [item for item in map(FORMATS.get, FORMATS) if kind in (None, item.kind)]
