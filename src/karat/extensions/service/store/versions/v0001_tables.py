"""The tables of the service beside the results."""

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
        "collections",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("source", JSON, nullable=False),
        sa.Column("index", JSON, nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("snapshot", sa.Text(), nullable=False),
        sa.Column("facts", JSON, nullable=False),
        sa.Column("operation", sa.String(length=36), nullable=True),
        sa.Column("created", MOMENT, nullable=False),
        sa.Column("updated", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="collections_pk"),
    )
    op.create_index("collections_owner_ix", "collections", ["owner"])
    op.create_table(
        "events",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("operation", sa.String(length=36), nullable=False),
        sa.Column("subject", sa.String(length=36), nullable=False),
        sa.Column("type", sa.String(length=32), nullable=False),
        sa.Column("data", JSON, nullable=False),
        sa.Column("created", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="events_pk"),
        sqlite_autoincrement=True,
    )
    op.create_index("events_created_ix", "events", ["created"])
    op.create_index("events_operation_ix", "events", ["operation"])
    op.create_index("events_subject_ix", "events", ["subject"])
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("subject", sa.String(length=36), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("cancel", sa.Boolean(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", MOMENT, nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created", MOMENT, nullable=False),
        sa.Column("started", MOMENT, nullable=True),
        sa.Column("ended", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="jobs_pk"),
    )
    op.create_index("jobs_owner_ix", "jobs", ["owner"])
    op.create_index("jobs_status_ix", "jobs", ["status"])
    op.create_index("jobs_subject_ix", "jobs", ["subject"])
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("scopes", JSON, nullable=False),
        sa.Column("created", MOMENT, nullable=False),
        sa.Column("expires", MOMENT, nullable=True),
        sa.Column("revoked", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="tokens_pk"),
        sa.UniqueConstraint("digest", name="tokens_digest_uq"),
    )
    op.create_table(
        "benchmark_datasets",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("gold", sa.String(length=64), nullable=False),
        sa.Column("schema_version", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created", MOMENT, nullable=False),
        sa.Column("updated", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["gold"], ["datasets.digest"], name="benchmark_datasets_gold_fk"),
        sa.PrimaryKeyConstraint("id", name="benchmark_datasets_pk"),
    )
    op.create_index("benchmark_datasets_gold_ix", "benchmark_datasets", ["gold"])
    op.create_index("benchmark_datasets_owner_ix", "benchmark_datasets", ["owner"])
    op.create_table(
        "collection_documents",
        sa.Column("collection", sa.String(length=36), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection"],
            ["collections.id"],
            name="collection_documents_collection_fk",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("collection", "position", name="collection_documents_pk"),
    )
    op.create_table(
        "judgments",
        sa.Column("dataset", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("start_line", sa.Integer(), nullable=False),
        sa.Column("end_line", sa.Integer(), nullable=False),
        sa.Column("grade", sa.Float(), nullable=True),
        sa.Column("before", sa.Float(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("undoes", sa.Integer(), nullable=True),
        sa.Column("created", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset"], ["benchmark_datasets.id"], name="judgments_dataset_fk", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("dataset", "version", name="judgments_pk"),
    )
    op.create_table(
        "mappings",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("dataset", sa.String(length=36), nullable=False),
        sa.Column("collection", sa.String(length=36), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("mapped", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("unresolved", JSON, nullable=False),
        sa.Column("by_hand", JSON, nullable=False),
        sa.Column("resolved", sa.String(length=64), nullable=True),
        sa.Column("operation", sa.String(length=36), nullable=True),
        sa.Column("created", MOMENT, nullable=False),
        sa.Column("resolved_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["collection"], ["collections.id"], name="mappings_collection_fk"),
        sa.ForeignKeyConstraint(
            ["dataset"], ["benchmark_datasets.id"], name="mappings_dataset_fk", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["resolved"], ["datasets.digest"], name="mappings_resolved_fk"),
        sa.PrimaryKeyConstraint("id", name="mappings_pk"),
        sa.UniqueConstraint("dataset", "collection", name="mappings_dataset_collection_uq"),
    )
    op.create_index("mappings_collection_ix", "mappings", ["collection"])
    op.create_index("mappings_resolved_ix", "mappings", ["resolved"])
    op.create_table(
        "benchmarks",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("mapping", sa.String(length=36), nullable=False),
        sa.Column("config", JSON, nullable=False),
        sa.Column("total_runs", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("experiment", sa.String(length=16), nullable=True),
        sa.Column("operation", sa.String(length=36), nullable=True),
        sa.Column("start_key", sa.Text(), nullable=True),
        sa.Column("created", MOMENT, nullable=False),
        sa.Column("started", MOMENT, nullable=True),
        sa.Column("completed", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["experiment"], ["experiments.id"], name="benchmarks_experiment_fk", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["mapping"], ["mappings.id"], name="benchmarks_mapping_fk"),
        sa.PrimaryKeyConstraint("id", name="benchmarks_pk"),
    )
    op.create_index("benchmarks_created_ix", "benchmarks", ["created"])
    op.create_index("benchmarks_experiment_ix", "benchmarks", ["experiment"])
    op.create_index("benchmarks_mapping_ix", "benchmarks", ["mapping"])
    op.create_index("benchmarks_owner_ix", "benchmarks", ["owner"])
    op.create_table(
        "annotations",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("benchmark", sa.String(length=36), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("created", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark"], ["benchmarks.id"], name="annotations_benchmark_fk", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="annotations_pk"),
    )
    op.create_index("annotations_benchmark_ix", "annotations", ["benchmark"])
    op.create_table(
        "benchmark_results",
        sa.Column("benchmark", sa.String(length=36), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark"],
            ["benchmarks.id"],
            name="benchmark_results_benchmark_fk",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("benchmark", name="benchmark_results_pk"),
    )
