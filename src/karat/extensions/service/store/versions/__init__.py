"""One file per change of the tables, which Alembic finds by itself."""
