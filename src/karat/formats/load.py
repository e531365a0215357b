"""Read and write files whose format is named or found out."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from karat.errors import InputError
from karat.formats.base import DEFAULT, Format, Limits, Options, as_dataset, as_run
from karat.formats.source import head_of
from karat.formats.table import FORMATS, SHAPES
from karat.model import Dataset, Run

__all__ = ["detect", "read", "read_dataset", "read_run", "write"]


def detect(path: str | os.PathLike[str], *, kind: str | None = None) -> Format:
    """Return the format of an existing file: by its content, among equals by its suffix.

    *kind* asks only for formats of a ``dataset`` or of a ``run``.
    """
    place = Path(path)
    head = head_of(place)
    found = [item for item in _candidates(place, head, kind) if item.sniff(place, head)]
    if len(found) > 1:
        found = [item for item in found if _suffix(place).endswith(item.suffixes)] or found
    if len(found) == 1:
        return found[0]
    reason = "could be " + " or ".join(item.name for item in found) if found else "is unknown"
    raise InputError(f"{place}: the format {reason}; name it, one of: {', '.join(_names(kind))}")


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users write
    kind: str | None = None,
    limits: Limits = DEFAULT,
) -> Dataset | Run:
    """Return what *path* holds, a dataset or a run."""
    place = Path(path)
    chosen = FORMATS.get(format) if format else detect(place, kind=kind)
    if kind and chosen.kind != kind:
        raise InputError(
            f"{place}: format {chosen.name!r} holds a {chosen.kind}; expected a {kind}, "
            f"one of: {', '.join(_names(kind))}"
        )
    return chosen.read(place, Options(limits))


def read_dataset(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users write
    limits: Limits = DEFAULT,
    tags: Sequence[str] = (),
) -> Dataset:
    """Return the dataset in *path*.

    Each of *tags* is ``name=first-last``: the queries from row *first* to row *last* (from 1) get
    the tag ``name: name`` and all others ``name: standard``.
    """
    data = as_dataset(read(path, format=format, kind="dataset", limits=limits))
    if not tags:
        return data
    from karat.formats.tagging import tagged

    return tagged(data, tags)


def read_run(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - as above
    limits: Limits = DEFAULT,
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
    from karat.formats.losses import writable

    place = Path(path)
    kind = "dataset" if isinstance(data, Dataset) else "run"
    chosen = FORMATS.get(format) if format else _by_suffix(place, kind)
    if chosen.kind != kind:
        raise InputError(f"{place}: format {chosen.name!r} holds a {chosen.kind}, not a {kind}")
    if chosen.write is None:
        raise InputError(f"{place}: format {chosen.name!r} is only read, never written")
    chosen.write(writable(data, chosen), place)
    return chosen


def _by_suffix(path: Path, kind: str) -> Format:
    for name in FORMATS:
        item = FORMATS.get(name)
        if item.kind == kind and item.write and _suffix(path).endswith(item.suffixes):
            return item
    raise InputError(
        f"{path}: the suffix names no format of a {kind}; name one of: {', '.join(_names(kind))}"
    )


def _candidates(path: Path, head: bytes, kind: str | None) -> Iterator[Format]:
    """Yield the formats that the shape of the file leaves; plug-ins are always asked."""
    built_in = frozenset().union(*SHAPES.values())
    possible = SHAPES[_shape(path, head)]
    for name in FORMATS:
        if name in possible or name not in built_in:
            item = FORMATS.get(name)
            if kind in (None, item.kind):
                yield item


def _shape(path: Path, head: bytes) -> str:
    if path.is_dir():
        return "folder"
    if head.startswith(b"PAR1"):
        return "binary"
    return "json" if head.lstrip()[:1] in (b"{", b"[") else "text"


def _suffix(path: Path) -> str:
    return path.name.lower().removesuffix(".gz")


def _names(kind: str | None) -> list[str]:
    return [name for name in FORMATS if kind in (None, FORMATS.get(name).kind)]
