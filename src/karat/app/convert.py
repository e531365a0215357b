"""Write a dataset or a run in another format, and report what that format cannot store."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from karat.errors import InputError, Problem
from karat.formats import (
    DEFAULT,
    FORMATS,
    Format,
    ReadLimits,
    detect,
    format_to_write,
    read,
    read_dataset,
    write,
)
from karat.formats.base import FEATURES, ReadOptions, losses, writable
from karat.model import Dataset, Run
from karat.model.dataset import MASKS
from karat.model.frozen import EMPTY

MASKS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of a conversion; *warnings* name data that the new format cannot express."""

    source: str
    source_format: str
    target: str
    target_format: str
    queries: int
    entries: int
    warnings: tuple[str, ...] = ()


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    columns: Mapping[str, str] = EMPTY,
    topics: str | None = None,
    force: bool = False,
    limits: ReadLimits = DEFAULT,
    on_empty: Callable[[Problem], None] | None = None,
) -> Conversion:
    """Read *source*, write *target* whole or not at all, and return what was lost on the way.

    The source is never overwritten; another file only with *force*. A gold set with masks is
    written to a format without them only with *force*. Between formats of large runs, only a part
    of the run is in memory at a time. *on_empty*: see :class:`karat.formats.base.ReadOptions`.
    """
    old, new = Path(source), Path(target)
    refuse_overwriting(old, new, force=force)
    named = source_format or ("csv" if columns else None)
    chosen = FORMATS.get(named) if named else detect(old)
    if chosen.scan and not columns:
        streamed = _stream(chosen.scan(old, ReadOptions(limits)), new, target_format)
        if streamed:
            return replace(streamed, source=str(old), source_format=chosen.name)
    if chosen.kind == "dataset":
        data: Dataset | Run = read_dataset(
            old,
            format=chosen.name,
            limits=limits,
            columns=columns,
            topics=topics,
            on_empty=on_empty,
        )
    else:
        data = read(old, format=chosen.name, limits=limits, columns=columns)
    written = format_to_write(data, new, target_format)
    lost = _check_masks(data, new, written, force=force)
    write(data, new, format=written.name)
    warnings = [*losses(data, written), *lost]
    if isinstance(data, Dataset):
        again = read(new, format=written.name, limits=limits)
        if isinstance(again, Dataset) and again.match != data.match:
            warnings.append(f"matching mode {data.match!r}, which becomes {again.match!r}")
    entries = len(data.grades) if isinstance(data, Dataset) else len(data.scores)
    return Conversion(
        str(old), chosen.name, str(new), written.name, len(data), entries, tuple(warnings)
    )


def _stream(runs: Iterator[Run], target: Path, format: str | None) -> Conversion | None:  # noqa: A002 - as above
    """Write *runs*, the parts of one run, or return None if the format of *target* cannot."""
    first = next(runs, None)
    if first is None:
        return None
    written = format_to_write(first, target, format)
    if written.write_parts is None:
        return None
    counts = Counter[str]()
    lost: set[str] = set()

    def counted() -> Iterator[Run]:
        for run in chain([first], runs):
            if written.refuses:
                writable(run, written)  # raises InputError
            counts.update(queries=len(run), entries=len(run.scores))
            lost.update(losses(run, written))
            yield run

    written.write_parts(counted(), target)
    warnings = tuple(words for words in FEATURES.values() if words in lost)
    return Conversion(
        "", "", str(target), written.name, counts["queries"], counts["entries"], warnings
    )


def _check_masks(data: Dataset | Run, path: Path, written: Format, *, force: bool) -> list[str]:
    """Return the warning that masks are lost, if any; raise InputError without *force*."""
    masks = data.metadata.get(MASKS)
    if not isinstance(masks, Mapping) or not masks or "metadata" in written.keeps:
        return []
    files = ", ".join(list(masks)[:MASKS_SHOWN]) + (", ..." if len(masks) > MASKS_SHOWN else "")
    count = f"{len(masks):,} file{'' if len(masks) == 1 else 's'}"
    if not force:
        raise InputError(
            f"{path}: the gold set masks lines of {count} ({files}), and the format "
            f"{written.name!r} has no masks; without them engines find the texts that the queries "
            "were made from, and scores are too high. Use --to gold, or --force to drop the masks"
        )
    return [f"masks of {count} ({files}); scores without them are too high"]


def refuse_overwriting(source: Path, target: Path, *, force: bool) -> None:
    """Raise InputError if *target* is the source, or exists without *force*."""
    if target.exists():
        if source.exists() and source.samefile(target):
            raise InputError(f"{target}: is the input file; give another name for the output")
        if not force:
            raise InputError(f"{target}: exists already; --force replaces it")


def write_like(data: Dataset, target: str, source: Format, *, force: bool = False) -> Format:
    """Write *data* in the format of its *source* where the name of *target* fits that.

    Else the name decides; the format used is returned. Masks are dropped only with *force*.
    """
    same = source.write and target.removesuffix(".gz").endswith(source.suffixes)
    written = format_to_write(data, target, source.name if same else None)
    _check_masks(data, Path(target), written, force=force)
    return write(data, target, format=written.name)
