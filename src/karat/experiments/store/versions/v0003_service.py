"""The revision in which tables of a service changed, which its extension migrates."""

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Change nothing."""
