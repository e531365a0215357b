"""Read and write files whose format is named or detected."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from karat.errors import FormatError, InputError, MissingExtension, Problem, UnknownFormat
from karat.formats.base import (
    DEFAULT,
    Format,
    ReadLimits,
    ReadOptions,
    as_dataset,
    as_run,
    features,
    in_strict_order,
    writable,
)
from karat.formats.source import head_of
from karat.model import Dataset, Run
from karat.model.frozen import EMPTY
from karat.registry import Registry

# The format of runs in several parts; an extension adds it.
PARTED = "parquet"

# In the order in which detection tries them. Those of TREC come first: a match decides, and a large
# run is then scored without loading any other format.
FORMATS: Registry[Format] = Registry(
    "format",
    {
        "trec-diversity": "karat.formats.trec_qrels:DIVERSITY",
        "trec-qrels": "karat.formats.trec_qrels:FORMAT",
        "trec-run": "karat.formats.trec_run:FORMAT",
        "gold": "karat.formats.gold:FORMAT",
        "octocode": "karat.formats.octocode:FORMAT",
        "beir": "karat.formats.beir:FORMAT",
        "karat-run": "karat.formats.karat_run:FORMAT",
        "results": "karat.formats.results:FORMAT",
        "results-csv": "karat.formats.results:CSV",
        "folder": "karat.formats.several:FORMAT",
        "irds": "karat.formats.beir:IRDS",
        "quepid": "karat.formats.table:QUEPID",
        "csv": "karat.formats.table:FORMAT",
        "csv-run": "karat.formats.table:RUN",
        "json-qrels": "karat.formats.dicts:QRELS",
        "json-run": "karat.formats.dicts:RUN",
    },
    aliases={
        "karat-gold": "gold",
        "diversity": "trec-diversity",
        "qrels": "trec-qrels",
        "trec": "trec-run",
        "tsv": "csv",
        "ranx": "json-run",
    },
)


THINGS = {"dataset": "a gold set", "run": "a run"}
RANGE = r"(?P<name>[^=\s][^=]*)=(?P<first>\d+)-(?P<last>\d+)"


def add_tags(data: Dataset, ranges: Sequence[str]) -> Dataset:
    """Return *data* with one more tag per range or field; a name may have several ranges.

    >>> from karat.model import Query
    >>> two = Dataset.of([Query("1", "where is login"), Query("2", "who waits for whom")])
    >>> add_tags(two, ["hard=2-2"]).tags
    {'hard': ('standard', 'hard')}
    """
    tags = dict(data.tags)
    columns: dict[str, list[str]] = {}
    for text in ranges:
        if "=" not in text:
            tags[text] = _field(data, text)
            continue
        match = re.fullmatch(RANGE, text.strip())
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


def _field(data: Dataset, name: str) -> tuple[str, ...]:
    """Return the column *name* of *data* as a tag: one that it has, or a further field."""
    if name in data.tags:
        return data.tags[name]
    if not any(name in extra for extra in data.extras):
        fields = dict.fromkeys(field for extra in data.extras for field in extra)
        known = ", ".join([*data.tags, *fields]) or "none"
        raise InputError(
            f"tag {name!r}: {data.name} has no column of that name; it has {known}; "
            "expected one of them, or name=first-last"
        )
    return tuple(str(extra.get(name, "")) for extra in data.extras)


def detect(path: str | os.PathLike[str], *, kind: str | None = None) -> Format:
    """Return the format of an existing file: by its content, among equals by its suffix.

    Every format of Karat is tried in turn, then those of others if none has matched. *kind* limits
    the search to formats of a ``dataset`` or of a ``run``.
    """
    source = os.fspath(path)
    if not_a_file := _by_name(source, kind):
        return not_a_file
    head = head_of(source)
    if not head.strip() and not os.path.isdir(source):  # noqa: PTH112 - without pathlib
        raise FormatError([Problem(source, 0, "the file is empty")])
    matches = _matches(_own(), source, head, kind)
    if not matches:
        others = [name for name in FORMATS if name not in FORMATS.built_in()]
        matches = _matches(others, source, head, kind)
    if matches and matches[0].fallback:
        # Whole numbers may be grades or scores; grades are far more often whole.
        matches = [item for item in matches if item.kind == "dataset"] or matches
    if not matches:
        # A table whose columns are unknown: its reader reports the header and the option to add.
        tables = [item for item in _all(kind) if item.fallback and item.by_columns]
        matches = [item for item in tables if _ends_like(source, item)]
    if kind != "dataset" and not matches and source.endswith(f".{PARTED}"):
        _parted(source)
    if not matches:
        _expect_data(source, head, kind)
    if len(matches) != 1:
        matches = [item for item in matches or _all(kind) if _ends_like(source, item)] or matches
    if len(matches) == 1:
        return matches[0]
    names = " or ".join(item.name for item in matches)
    reason = f"could be {names}" if matches else "is unknown"
    raise UnknownFormat(source, reason, [item.name for item in _all(kind)], kind=kind)


def _expect_data(source: str, head: bytes, kind: str | None) -> None:
    """Raise InputError for a file of another *kind*, for an archive and for an engine."""
    if kind:
        _expect_kind(source, head, kind)
    if head.startswith(b"PK\x03\x04"):
        raise InputError(f"{source} is an archive; unpack it, and give the folder or file in it")
    if source.endswith((".yaml", ".yml")) and any(
        line.startswith(b"engine:") for line in head.splitlines()
    ):
        raise InputError(
            f"{source} is an engine, where a file with queries is expected; give it with "
            f"--engine {source}"
        )


def is_source(name: str) -> bool:
    """Return whether *name* can be read: a file, a folder, several files, or an id of a dataset."""
    return os.path.exists(name) or _by_name(name) is not None  # noqa: PTH110 - without pathlib


def _by_name(source: str, kind: str | None = None) -> Format | None:
    """Return the format of what is not a file: a dataset by its id, or several files.

    The files of a pattern are the parts of one run, or several gold sets.
    """
    if os.path.exists(source):  # noqa: PTH110 - without pathlib
        return None
    if source.startswith("irds:"):
        return FORMATS.get("irds")
    if kind == "run" and any(mark in source for mark in "*?["):
        return _of_parts(source)
    if any(mark in source for mark in "*?[+"):
        names = ("folder",) if kind == "dataset" else (PARTED, "folder")
        possible = (FORMATS.get(name) for name in names if FORMATS.has(name))
        fitting = (item for item in possible if item.detect(source, b""))
        return next(fitting, None)
    return None


def _of_parts(pattern: str) -> Format:
    """Return the format of a run in parts; missing columns are reported by its reader."""
    chosen = _parted(pattern)
    parts = chosen.parts(pattern) if chosen.parts else []
    if not parts:
        raise InputError(f"{pattern}: no file matches; expected a run, or the parts of one")
    if not _ends_like(str(parts[0]), chosen):
        raise InputError(
            f"{pattern}: {parts[0]} is not Parquet; only a run in Parquet can have several parts"
        )
    return chosen


def _parted(source: str) -> Format:
    """Return the format of runs in parts, or raise MissingExtension."""
    if not FORMATS.has(PARTED):
        raise MissingExtension(f"{source}: a run in Parquet", PARTED)
    return FORMATS.get(PARTED)


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users write
    kind: str | None = None,
    limits: ReadLimits = DEFAULT,
    columns: Mapping[str, str] = EMPTY,
    on_empty: Callable[[Problem], None] | None = None,
) -> Dataset | Run:
    """Return the dataset or run in *path*.

    *columns* names columns of a table by their role: ``{"query": "question"}``. With them, a file
    without a *format* is a table. *on_empty* is that of
    :class:`karat.formats.base.ReadOptions`.
    """
    from pathlib import Path

    file = Path(path)
    if columns and not format and not file.is_dir() and _by_name(os.fspath(path)) is None:
        format = "csv"  # noqa: A001 - as above
    chosen = FORMATS.get(format) if format else detect(os.fspath(path), kind=kind)
    if columns and not chosen.by_columns:
        raise InputError(f"{file}: format {chosen.name!r} has no columns to name; remove --column")
    if kind and chosen.kind != kind:
        raise InputError(f"{file}: format {chosen.name!r} holds a {chosen.kind}; expected a {kind}")
    return chosen.read(file, ReadOptions(limits, columns, on_empty))


def read_dataset(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users write
    limits: ReadLimits = DEFAULT,
    tags: Sequence[str] = (),
    columns: Mapping[str, str] = EMPTY,
    topics: str | os.PathLike[str] | None = None,
    on_empty: Callable[[Problem], None] | None = None,
) -> Dataset:
    """Return the dataset in *path*; *columns* and *on_empty* as in :func:`read`.

    Each of *tags* is ``name=first-last``: the queries from row *first* to row *last* (from 1) get
    the tag ``name: name`` and all others ``name: standard``. A name alone turns that column or
    further field of the queries into a tag. *topics* is a file with the
    texts of the queries, for judgments that have none.
    """
    source = read(
        path, format=format, kind="dataset", limits=limits, columns=columns, on_empty=on_empty
    )
    data = as_dataset(source)
    if topics is not None:
        from karat.formats.topics import with_topics

        data = with_topics(data, topics, limits)
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
    """Write *data* whole or not at all and return the format used, as format_to_write chooses.

    The scores of a run of an engine become strictly descending: the file scores like the run.
    """
    from pathlib import Path

    if isinstance(data, Run):
        data = in_strict_order(data)
    chosen = format_to_write(data, path, format)
    if chosen.write is None:
        raise InputError(f"{path}: format {chosen.name!r} cannot be written, only read")
    chosen.write(writable(data, chosen), Path(path))
    return chosen


def format_to_write(
    data: Dataset | Run,
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - as above
) -> Format:
    """Return the format in which ``write`` writes *data* to *path*.

    Without *format* the suffix decides; where several formats of the right kind share it, the
    first in the table is taken, or a plain table if that cannot hold *data*.
    """
    file = os.fspath(path)
    kind = "dataset" if isinstance(data, Dataset) else "run"
    chosen = FORMATS.get(format) if format else _by_suffix(file, kind, data)
    if chosen.kind != kind:
        raise InputError(f"{file}: format {chosen.name!r} holds a {chosen.kind}, not a {kind}")
    return chosen


def _by_suffix(path: str, kind: str, data: Dataset | Run) -> Format:
    fitting = [item for item in _all(kind) if item.write and _ends_like(path, item)]
    if fitting:
        present = features(data)
        order = sorted(fitting[1:], key=lambda item: not item.fallback)
        able = (item for item in (fitting[0], *order) if not present & item.refuses)
        return next(able, fitting[0])
    if kind == "run" and path.endswith(f".{PARTED}"):
        _parted(path)
    known = ", ".join(item.name for item in _all(kind) if item.write)
    raise InputError(f"{path}: no format of a {kind} has this ending; choose one of: {known}")


def _expect_kind(source: str, head: bytes, kind: str) -> None:
    """Raise InputError if *source* is a folder, or a file of the other kind."""
    what = "a folder" if os.path.isdir(source) else ""  # noqa: PTH112 - without pathlib
    others = [] if what else _matches(_own(), source, head, None)
    if len(others) == 1:
        what = f"{THINGS[others[0].kind]} (format {others[0].name})"
    if what:
        raise InputError(f"{source}: this is {what}; expected {THINGS[kind]}")


def _own() -> Iterator[str]:
    """Yield the names of Karat's own formats; no extension is loaded for the core's."""
    yield from FORMATS.core()
    yield from (name for name in FORMATS.built_in() if name not in FORMATS.core())


def _matches(names: Iterable[str], path: str, head: bytes, kind: str | None) -> list[Format]:
    """Return the formats that detect their content; fallbacks are tried only if no other does."""
    matches, fallbacks = [], []
    for item in map(FORMATS.get, names):
        if kind not in (None, item.kind):
            continue
        if item.fallback:
            fallbacks.append(item)
        elif item.detect(path, head):
            if item.decisive:
                return [item]
            matches.append(item)
    return matches or [item for item in fallbacks if item.detect(path, head)]


def _ends_like(path: str, item: Format) -> bool:
    return path.lower().removesuffix(".gz").endswith(item.suffixes)


def _all(kind: str | None) -> list[Format]:
    return [item for item in map(FORMATS.get, FORMATS) if kind in (None, item.kind)]
