"""Which workers hold runs, with the heartbeats that show that they are alive."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

# The workers of earlier releases have no heartbeat: they lose what they hold after one lease.
HOLDERS = """
INSERT INTO workers (id, heartbeat, lease_until)
SELECT DISTINCT worker, 0, {until} FROM runs
WHERE status IN ('indexing', 'evaluating') AND worker IS NOT NULL
"""
UNTIL = {"postgresql": "now() + interval '20 seconds'"}


def upgrade() -> None:
    """Add the table with the workers of running runs."""
    op.create_table(
        "workers",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("heartbeat", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("kernel", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="workers_pk"),
    )
    op.execute(HOLDERS.format(until=UNTIL.get(op.get_bind().dialect.name, "NULL")))
