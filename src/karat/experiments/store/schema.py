"""The tables of results, one description for SQLite and PostgreSQL, and records as their rows."""

import json
import struct
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from math import isnan, nan
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

from karat.errors import InputError
from karat.experiments.store.base import (
    Experiment,
    ExperimentDefinition,
    ExperimentKind,
    PastRun,
    RunStatus,
    StoredRun,
)
from karat.formats.gold import as_gold, gold_digest
from karat.model import Answer, Dataset, Hit, Outcome
from karat.model.comparison import Interval
from karat.model.evaluation import Summary
from karat.model.run import PackedHits, packed
from karat.model.spec import Spec
from karat.model.timings import LatencySample, Timings

# The first bytes of compressed data.
ZLIB = b"x"
# The defaults of the fields of a hit. Every hit has a path.
UNSET: Mapping[str, object] = {**Hit("")._asdict(), "path": None}
OUTCOMES = {outcome.name.lower(): outcome for outcome in Outcome}


class Moment(TypeDecorator[datetime]):
    """A moment in UTC; SQLite has no zones and keeps the bare time."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        """Return what the database is given."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        """Return the stored time with its zone."""
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


# A dict or a list; an absent one is NULL. The type json of PostgreSQL, unlike jsonb, keeps every
# escape, NUL among them.
Value = JSON(none_as_null=True)

# Migrations find a constraint by its name, and SQLite would give it none.
NAMES = {
    "fk": "%(table_name)s_%(column_0_name)s_fk",
    "ix": "%(table_name)s_%(column_0_name)s_ix",
    "pk": "%(table_name)s_pk",
    "uq": "%(table_name)s_%(column_0_N_name)s_uq",
}
METADATA = MetaData(naming_convention=NAMES)

# Alembic's table, with a name that does not clash with other programs in the database.
VERSION = Table("karat_version", METADATA, Column("version_num", String(32), primary_key=True))

DATASETS = Table(
    "datasets",
    METADATA,
    Column("digest", String(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("queries", Integer, nullable=False),
    Column("gold", Value, nullable=False),
)

EXPERIMENTS = Table(
    "experiments",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("dataset", ForeignKey(DATASETS.c.digest), nullable=False, index=True),
    Column("config", Value, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("version", Text, nullable=False),
    Column("environment", Value, nullable=False),
    Column("created", Moment, nullable=False, index=True),
)

RUNS = Table(
    "runs",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("experiment", ForeignKey(EXPERIMENTS.c.id, ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("label", Text, nullable=False),
    Column("engine", Value, nullable=False),
    Column("engine_digest", String(64), nullable=False, index=True),
    Column("snapshot", Text, nullable=False),
    Column("metadata", Value, nullable=False),
    Column("status", String(16), nullable=False),
    Column("error", Text, nullable=False),
    Column("worker", Text),
    Column("begun", Moment),
    Column("ended", Moment),
    Column("index_ns", BigInteger),
    Column("index_bytes", BigInteger),
    Column("peak_bytes", BigInteger),
    Column("warm_up", Integer),
    Column("repetitions", Integer),
    Column("alone", Boolean),
    Column("notes", Value),
    # When all queries had an answer and the scores were stored; latency may be measured later.
    Column("scored", Moment),
    # Digests of the files that the engine was made of, NULL where that is not known.
    Column("content", Value),
    # When a user has pinned it, so that later runs of the engine are compared with it.
    Column("pinned", Moment),
    UniqueConstraint("experiment", "position"),
)

# The workers that hold runs, or something of an extension. Each of them increases its
# *heartbeat*; *lease_until* is by the clock of PostgreSQL. *kernel* is that of its lock file.
WORKERS = Table(
    "workers",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("heartbeat", BigInteger, nullable=False),
    Column("lease_until", Moment),
    Column("kernel", Text),
)

# What was decided about this store, and the versions of the tables of extensions, by name.
SETTINGS = Table(
    "settings",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

# The id is the order in which queries ended. The hits are packed by karat.model.run.
ANSWERS = Table(
    "answers",
    METADATA,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("run", ForeignKey(RUNS.c.id, ondelete="CASCADE"), nullable=False),
    Column("query", Text, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("hits", LargeBinary, nullable=False),
    Column("latency_ns", BigInteger, nullable=False),
    Column("extra", Value),
    Column("cold_ns", BigInteger),
    Column("warm_ns", Value),
    Column("first_result_ns", BigInteger),
    Column("phases", Value),
    Column("tokens", BigInteger),
    Column("cost", Float),
    Column("finished", Moment, nullable=False),
    UniqueConstraint("run", "query"),
)

SCORES = Table(
    "scores",
    METADATA,
    Column("run", ForeignKey(RUNS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("measure", Text, nullable=False),
    Column("mean", Float),
    Column("answered", Float),
    Column("n", Integer, nullable=False),
    Column("low", Float),
    Column("high", Float),
    Column("level", Float),
    Column("method", Text),
)


def unpack(data: bytes) -> Sequence[Hit]:
    """Return the hits that :func:`karat.model.run.packed` has packed, in any version."""
    return _compressed(data) if data.startswith(ZLIB) else PackedHits(data)


def row_of(
    run: str, answer: Answer, sample: LatencySample | None, *, finished: datetime
) -> dict[str, object]:
    """Return the row of *answer*, without an id; the columns of an absent *sample* are NULL."""
    if sample is not None and sample.query_id != answer.query_id:
        raise InputError(
            f"the latency of {sample.query_id!r} came with the answer to {answer.query_id!r}"
        )
    return {
        "run": run,
        "query": storable_id(answer.query_id),
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


def sample_of(row: Row[*tuple[object, ...]]) -> LatencySample | None:
    """Return the times in *row*, None without any."""
    if row.cold_ns is None:
        return None
    return LatencySample(
        row.query,
        row.cold_ns,
        tuple(row.warm_ns or ()),
        row.first_result_ns,
        row.phases or {},
        row.tokens,
        row.cost,
    )


def storable_id(query_id: str) -> str:
    """Return *query_id*, or raise InputError if a database cannot store it unchanged."""
    if storable(query_id) != query_id:
        raise InputError(
            f"query id {query_id!r} contains NUL or half a surrogate pair, which cannot be stored"
        )
    return query_id


def storable(text: str) -> str:
    r"""Return *text* with a question mark for each NUL and unpaired surrogate.

    >>> storable("a\0b\ud800")
    'a?b?'
    """
    return text.replace("\0", "?").encode("utf-8", "replace").decode()


def _compressed(data: bytes) -> tuple[Hit, ...]:
    """Return hits of an earlier version: columns in compressed JSON, then scores as doubles."""
    reader = zlib.decompressobj()
    columns = json.loads(reader.decompress(data))
    doubles = reader.unused_data
    if doubles:
        columns["score"] = struct.unpack(f"<{len(doubles) // 8}d", doubles)
    count = len(columns.get("path", ()))
    filled = [columns.get(field, (unset,) * count) for field, unset in UNSET.items()]
    return tuple(map(Hit._make, zip(*filled, strict=True)))


def _times(sample: LatencySample | None) -> Mapping[str, object]:
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


# The fields of Timings that belong to the run and not to a query.
INDEX_COSTS = ("index_ns", "index_bytes", "peak_bytes", "warm_up", "repetitions", "alone")


def dataset_row(dataset: Dataset) -> dict[str, object]:
    """Return the row of a gold set."""
    return {
        "digest": gold_digest(dataset),
        "name": storable(dataset.name),
        "queries": len(dataset),
        "gold": as_gold(dataset),
    }


def experiment_row(
    plan: ExperimentDefinition, *, environment: Mapping[str, object], created: datetime
) -> dict[str, object]:
    """Return the row of a new experiment."""
    return {
        "id": plan.id,
        "digest": plan.digest,
        "name": storable(plan.name),
        "kind": plan.kind.value,
        "dataset": gold_digest(plan.dataset),
        "config": dict(plan.config),
        "seed": plan.seed,
        "version": plan.version,
        "environment": dict(environment),
        "created": created,
    }


def run_rows(plan: ExperimentDefinition) -> list[dict[str, object]]:
    """Return the rows of the runs of a new experiment, all of them pending."""
    return [
        {
            "id": f"{plan.id}.{position}",
            "experiment": plan.id,
            "position": position,
            "label": storable(run.label),
            "engine": {
                "kind": run.engine.kind,
                "name": run.engine.name,
                "params": dict(run.engine.params),
            },
            "engine_digest": run.engine.digest,
            "snapshot": run.snapshot,
            "metadata": dict(run.metadata),
            "status": RunStatus.PENDING.value,
            "error": "",
        }
        for position, run in enumerate(plan.runs, 1)
    ]


def experiment_of(row: Row[Any], runs: Iterable[StoredRun]) -> Experiment:
    """Return the experiment in *row*, which also has the number of its queries."""
    return Experiment(
        row.id,
        row.name,
        ExperimentKind(row.kind),
        row.dataset,
        row.queries,
        row.config,
        row.seed,
        row.version,
        row.environment,
        row.created,
        tuple(runs),
    )


def run_of(row: Row[Any], dead: Collection[str]) -> StoredRun:
    """Return the run in *row*, which also has the number of its answers.

    A run whose worker is *dead* counts as cancelled: the same command continues it.
    """
    status = RunStatus(row.status)
    if status.running and (row.worker is None or row.worker in dead):
        status = RunStatus.CANCELLED
    return StoredRun(
        label=row.label,
        engine=Spec(row.engine["kind"], row.engine["name"], row.engine["params"]),
        snapshot=row.snapshot,
        metadata=row.metadata,
        id=row.id,
        status=status,
        error=row.error,
        answers=row.answers,
        begun=row.begun,
        ended=row.ended,
        index_ns=row.index_ns,
        scored=row.scored,
        content=row.content,
        pinned=row.pinned is not None,
    )


def past_run_of(row: Row[Any]) -> PastRun:
    """Return the past run in *row*, which also has the version of Karat."""
    return PastRun(
        row.id,
        row.label,
        row.finished,
        row.dataset,
        row.engine_digest,
        row.snapshot,
        row.content,
        row.version,
        row.pinned is not None,
    )


def timings_of(row: Row[Any], samples: Iterable[LatencySample | None]) -> Timings | None:
    """Return the timings of the run in *row*, None where it was finished without any."""
    if row.index_ns is None:
        return None
    costs = {name: getattr(row, name) for name in INDEX_COSTS}
    return Timings(tuple(sample for sample in samples if sample is not None), **costs)


def score_rows(run: str, summaries: Iterable[Summary]) -> list[dict[str, object]]:
    """Return the rows of *summaries*; what has no value is NULL."""
    return [
        {
            "run": run,
            "position": position,
            "measure": summary.measure,
            "mean": None if isnan(summary.mean) else summary.mean,
            "answered": None if isnan(summary.answered) else summary.answered,
            "n": summary.n,
            "low": summary.interval and summary.interval.low,
            "high": summary.interval and summary.interval.high,
            "level": summary.interval and summary.interval.level,
            "method": summary.interval and summary.interval.method,
        }
        for position, summary in enumerate(summaries, 1)
    ]


def summary_of(row: Row[Any]) -> Summary:
    """Return the scores in *row*."""
    interval = None
    if row.method is not None:
        interval = Interval(row.low, row.high, row.level, row.method)
    mean = nan if row.mean is None else row.mean
    answered = nan if row.answered is None else row.answered
    return Summary(row.measure, mean, answered, row.n, interval)
