"""When the scores of a run were complete: its latency may be measured after that."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column; until now a run had its scores when it was completed."""
    op.add_column("runs", sa.Column("scored", sa.DateTime(timezone=True), nullable=True))
    op.execute("UPDATE runs SET scored = ended WHERE status = 'completed'")
