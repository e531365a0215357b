"""TREC run files: ``query Q0 document rank score tag`` per line.

The score orders the documents; the rank column is not looked at, as in trec_eval.
"""

import os
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


def detect(_path: str, head: bytes) -> bool:
    """Return whether the first row has a rank and a score; a missing tag fails when reading."""
    row = first_row(head)
    return len(row) >= WITHOUT_TAG and _is_number(row[4])


def read(path: "Path", _options: ReadOptions) -> Run:
    """Return one answer per query, hits by descending score, equal scores as in the file.

    The run takes its name from the tag of the first row.
    """
    answers = []
    for query, ranking in scan_trec_run(path):
        # Sorting is stable, so that equal scores keep the order of the file.
        ordered = sorted(ranking.items(), key=lambda item: -item[1])
        answers.append(Answer(query, tuple(Hit(name, score) for name, score in ordered)))
    tag = first_row(head_of(path))[5:6]
    return Run.of(answers, name=tag[0].decode(errors="replace") if tag else path.name)


def write(data: Dataset | Run, path: "Path") -> None:
    """Write each document once, at its first rank.

    Scores that are missing or do not descend are replaced by numbers that keep the order.
    """
    data = as_run(data)
    tag = "_".join(data.name.split()) or "run"
    from karat.system.files import replacing

    with replacing(path) as stream:
        for answer in data.answers():
            first: dict[str, float] = {}
            for hit in answer.hits:
                first.setdefault(hit.path, hit.score)
            scores = list(first.values())
            if not _descending(scores):
                scores = [float(number) for number in range(len(first), 0, -1)]
            for rank, (document, score) in enumerate(zip(first, scores, strict=True), 1):
                for name in (answer.query_id, document):
                    if not writable_id(name):
                        raise InputError(f"{data.name}: TREC files cannot hold the id {name!r}")
                row = f"{answer.query_id} Q0 {document} {rank} {score!r} {tag}\n"
                stream.write(row.encode())


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
