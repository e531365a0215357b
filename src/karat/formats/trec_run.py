"""TREC run files: ``query Q0 document rank score tag`` per line.

The score orders the documents; the rank column is not looked at, as in trec_eval.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import isnan
from typing import TYPE_CHECKING

from karat.errors import InputError
from karat.formats.base import Format, ReadOptions, as_run
from karat.formats.source import Problems, head_of
from karat.formats.trec_lines import WITHOUT_TAG, blocks, first_row, split_rows, writable_id
from karat.formats.trec_scan import scan_trec_run
from karat.model import Answer, Dataset, Hit, Run

if TYPE_CHECKING:
    from pathlib import Path


__all__ = ["FORMAT", "last_tag"]

PART_HITS = 200_000


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
        # Sorting is stable, so that equal scores keep the order of the file.
        ordered = sorted(ranking.items(), key=lambda item: -item[1])
        yield Answer(query, tuple(Hit(name, score) for name, score in ordered))


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
    joined = " ".join((query, *documents)).encode()
    if joined.split() == joined.split(b" ") and b"\0" not in joined and not joined.startswith(b"#"):
        return
    for name in (query, *documents):
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
)


TAIL_BYTES = 4096


def last_tag(path: str | os.PathLike[str]) -> str:
    """Return the sixth field of the last row, nothing where there is no row.

    trec_eval prints this one, so a run that was concatenated goes by its last part's name.
    """
    last = b""
    problems = Problems(path)  # the scan of the run reports them
    for line, block in blocks(path):
        # Only the end of a block can hold the last row; most of it is never split.
        start = block.rfind(b"\n", 0, -TAIL_BYTES) + 1 if len(block) > TAIL_BYTES else 0
        for part in (block[start:], block[:start]):
            tags = split_rows(
                part, line, width=6, want=(5,), problems=problems, longer=True
            ).columns[0]
            if tags:
                last = tags[-1]
                break
    return last.decode(errors="replace")
