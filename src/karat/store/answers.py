"""One answer as a row of the table: its hits packed, its times beside it."""

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isnan

from sqlalchemy import Row

from karat.errors import InputError
from karat.model import Answer, Hit, Outcome
from karat.model.timings import Sample

__all__ = ["OUTCOMES", "answer_of", "kept_id", "pack", "row_of", "sample_of", "storable", "unpack"]

FASTEST = 1
# Made once: json.dumps would make one for each answer.
ENCODER = json.JSONEncoder(separators=(",", ":"))
# What a hit has where nobody has set it. Every hit has a path.
UNSET: Mapping[str, object] = {**Hit("")._asdict(), "path": None}
OUTCOMES = {outcome.name.lower(): outcome for outcome in Outcome}


def pack(hits: Sequence[Hit]) -> bytes:
    """Return *hits* as compressed JSON, column by column, and then their scores as doubles.

    What nobody has set is left out. Scores are not spelled out, which would take the most time and
    leave no way to write NaN and infinity.

    >>> unpack(pack([Hit("a.py", 0.5), Hit("b.py")]))[0]
    Hit(path='a.py', score=0.5, start_line=0, end_line=0, symbol='', tokens=-1)
    """
    columns = dict(zip(Hit._fields, zip(*hits, strict=True), strict=False))
    scores = columns.pop("score", ())
    kept = {
        field: column
        for field, column in columns.items()
        if any(value != UNSET[field] for value in column)
    }
    text = ENCODER.encode(kept).encode()
    doubles = b"" if all(map(isnan, scores)) else struct.pack(f"<{len(scores)}d", *scores)
    return zlib.compress(text, FASTEST) + doubles


def unpack(data: bytes) -> tuple[Hit, ...]:
    """Return the hits that :func:`pack` was given."""
    reader = zlib.decompressobj()
    columns = json.loads(reader.decompress(data))
    doubles = reader.unused_data
    if doubles:
        columns["score"] = struct.unpack(f"<{len(doubles) // 8}d", doubles)
    count = len(columns.get("path", ()))
    filled = [columns.get(field, (unset,) * count) for field, unset in UNSET.items()]
    return tuple(map(Hit._make, zip(*filled, strict=True)))


def row_of(
    run: str, answer: Answer, sample: Sample | None, *, finished: datetime
) -> dict[str, object]:
    """Return the row of *answer*, without an id; the columns of an absent *sample* are NULL."""
    if sample is not None and sample.query_id != answer.query_id:
        raise InputError(f"the times of {sample.query_id!r} came with answer {answer.query_id!r}")
    return {
        "run": run,
        "query": kept_id(answer.query_id),
        "outcome": answer.outcome.name.lower(),
        "hits": pack(answer.hits),
        "latency_ns": answer.latency_ns,
        "extra": dict(answer.extra) or None,
        "finished": finished,
        **_times(sample),
    }


def answer_of(row: Row[*tuple[object, ...]]) -> Answer:
    """Return the answer in *row*."""
    return Answer(
        row.query, unpack(row.hits), OUTCOMES[row.outcome], row.latency_ns, row.extra or {}
    )


def sample_of(row: Row[*tuple[object, ...]]) -> Sample | None:
    """Return the times in *row*, None without any."""
    if row.cold_ns is None:
        return None
    return Sample(
        row.query,
        row.cold_ns,
        tuple(row.warm_ns or ()),
        row.first_result_ns,
        row.phases or {},
        row.tokens,
        row.cost,
    )


def kept_id(query_id: str) -> str:
    """Return *query_id*, or raise InputError where a database could not keep it as it is."""
    if storable(query_id) != query_id:
        raise InputError(f"query id {query_id!r} holds a character that no store can keep")
    return query_id


def storable(text: str) -> str:
    r"""Return *text* with a question mark for what a database cannot keep: NUL, half a character.

    >>> storable("a\0b\ud800")
    'a?b?'
    """
    return text.replace("\0", "?").encode("utf-8", "replace").decode()


def _times(sample: Sample | None) -> Mapping[str, object]:
    if sample is None:
        names = ("cold_ns", "warm_ns", "first_result_ns", "phases", "tokens", "cost")
        return dict.fromkeys(names)
    return {
        "cold_ns": sample.cold_ns,
        "warm_ns": list(sample.warm_ns) or None,
        "first_result_ns": sample.first_result_ns,
        "phases": dict(sample.phases) or None,
        "tokens": sample.tokens,
        "cost": sample.cost,
    }
