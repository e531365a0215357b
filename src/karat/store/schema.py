"""The tables of a store, one description for SQLite and PostgreSQL."""

from datetime import UTC, datetime

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
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

__all__ = [
    "ANSWERS",
    "DATASETS",
    "EXPERIMENTS",
    "METADATA",
    "RUNS",
    "SCORES",
    "VERSION",
    "Moment",
    "Value",
]


class Moment(TypeDecorator[datetime]):
    """A moment in UTC; SQLite has no zones and keeps the bare time."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        """Return what the database is given."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        """Return what the database kept, with its zone."""
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


# A dict or a list; an absent one is NULL. The type json of PostgreSQL, unlike jsonb, keeps every
# escape, NUL among them.
Value = JSON(none_as_null=True)

METADATA = MetaData(
    # Migrations find a constraint by its name, and SQLite would give it none.
    naming_convention={
        "fk": "%(table_name)s_%(column_0_name)s_fk",
        "ix": "%(table_name)s_%(column_0_name)s_ix",
        "pk": "%(table_name)s_pk",
        "uq": "%(table_name)s_%(column_0_N_name)s_uq",
    }
)

# Alembic's own, by a name that leaves room for another program in the same database.
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
    UniqueConstraint("experiment", "position"),
)

# The id is the order in which queries ended. The hits are packed by karat.model.packing.
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
