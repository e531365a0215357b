"""The workers of running jobs have a heartbeat; the lease is no longer by job."""

from alembic import op

revision = "0003"
down_revision = "0002"

# The workers of earlier releases have no heartbeat: they lose what they hold after one lease.
HOLDERS = """
INSERT INTO workers (id, heartbeat, lease_until)
SELECT DISTINCT worker, 0, {until} FROM jobs
WHERE status = 'running' AND worker IS NOT NULL AND worker NOT IN (SELECT id FROM workers)
"""
UNTIL = {"postgresql": "now() + interval '20 seconds'"}


def upgrade() -> None:
    """Add the workers of running jobs, and drop the column."""
    op.execute(HOLDERS.format(until=UNTIL.get(op.get_bind().dialect.name, "NULL")))
    op.drop_column("jobs", "lease_until")
