"""A file format: one record with its name, how to detect it, its reader and its writer."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from karat.errors import InputError
from karat.model import Dataset, Run
from karat.model.frozen import EMPTY

if TYPE_CHECKING:
    # Not needed to score a TREC run, and slower to import than all of this package.
    from pathlib import Path

__all__ = [
    "DEFAULT",
    "IDS_ARE_TEXTS",
    "Format",
    "ReadLimits",
    "ReadOptions",
    "as_dataset",
    "as_run",
]

# Metadata of a run whose query ids are the texts of the queries.
IDS_ARE_TEXTS = "ids_are_texts"
MEBIBYTE = 1024 * 1024


class ReadLimits(NamedTuple):
    """The largest input that a reader accepts; every field is a setting.

    The *upload* limits hold for Semantik files, which may come from untrusted users. TREC and
    Parquet files are streamed and have no limit. YAML is slow to parse, hence its small allowance.
    """

    json_bytes: int = 512 * MEBIBYTE
    yaml_bytes: int = 10 * MEBIBYTE
    csv_bytes: int = 512 * MEBIBYTE
    upload_bytes: int = 10 * MEBIBYTE
    upload_queries: int = 1_000
    upload_judgments: int = 100


DEFAULT = ReadLimits()


class ReadOptions(NamedTuple):
    """The options of a reader besides the path.

    *columns* maps a role (query, document, grade, id, ...) to the column of a table that has it.
    """

    limits: ReadLimits = DEFAULT
    columns: Mapping[str, str] = EMPTY


@dataclass(frozen=True, slots=True)
class Format:
    """One file format.

    *detect* gets the path and the first bytes (decompressed; empty for a folder) and returns
    whether they look like this format; it never raises. With *decisive*, a match rules out all
    other formats, so that they need not be loaded; with *fallback*, it counts only if no other
    format matches. *by_columns*: the reader takes names of columns. *read* returns a Dataset or a
    Run, whichever *kind* says, or raises FormatError with every problem found. *write* is atomic
    and None for a format that is only read. *keeps* names what the format can express of the
    :data:`karat.formats.unsupported.FEATURES`; a conversion warns about the others, and raises
    InputError for those in *refuses*, because the file could not be read again.

    Formats of large runs can also stream: *scan* yields the run as parts, runs of whole queries of
    bounded size, and *write_parts* writes such parts one after the other.
    """

    name: str
    kind: Literal["dataset", "run"]
    summary: str
    suffixes: tuple[str, ...]
    detect: Callable[[str, bytes], bool]
    read: "Callable[[Path, ReadOptions], Dataset | Run]"
    write: "Callable[[Dataset | Run, Path], None] | None" = None
    keeps: frozenset[str] = frozenset()
    refuses: frozenset[str] = frozenset()
    decisive: bool = False
    fallback: bool = False
    by_columns: bool = False
    scan: "Callable[[Path, ReadOptions], Iterator[Run]] | None" = None
    write_parts: "Callable[[Iterable[Run], Path], None] | None" = None


def as_dataset(data: Dataset | Run) -> Dataset:
    """Return *data* if it is a dataset, or raise InputError."""
    if isinstance(data, Dataset):
        return data
    raise InputError(f"{data.name}: is a run; expected a dataset")


def as_run(data: Dataset | Run) -> Run:
    """Return *data* if it is a run, or raise InputError."""
    if isinstance(data, Run):
        return data
    raise InputError(f"{data.name}: is a dataset; expected a run")
