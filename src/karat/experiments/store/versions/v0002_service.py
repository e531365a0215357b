"""Alembic has the version; the tables that a service got then are made by its extension."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Drop the table that had the version before."""
    op.drop_table("karat_schema")
