"""Pinned runs: later runs of the same engine are compared with them."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the column; no earlier run is pinned."""
    op.add_column("runs", sa.Column("pinned", sa.DateTime(timezone=True), nullable=True))
