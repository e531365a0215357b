"""Experiments with their runs, answers and scores."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

JSON = sa.JSON(none_as_null=True)
MOMENT = sa.DateTime(timezone=True)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "datasets",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("queries", sa.Integer(), nullable=False),
        sa.Column("gold", JSON, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="datasets_pk"),
    )
    op.create_table(
        "experiments",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("dataset", sa.String(length=64), nullable=False),
        sa.Column("config", JSON, nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("environment", JSON, nullable=False),
        sa.Column("created", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["dataset"], ["datasets.digest"], name="experiments_dataset_fk"),
        sa.PrimaryKeyConstraint("id", name="experiments_pk"),
        sa.UniqueConstraint("digest", name="experiments_digest_uq"),
    )
    op.create_index("experiments_created_ix", "experiments", ["created"])
    op.create_index("experiments_dataset_ix", "experiments", ["dataset"])
    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("experiment", sa.String(length=16), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("engine", JSON, nullable=False),
        sa.Column("engine_digest", sa.String(length=64), nullable=False),
        sa.Column("snapshot", sa.Text(), nullable=False),
        sa.Column("metadata", JSON, nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("begun", MOMENT, nullable=True),
        sa.Column("ended", MOMENT, nullable=True),
        sa.Column("index_ns", sa.BigInteger(), nullable=True),
        sa.Column("index_bytes", sa.BigInteger(), nullable=True),
        sa.Column("peak_bytes", sa.BigInteger(), nullable=True),
        sa.Column("warm_up", sa.Integer(), nullable=True),
        sa.Column("repetitions", sa.Integer(), nullable=True),
        sa.Column("alone", sa.Boolean(), nullable=True),
        sa.Column("notes", JSON, nullable=True),
        sa.ForeignKeyConstraint(
            ["experiment"], ["experiments.id"], name="runs_experiment_fk", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="runs_pk"),
        sa.UniqueConstraint("experiment", "position", name="runs_experiment_position_uq"),
    )
    op.create_index("runs_engine_digest_ix", "runs", ["engine_digest"])
    op.create_table(
        "answers",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("run", sa.String(length=32), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("hits", sa.LargeBinary(), nullable=False),
        sa.Column("latency_ns", sa.BigInteger(), nullable=False),
        sa.Column("extra", JSON, nullable=True),
        sa.Column("cold_ns", sa.BigInteger(), nullable=True),
        sa.Column("warm_ns", JSON, nullable=True),
        sa.Column("first_result_ns", sa.BigInteger(), nullable=True),
        sa.Column("phases", JSON, nullable=True),
        sa.Column("tokens", sa.BigInteger(), nullable=True),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("finished", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="answers_run_fk", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="answers_pk"),
        sa.UniqueConstraint("run", "query", name="answers_run_query_uq"),
    )
    op.create_table(
        "scores",
        sa.Column("run", sa.String(length=32), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column("mean", sa.Float(), nullable=True),
        sa.Column("answered", sa.Float(), nullable=True),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("low", sa.Float(), nullable=True),
        sa.Column("high", sa.Float(), nullable=True),
        sa.Column("level", sa.Float(), nullable=True),
        sa.Column("method", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="scores_run_fk", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "position", name="scores_pk"),
    )
    op.create_table(
        "karat_schema",
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("version", name="karat_schema_pk"),
    )
