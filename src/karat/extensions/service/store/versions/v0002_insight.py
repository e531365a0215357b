"""Which request has begun a job, which commit a benchmark has searched, where targets were lost."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns and the table."""
    op.add_column("jobs", sa.Column("correlation", sa.Text(), nullable=True))
    op.add_column("benchmarks", sa.Column("revision", sa.JSON(none_as_null=True), nullable=True))
    op.create_table(
        "losses",
        sa.Column("run", sa.String(length=32), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="losses_run_fk", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", name="losses_pk"),
    )
