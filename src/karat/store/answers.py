"""One answer as a row of the table: its hits packed, its times beside it."""

import json
import struct
import zlib
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Row

from karat.errors import InputError
from karat.model import Answer, Hit, Outcome
from karat.model.packing import PackedHits, packed
from karat.model.timings import Sample

__all__ = ["OUTCOMES", "answer_of", "kept_id", "row_of", "sample_of", "storable", "unpack"]

# How compressed data begins.
ZLIB = b"x"
# What a hit has where nobody has set it. Every hit has a path.
UNSET: Mapping[str, object] = {**Hit("")._asdict(), "path": None}
OUTCOMES = {outcome.name.lower(): outcome for outcome in Outcome}


def unpack(data: bytes) -> tuple[Hit, ...]:
    """Return the hits that :func:`karat.model.packing.packed` was given, now or in earlier days."""
    return _compressed(data) if data.startswith(ZLIB) else tuple(PackedHits(data))


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
        "hits": packed(answer.hits),
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


def _compressed(data: bytes) -> tuple[Hit, ...]:
    """Return hits as they were once kept: columns in compressed JSON, then scores as doubles."""
    reader = zlib.decompressobj()
    columns = json.loads(reader.decompress(data))
    doubles = reader.unused_data
    if doubles:
        columns["score"] = struct.unpack(f"<{len(doubles) // 8}d", doubles)
    count = len(columns.get("path", ()))
    filled = [columns.get(field, (unset,) * count) for field, unset in UNSET.items()]
    return tuple(map(Hit._make, zip(*filled, strict=True)))


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
