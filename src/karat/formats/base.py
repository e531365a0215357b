"""A file format: one record with its name, reader and writer; and what it cannot store."""

import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Literal, NamedTuple

from karat.errors import InputError
from karat.model import Dataset, Outcome, Query, Run, Target
from karat.model.frozen import EMPTY
from karat.model.run import AS_RETURNED, TIES

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from karat.errors import Problem

# {query: {document: grade}}, and each query with its {document: score}.
Judged = Mapping[str, Mapping[str, float]]
Rankings = Iterator[tuple[str, Mapping[str, float]]]


# Metadata of a run whose query ids are the texts of the queries.
IDS_ARE_TEXTS = "ids_are_texts"
# The format of a run in place of a gold set; an extension adds it.
RANKING = "ranking"
# Formats of a folder of results: cases as JSON and CSV, and reports on all agents.
FOLDER_FORMATS = ("json", "csv", "markdown", "html")
MEBIBYTE = 1024 * 1024

FEATURES = {
    "text": "query texts",
    "textless": "queries without text",
    "bare": "queries without targets, or answers without hits",
    "grades": "grades other than 1",
    "levels": "grades other than 1 and 2",
    "high": "grades above 3",
    "zeros": "targets judged not relevant",
    "fractions": "grades that are not whole numbers",
    "negatives": "judgments below 0, which mean pooled but not judged",
    "lines": "line ranges",
    "files": "targets or hits without a line range",
    "symbols": "symbols",
    "pathless": "symbols without a file",
    "placed": "the file of a symbol",
    "refs": "the kind of reference of a target",
    "quotes": "quoted passages as targets",
    "subtopics": "subtopics of targets",
    "category": "categories",
    "tags": "tags",
    "extra": "further fields of a query or an answer",
    "metadata": "metadata",
    "scores": "scores",
    "unordered": "scores that do not descend from hit to hit",
    "repeats": "further hits of a file already returned",
    "tokens": "token counts",
    "latency": "latencies",
    "outcome": "errors and timeouts",
}
EVERYTHING = frozenset(FEATURES)
HIGHEST_USUAL = 3


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
    *on_empty* is told of each row without a query, which is then left out; without it, such a row
    is a problem like any other.
    """

    limits: ReadLimits = DEFAULT
    columns: Mapping[str, str] = EMPTY
    on_empty: "Callable[[Problem], None] | None" = None


@dataclass(frozen=True, slots=True)
class Format:
    """One file format.

    *detect* gets the path and the first bytes (decompressed; empty for a folder) and returns
    whether they look like this format; it never raises. With *decisive*, a match rules out all
    other formats, so that they need not be loaded; with *fallback*, it counts only if no other
    format matches. *by_columns*: the reader takes names of columns. *read* returns a Dataset or a
    Run, whichever *kind* says, or raises FormatError with every problem found. *write* is atomic
    and None for a format that is only read. *keeps* names what the format can express of the
    :data:`karat.formats.base.FEATURES`; a conversion warns about the others, and raises
    InputError for those in *refuses*, because the file could not be read again.

    Formats of large runs can also stream: *scan* yields the run as parts, runs of whole queries of
    bounded size, and *write_parts* writes such parts one after the other. *stream* yields the
    ranking of each query for scoring by document ids, of which only those in *judged* need be
    decoded; all are needed without it. It returns None for a run that must be read whole. *parts*
    returns the files of one run that a pattern names.
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
    stream: "Callable[[str | os.PathLike[str], Judged | None], Rankings | None] | None" = None
    parts: "Callable[[str], list[Path]] | None" = None


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


def features(data: Dataset | Run) -> frozenset[str]:
    """Return which of :data:`FEATURES` occur in *data*."""
    present = _of_dataset(data) if isinstance(data, Dataset) else _of_run(data)
    return frozenset(name for name, occurs in present.items() if occurs)


def losses(data: Dataset | Run, target: Format) -> tuple[str, ...]:
    """Return descriptions of what *target* cannot express of *data*, in the order of FEATURES."""
    lost = features(data) - target.keeps - target.refuses
    return tuple(words for name, words in FEATURES.items() if name in lost)


FLOAT32 = struct.Struct("<f")
LARGEST_FLOAT32 = 3.4028234663852886e38


def in_strict_order(run: Run) -> Run:
    """Return *run* with scores that give the order of its engine to any reader of a file.

    A reader orders equal scores by its own rule, and may read them as float32. In a run of an
    engine, a score that is not below the one before it becomes the next smaller float32; all others
    stay. Runs from elsewhere, which have no order of their own, are returned unchanged.

    >>> from karat.model import Answer, Hit
    >>> hits = (Hit("b", 2.0), Hit("c", 2.0), Hit("a", 1.5))
    >>> run = Run.of([Answer("q1", hits)], metadata={"ties": "order"})
    >>> [hit.score for hit in in_strict_order(run).answer(0).hits]
    [2.0, 1.9999998807907104, 1.5]
    """
    if run.metadata.get(TIES) != AS_RETURNED:
        return run
    scores = array("d")
    for first, end in pairwise(run.offsets):
        scores.extend(_strictly_descending(run.scores[first:end]))
    metadata = {key: value for key, value in run.metadata.items() if key != TIES}
    return replace(run, scores=scores, metadata=metadata)


