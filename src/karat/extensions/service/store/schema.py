"""The tables of a service, beside the results of experiments in the same database."""

from pathlib import Path

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    inspect,
)

from karat.experiments.store.migrations import TableSet
from karat.experiments.store.schema import DATASETS, EXPERIMENTS, NAMES, RUNS, Moment, Value

METADATA = MetaData(naming_convention=NAMES)

UUID = String(36)
Number = BigInteger().with_variant(Integer, "sqlite")

# The secret itself is not stored, only its SHA-256.
TOKENS = Table(
    "tokens",
    METADATA,
    Column("id", UUID, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("scopes", Value, nullable=False),
    Column("created", Moment, nullable=False),
    Column("expires", Moment),
    Column("revoked", Moment),
)

COLLECTIONS = Table(
    "collections",
    METADATA,
    Column("id", UUID, primary_key=True),
    Column("owner", Text, nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("source", Value, nullable=False),
    Column("index", Value, nullable=False),
    Column("status", String(16), nullable=False),
    Column("error", Text, nullable=False),
    Column("snapshot", Text, nullable=False),
    Column("facts", Value, nullable=False),
    Column("operation", UUID),
    Column("created", Moment, nullable=False),
    Column("updated", Moment, nullable=False),
)

DOCUMENTS = Table(
    "collection_documents",
    METADATA,
    Column("collection", ForeignKey(COLLECTIONS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("path", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("lines", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
)

# *version* counts the judgments made since the upload; the gold set itself is as uploaded.
BENCHMARK_DATASETS = Table(
    "benchmark_datasets",
    METADATA,
    Column("id", UUID, primary_key=True),
    Column("owner", Text, nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("gold", ForeignKey(DATASETS.c.digest), nullable=False, index=True),
    Column("schema_version", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created", Moment, nullable=False),
    Column("updated", Moment, nullable=False),
)

# Rows are never changed or removed: undoing a judgment adds a row.
JUDGMENTS = Table(
    "judgments",
    METADATA,
    Column("dataset", ForeignKey(BENCHMARK_DATASETS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("query", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("start_line", Integer, nullable=False),
    Column("end_line", Integer, nullable=False),
    Column("grade", Float),
    Column("before", Float),
    Column("reason", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("undoes", Integer),
    Column("created", Moment, nullable=False),
)

# *resolved* is the gold set with its references bound to paths of the collection.
MAPPINGS = Table(
    "mappings",
    METADATA,
    Column("id", UUID, primary_key=True),
    Column("dataset", ForeignKey(BENCHMARK_DATASETS.c.id, ondelete="CASCADE"), nullable=False),
    Column("collection", ForeignKey(COLLECTIONS.c.id), nullable=False, index=True),
    Column("status", String(16), nullable=False),
    Column("mapped", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("unresolved", Value, nullable=False),
    Column("by_hand", Value, nullable=False),
    Column("resolved", ForeignKey(DATASETS.c.digest), index=True),
    Column("operation", UUID),
    Column("created", Moment, nullable=False),
    Column("resolved_at", Moment),
    UniqueConstraint("dataset", "collection"),
)

# The number of completed runs is counted in their table, so that no second number can differ.
# *revision* is the commit that was searched, where that is known.
BENCHMARKS = Table(
    "benchmarks",
    METADATA,
    Column("id", UUID, primary_key=True),
    Column("owner", Text, nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("mapping", ForeignKey(MAPPINGS.c.id), nullable=False, index=True),
    Column("config", Value, nullable=False),
    Column("total_runs", Integer, nullable=False),
    Column("status", String(16), nullable=False),
    Column("error", Text, nullable=False),
    Column("experiment", ForeignKey(EXPERIMENTS.c.id, ondelete="SET NULL"), index=True),
    Column("operation", UUID),
    Column("start_key", Text),
    Column("created", Moment, nullable=False, index=True),
    Column("started", Moment),
    Column("completed", Moment),
    Column("revision", Value),
)

# The last computed results of a benchmark, as sent to clients; *key* changes with their inputs.
RESULTS = Table(
    "benchmark_results",
    METADATA,
    Column("benchmark", ForeignKey(BENCHMARKS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("key", String(64), nullable=False),
    Column("data", LargeBinary, nullable=False),
)

# Why targets were missed by a run, packed by the module ``datasets`` beside this one.
LOSSES = Table(
    "losses",
    METADATA,
    Column("run", ForeignKey(RUNS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

# The id of a job is the operation that clients follow; *correlation* the request that began it.
JOBS = Table(
    "jobs",
    METADATA,
    Column("id", UUID, primary_key=True),
    Column("owner", Text, nullable=False, index=True),
    Column("kind", String(16), nullable=False),
    Column("subject", UUID, nullable=False, index=True),
    Column("status", String(16), nullable=False, index=True),
    Column("cancel", Boolean, nullable=False),
    Column("worker", Text),
    Column("attempts", Integer, nullable=False),
    Column("error", Text, nullable=False),
    Column("created", Moment, nullable=False),
    Column("started", Moment),
    Column("ended", Moment),
    Column("correlation", Text),
)

# An id is never given twice, also after the newest rows were removed: clients continue after it.
EVENTS = Table(
    "events",
    METADATA,
    Column("id", Number, primary_key=True),
    Column("operation", UUID, nullable=False, index=True),
    Column("subject", UUID, nullable=False, index=True),
    Column("type", String(32), nullable=False),
    Column("data", Value, nullable=False),
    Column("created", Moment, nullable=False, index=True),
    sqlite_autoincrement=True,
)

ANNOTATIONS = Table(
    "annotations",
    METADATA,
    Column("id", Number, primary_key=True),
    Column(
        "benchmark", ForeignKey(BENCHMARKS.c.id, ondelete="CASCADE"), nullable=False, index=True
    ),
    Column("text", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("created", Moment, nullable=False),
)


def _version(connection: Connection) -> str:
    """Return the version of tables that were made when it was not stored."""
    columns = {column["name"] for column in inspect(connection).get_columns(JOBS.name)}
    if "correlation" not in columns:
        return "0001"
    return "0002" if "lease_until" in columns else "0003"


TABLES = TableSet(
    "service",
    METADATA,
    revisions=("0001", "0002", "0003"),
    versions=Path(__file__).with_name("versions"),
    version_before=_version,
)
