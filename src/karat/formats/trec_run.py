"""TREC run files: ``query Q0 document rank score tag`` per line, whole or as a stream.

The score orders the documents; the rank column is not looked at, as in trec_eval.

A block of rows is split once as a whole; only where its lines do not all have the expected number
of fields (comments, blank lines, junk after the last field) is it split line by line.

A stream of rankings is made in one of three ways with the same result: a small file is gathered; a
large one is read as columns where Polars is installed and the file is plain (one blank between
fields, six fields, UTF-8, finite scores, no document twice); any other is streamed one query at a
time, by the tolerant reader, which also reports problems with their lines.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from karat.errors import FormatError, InputError
from karat.formats.base import Format, Judged, Rankings, ReadOptions, as_run
from karat.formats.ranked_columns import ColumnRanking, batch_of, by_query, rankings, repeated_rows
from karat.formats.source import (
    GZIP,
    UTF8_MARK,
    Problems,
    decode,
    head_of,
    open_bytes,
    refuse_utf16,
)
from karat.model import Answer, Dataset, Run
from karat.model.run import scored_hits

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl


BLOCK_BYTES = 1 << 20
LINE_MARK = b"\0"
MOST_HEAD_LINES = 1_000
# A line of a run without its last field, which other tools leave out and trec_eval refuses.
WITHOUT_TAG = 5
NO_TAG = (
    "no run tag; expected query Q0 document rank score tag; to add one: "
    """awk '{print $0, "mine"}' a.run > b.run"""
)
COLUMN_BLOCK_BYTES = 1 << 18
FIELDS = 6
BLANK = 32
LARGE_BYTES = 8_000_000
FIRST_FIELD = re.compile(rb"^[^\S\n]*([^\s#]\S*)", re.MULTILINE)

PART_HITS = 200_000


class TrecColumns(NamedTuple):
    """The requested columns of some lines, and the number of each line."""

    lines: Sequence[int]
    columns: list[list[bytes]]


def blocks(path: str | os.PathLike[str], size: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
    """Yield the number of the first line and the bytes of successive whole-line blocks."""
    line = 1
    rest = b""
    with open_bytes(path) as stream:
        start = True
        while data := stream.read(size):
            if start:
                refuse_utf16(data, os.fspath(path))
                data = data.removeprefix(UTF8_MARK)
                start = False
            cut = data.rfind(b"\n") + 1
            if not cut:
                rest += data
                continue
            block = rest + data[:cut]
            yield line, block
            line += block.count(b"\n")
            rest = data[cut:]
    if rest:
        yield line, rest + b"\n"


def split_rows(
    block: bytes, line: int, *, width: int, want: Sequence[int], problems: Problems, longer: bool
) -> TrecColumns:
    r"""Return the columns *want* of a block whose lines have *width* fields.

    Blanks, tabs and carriage returns separate, as for C's ``isspace``; a line that starts with
    ``#`` is a comment. With *longer* further fields are junk to ignore, as trec_eval does.

    >>> split_rows(b"q1 0 d1 1\nq1\t0  d2 0\r\n", 1, width=4, want=(0, 2), problems=Problems("x"),
    ...            longer=False).columns
    [[b'q1', b'q1'], [b'd1', b'd2']]
    """
    if LINE_MARK not in block and not block.startswith(b"#") and b"\n#" not in block:
        count = block.count(b"\n")
        # A mark for each line end survives the split and proves that every line has its fields.
        fields = block.replace(b"\n", b" \0 ").split()
        step = width + 1
        if len(fields) == count * step and fields[width::step] == [LINE_MARK] * count:
            return TrecColumns(range(line, line + count), [fields[index::step] for index in want])
    return _split_lines(block, line, width=width, want=want, problems=problems, longer=longer)


def decode_ids(ids: list[bytes], lines: Sequence[int], problems: Problems) -> list[str]:
    """Return *ids* as text; bytes that are not UTF-8 are noted with their lines."""
    if not ids:
        return []
    try:
        return b"\n".join(ids).decode().split("\n")
    except UnicodeDecodeError:
        for name, line in zip(ids, lines, strict=True):
            try:
                decode(name, problems.source, line=line)
            except FormatError as error:
                problems.extend(error.problems)
        return [name.decode(errors="replace") for name in ids]


def numbers(words: list[bytes], lines: Sequence[int], what: str, problems: Problems) -> list[float]:
    """Return *words* as finite numbers; any other word is a problem with its line."""
    try:
        values = list(map(float, words))
    except ValueError:
        values = []
    # One sum finds any NaN or infinity; Python alone would read 1_0 as 10.
    if len(values) == len(words) and abs(sum(values)) < 1e308 and b"_" not in b"".join(words):
        return values
    checked = []
    for word, line in zip(words, lines, strict=True):
        value = _finite(word)
        if value is None:
            problems.add(line, f"{what} {word.decode(errors='replace')!r} is not a finite number")
        checked.append(value or 0.0)
    return checked


def first_row(head: bytes) -> list[bytes]:
    """Return the fields of the first row if it looks like TREC's, else nothing.

    Both formats have a number as fourth field: a grade, perhaps with a fraction, or a rank. JSON
    and Parquet files have no rows.
    """
    if head.lstrip().startswith((b"{", b"[", b"PAR1")):
        return []
    for line in head.split(b"\n", MOST_HEAD_LINES)[:MOST_HEAD_LINES]:
        if line.strip() and not line.startswith(b"#"):
            fields = line.split()
            return fields if fields[3:] and _finite(fields[3]) is not None else []
    return []


def writable_id(name: str) -> bool:
    """Return whether *name* can stand in a blank-separated file."""
    encoded = name.encode()
    return encoded.split() == [encoded] and LINE_MARK not in encoded and not name.startswith("#")


def _split_lines(
    block: bytes, line: int, *, width: int, want: Sequence[int], problems: Problems, longer: bool
) -> TrecColumns:
    lines: list[int] = []
    columns: list[list[bytes]] = [[] for _ in want]
    for number, row in enumerate(block.split(b"\n"), line):
        if row.startswith(b"#"):
            continue
        fields = row.split()
        if not fields:
            continue
        if LINE_MARK in row:
            problems.add(number, "a NUL byte; expected text")
        elif len(fields) == WITHOUT_TAG and width == WITHOUT_TAG + 1:
            problems.add(number, NO_TAG)
        elif len(fields) < width or (len(fields) > width and not longer):
            problems.add(number, f"{len(fields)} fields; expected {width}")
        else:
            lines.append(number)
            for column, index in zip(columns, want, strict=True):
                column.append(fields[index])
    return TrecColumns(lines, columns)


def _finite(word: bytes) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    # NaN and infinity leave a remainder that is not 0.
    return value if value - value == 0 and b"_" not in word else None


def scan_columns(
    path: str | os.PathLike[str], judged: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[str, ColumnRanking]] | None:
    """Return a stream of rankings, or None where Polars is missing or the file is not plain."""
    try:
        import polars  # noqa: F401, ICN001 - only asked whether it is there
    except ImportError:
        return None
    with open(path, "rb") as stream:  # noqa: PTH123 - pathlib loads slowly
        if stream.read(2) == GZIP:
            return None
    frame = _frame(path)
    if frame is None:
        return None
    batch = batch_of(by_query(frame))
    if any(query.startswith("#") for query in batch.queries) or any(
        True for _ in repeated_rows(batch)
    ):
        return None
    return rankings(batch, judged)


def _frame(path: str | os.PathLike[str]) -> "pl.DataFrame | None":
    """Return query, document and score of each row, or None where the file is not plain."""
    import polars as pl

    names = ("query", "iteration", "document", "rank", "score", "tag")
    scan = pl.scan_csv(
        os.fspath(path),
        separator=" ",
        has_header=False,
        quote_char=None,
        schema={name: pl.Float64 if name == "score" else pl.String for name in names},
    )
    try:
        frame = scan.select("query", "document", "score").collect()
    except pl.exceptions.PolarsError:
        return None
    whole = frame.null_count().sum_horizontal().item() == 0 and frame["score"].is_finite().all()
    return frame if whole and _plain(path, len(frame)) else None


def _plain(path: str | os.PathLike[str], rows: int) -> bool:
    """Return whether *rows* lines have five single blanks each and no other white space.

    Polars rejects longer lines and pads short ones, so that the total is enough.
    """
    import numpy as np

    blanks = separators = 0
    after_blank = False
    block = bytearray(COLUMN_BLOCK_BYTES)
    codes = np.frombuffer(block, dtype=np.uint8)
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - pathlib loads slowly
        while size := stream.readinto(block):
            separator = codes[:size] <= BLANK
            blank = codes[:size] == BLANK
            blanks += int(np.count_nonzero(blank))
            separators += int(np.count_nonzero(separator))
            if (after_blank and separator[0]) or (blank[:-1] & separator[1:]).any():
                return False
            after_blank = bool(blank[-1])
    # The last line may lack its end.
    return blanks == (FIELDS - 1) * rows and rows - 1 <= separators - blanks <= rows


class Segment(NamedTuple):
    """Consecutive rows of one query."""

    query: str
    documents: list[str]
    scores: list[float]
    lines: Sequence[int]


def scan_trec_run(
    path: str | os.PathLike[str], judged: Judged | None = None, *, large: int = LARGE_BYTES
) -> Rankings:
    """Yield each query with its ``{document: score}``, in the order the queries first appear.

    *judged* is ``{query: {document: grade}}``. With it, files of *large* bytes or more may come as
    :class:`~karat.formats.ranked_columns.ColumnRanking`, which knows the scores of all documents
    but looks up only judged ones. Everything wrong with the file is raised as one FormatError, at
    the latest when the stream ends. Memory is bounded by one query where the file is too large to
    gather and each query's rows are adjacent.
    """
    if _size(path) < large:
        yield from _gathered(path).items()
        return
    if judged is not None:
        columns = scan_columns(path, judged)
        if columns is not None:
            yield from columns
            return
    if _adjacent(path):
        yield from _streamed(path)
    else:
        yield from _gathered(path).items()


def _size(path: str | os.PathLike[str]) -> int:
    with open_bytes(path) as stream:  # raises the InputError of a missing file
        return os.fstat(stream.fileno()).st_size


def _gathered(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    problems = Problems(path)
    rankings: dict[str, dict[str, float]] = {}
    for segment in _segments(path, problems):
        _extend(rankings.setdefault(segment.query, {}), segment, problems)
    problems.finish()
    return rankings


def _streamed(path: str | os.PathLike[str]) -> Iterator[tuple[str, Mapping[str, float]]]:
    problems = Problems(path)
    query: str | None = None
    ranking: dict[str, float] = {}
    for segment in _segments(path, problems):
        if segment.query != query:
            if query is not None and not problems:
                yield query, ranking
            query, ranking = segment.query, {}
        _extend(ranking, segment, problems)
    problems.finish()
    if query is not None:
        yield query, ranking


def _segments(path: str | os.PathLike[str], problems: Problems) -> Iterator[Segment]:
    """Yield the rows by query; after the first problem only look for more of them."""
    total = 0
    for line, block in blocks(path):
        lines, (queries, documents, scores) = split_rows(
            block, line, width=6, want=(0, 2, 4), problems=problems, longer=True
        )
        total += len(lines)
        names = decode_ids(documents, lines, problems)
        values = numbers(scores, lines, "score", problems)
        texts = dict(zip(queries, decode_ids(queries, lines, problems), strict=True))
        if problems:
            continue
        start = 0
        while start < len(queries):
            stop = _end_of(queries, start)
            yield Segment(
                texts[queries[start]], names[start:stop], values[start:stop], lines[start:stop]
            )
            start = stop
    if not total and not problems:
        problems.add(0, "no row in the file; expected query Q0 document rank score tag")


def _end_of(queries: list[bytes], start: int) -> int:
    """Return where the stretch of equal ids that begins at *start* ends."""
    query = queries[start]
    stop = start + 1
    step = 64
    # Long stretches are skipped by comparing slices, short ones by single steps.
    while queries[stop : stop + step] == [query] * step:
        stop += step
    while stop < len(queries) and queries[stop] == query:
        stop += 1
    return stop


def _extend(ranking: dict[str, float], segment: Segment, problems: Problems) -> None:
    before = len(ranking)
    known = set(ranking) if before else set()
    ranking.update(zip(segment.documents, segment.scores, strict=True))
    if len(ranking) == before + len(segment.documents):
        return
    for document, line in zip(segment.documents, segment.lines, strict=True):
        if document in known:
            problems.add(line, f"{document!r} is returned twice for query {segment.query!r}")
        known.add(document)


def _adjacent(path: str | os.PathLike[str]) -> bool:
    """Return whether the rows of each query stand together."""
    seen: set[bytes] = set()
    last = b""
    for _, block in blocks(path):
        queries = FIRST_FIELD.findall(block)
        start = 0
        while start < len(queries):
            query = queries[start]
            if query != last and query in seen:
                return False
            seen.add(query)
            last = query
            start = _end_of(queries, start)
    return True


def detect(_path: str, head: bytes) -> bool:
    """Return whether the first row has a rank and a score; a missing tag fails when reading."""
    row = first_row(head)
    return len(row) >= WITHOUT_TAG and _is_number(row[4])


def read(path: "Path", _options: ReadOptions) -> Run:
    """Return one answer per query, hits by descending score, equal scores as in the file.

    The run takes its name from the tag of the first row.
    """
    return Run.of(_answers(path), name=_name(path))


def scan(path: "Path", _options: ReadOptions) -> Iterator[Run]:
    """Yield the same answers in runs of whole queries, of bounded size."""
    name = _name(path)
    answers: list[Answer] = []
    hits = 0
    for answer in _answers(path):
        answers.append(answer)
        hits += len(answer.hits)
        if hits >= PART_HITS:
            yield Run.of(answers, name=name)
            answers, hits = [], 0
    if answers:
        yield Run.of(answers, name=name)


def _answers(path: "Path") -> Iterator[Answer]:
    for query, ranking in scan_trec_run(path):
        if not _descending(list(ranking.values())):
            # Sorting is stable, so that equal scores keep the order of the file.
            ranking = dict(sorted(ranking.items(), key=lambda item: -item[1]))  # noqa: PLW2901
        yield Answer(query, scored_hits(ranking, ranking.values()))


def _name(path: "Path") -> str:
    tag = first_row(head_of(path))[5:6]
    return tag[0].decode(errors="replace") if tag else path.name


def write(data: Dataset | Run, path: "Path") -> None:
    """Write each document once, at its first rank.

    Scores that are missing or do not descend are replaced by numbers that keep the order.
    """
    write_parts([as_run(data)], path)


def write_parts(runs: Iterable[Run], path: "Path") -> None:
    """Write the answers of *runs* one after the other; the first one names the run."""
    from karat.system.files import replacing

    tag = ""
    with replacing(path) as stream:
        for run in runs:
            tag = tag or "_".join(run.name.split()) or "run"
            for number, query in enumerate(run.query_ids):
                rows = range(run.offsets[number], run.offsets[number + 1])
                first: dict[str, float] = {}
                for row in rows:
                    first.setdefault(run.paths[row], run.scores[row])
                _check_ids(run, query, first)
                scores = list(first.values())
                if not _descending(scores):
                    scores = [float(number) for number in range(len(first), 0, -1)]
                ranked = enumerate(zip(first, scores, strict=True), 1)
                lines = [
                    f"{query} Q0 {name} {rank} {score!r} {tag}\n" for rank, (name, score) in ranked
                ]
                stream.write("".join(lines).encode())


def _check_ids(run: Run, query: str, documents: Iterable[str]) -> None:
    names = (query, *documents)
    joined = " ".join(names).encode()
    words = joined.split()
    apart = len(words) == len(names) and words == joined.split(b" ")
    if apart and b"\0" not in joined and not joined.startswith(b"#"):
        return
    for name in names:
        if not writable_id(name):
            raise InputError(f"{run.name}: TREC files cannot hold the id {name!r}")


def _descending(scores: list[float]) -> bool:
    ordered = all(first >= second for first, second in pairwise(scores))
    return ordered and not any(isnan(score) for score in scores)


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


FORMAT = Format(
    "trec-run",
    "run",
    "TREC run: query Q0 document rank score tag",
    (".run", ".trec", ".txt"),
    detect,
    read,
    write,
    frozenset({"scores", "files"}),
    decisive=True,
    scan=scan,
    write_parts=write_parts,
    stream=scan_trec_run,
)