def _strictly_descending(scores: "array[float]") -> "array[float]":
    """Return descending *scores* without equal ones, as float32 too.

    >>> list(_strictly_descending(array("d", [1.0, 0.0, 0.0, -1.0])))
    [1.0, 0.0, -1.401298464324817e-45, -1.0]
    """
    if not all(isfinite(score) and abs(score) < LARGEST_FLOAT32 for score in scores):
        return scores
    descending = array("d")
    before = inf
    for score in scores:
        (rounded,) = FLOAT32.unpack(FLOAT32.pack(score))
        below = rounded < before
        before = rounded if below else _next_below(before)
        descending.append(score if below else before)
    return descending


def _next_below(value: float) -> float:
    """Return the largest float32 below the float32 *value*."""
    (bits,) = struct.unpack("<I", FLOAT32.pack(value or 0.0))
    # The bits of a float32 are ordered like its size; the first bit is the sign.
    bits = bits - 1 if value > 0 else 0x80000001 if value == 0 else bits + 1
    (below,) = FLOAT32.unpack(struct.pack("<I", bits))
    return float(below)


def writable(data: Dataset | Run, target: Format) -> Dataset | Run:
    """Return what *target* can hold of *data*, or raise InputError where it cannot hold it.

    Judgments below 0 are left out where a format has none: to a metric they do not exist. Targets
    that differ only in what is lost become one, with the higher grade.
    """
    present = features(data)
    # Without its text, a quote would be a target without a location.
    refused = present & (target.refuses | ({"quotes"} - target.keeps))
    if refused:
        words = ", ".join(FEATURES[name] for name in FEATURES if name in refused)
        raise InputError(f"{data.name}: format {target.name!r} cannot hold {words}")
    if isinstance(data, Run) or present <= target.keeps:
        return data
    queries = [query._replace(targets=_narrowed(query, target)) for query in data.queries()]
    narrow = data.with_queries(queries)
    return replace(narrow, tags=data.tags)


def _narrowed(query: Query, target: Format) -> tuple[Target, ...]:
    best: dict[Target, Target] = {}
    for judgment in query.targets:
        if judgment.grade < 0 and "negatives" not in target.keeps:
            continue
        narrowed = judgment
        if "lines" not in target.keeps:
            narrowed = narrowed._replace(start_line=0, end_line=0)
        if "symbols" not in target.keeps and judgment.ref != "quote":
            narrowed = narrowed._replace(symbol="")
        if "subtopics" not in target.keeps:
            narrowed = narrowed._replace(subtopics=())
        key = narrowed._replace(grade=0)
        if key not in best or best[key].grade < narrowed.grade:
            best[key] = narrowed
    return tuple(best.values())


def _of_dataset(data: Dataset) -> dict[str, bool]:
    grades = set(data.grades)
    codes = set(zip(data.paths.codes, data.symbols.codes, data.refs.codes, strict=True))
    named = [
        (data.paths.names[p], data.symbols.names[s])
        for p, s, r in codes
        if data.refs.names[r] != "quote"
    ]
    return {
        "text": any(data.texts),
        "textless": not all(text.strip() for text in data.texts),
        "bare": any(start == stop for start, stop in pairwise(data.offsets)),
        "grades": any(grade > 0 and grade != 1 for grade in grades),
        "levels": any(grade > 0 and grade not in (1, 2) for grade in grades),
        "high": any(grade > HIGHEST_USUAL for grade in grades),
        "zeros": 0 in grades,
        "fractions": any(not grade.is_integer() for grade in grades),
        "negatives": any(grade < 0 for grade in grades),
        "lines": any(data.start_lines),
        "files": not all(data.start_lines),
        "symbols": any(symbol for _, symbol in named),
        "pathless": any(not path for path, _ in named),
        "placed": any(path and symbol for path, symbol in named),
        "refs": any(name not in ("path", "quote") for name in data.refs.names),
        "quotes": "quote" in data.refs.names,
        "subtopics": bool(data.subtopics),
        "category": "category" in data.tags,
        "tags": bool(data.tags.keys() - {"category"}),
        "extra": any(data.extras),
        "metadata": bool(data.metadata),
    }


def _of_run(data: Run) -> dict[str, bool]:
    spans = list(pairwise(data.offsets))
    scores = [data.scores[start:stop] for start, stop in spans]
    codes = [data.paths.codes[start:stop] for start, stop in spans]
    return {
        "bare": any(start == stop for start, stop in spans),
        "lines": any(data.start_lines),
        "files": not all(data.start_lines),
        "symbols": any(data.symbols.names),
        "scores": any(not isnan(score) for score in data.scores),
        "unordered": any(a < b for part in scores for a, b in pairwise(part)),
        "repeats": any(len(set(part)) < len(part) for part in codes),
        "tokens": any(tokens >= 0 for tokens in data.tokens),
        "latency": any(latency >= 0 for latency in data.latencies_ns),
        "outcome": any(outcome != Outcome.ANSWERED for outcome in data.outcomes),
        "extra": any(data.extras),
        "metadata": bool(data.metadata),
    }
