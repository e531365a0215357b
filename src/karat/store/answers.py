"""One answer as a row of the table: its hits packed, its times beside it."""

import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isfinite

from sqlalchemy import Row

from karat.errors import InputError
from karat.model import Answer, Hit, Outcome
from karat.model.timings import Sample

__all__ = ["answer_of", "kept_id", "pack", "row_of", "sample_of", "storable", "unpack"]

FASTEST = 1
# What a hit has where nobody has set it. Every hit has a path.
UNSET: Mapping[str, object] = {**Hit("")._asdict(), "path": None, "score": "nan"}
OUTCOMES = {outcome.name.lower(): outcome for outcome in Outcome}


def pack(hits: Sequence[Hit]) -> bytes:
    """Return *hits* as compressed JSON, column by column; what nobody has set is left out.

    >>> unpack(pack([Hit("a.py", 0.5), Hit("b.py")]))[0]
    Hit(path='a.py', score=0.5, start_line=0, end_line=0, symbol='', tokens=-1)
    """
    columns: dict[str, Sequence[object]] = dict(
        zip(Hit._fields, zip(*hits, strict=True), strict=False)
    )
    # JSON spells neither NaN nor infinity; as text they come back just the same.
    columns["score"] = [hit.score if isfinite(hit.score) else str(hit.score) for hit in hits]
    kept = {
        field: column
        for field, column in columns.items()
        if any(value != UNSET[field] for value in column)
    }
    return zlib.compress(json.dumps(kept, separators=(",", ":")).encode(), FASTEST)


def unpack(data: bytes) -> tuple[Hit, ...]:
    """Return the hits that :func:`pack` was given."""
    columns = json.loads(zlib.decompress(data))
    count = len(columns.get("path", ()))
    filled = {field: columns.get(field, (unset,) * count) for field, unset in UNSET.items()}
    filled["score"] = map(float, filled["score"])
    return tuple(map(Hit._make, zip(*filled.values(), strict=True)))


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
