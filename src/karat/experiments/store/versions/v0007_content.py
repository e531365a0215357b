"""The files that the engine of a run was made of: a changed engine does not continue the run."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the column; the files of earlier runs are not known."""
    json = sa.JSON(none_as_null=True)
    op.add_column("runs", sa.Column("content", json, nullable=True))
