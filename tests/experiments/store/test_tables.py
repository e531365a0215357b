"""Tables of extensions in the database of a store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Column, ForeignKey, Integer, MetaData, Table, Text, insert, select

from karat.errors import InputError
from karat.experiments.store import SqlStore
from karat.experiments.store.database import Database
from karat.experiments.store.migrations import TableSet
from karat.experiments.store.schema import DATASETS, SETTINGS
from karat.testing.store import PLAN

METADATA = MetaData()
NOTES = Table(
    "notes",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("dataset", ForeignKey(DATASETS.c.digest), nullable=False),
    Column("text", Text),
)
SET = TableSet("notes", METADATA)
# The second version of the same tables, with a column more.
SECOND_METADATA = MetaData()
SECOND_NOTES = Table(
    "notes",
    SECOND_METADATA,
    *(Column(column.name, column.type) for column in NOTES.columns),
    Column("author", Text),
)
STEPS = {
    "0001": "",
    "0002": "    op.add_column('notes', sa.Column('author', sa.Text(), nullable=True))\n",
}


@pytest.fixture
def opened(place: str) -> Iterator[Database]:
    opened = Database(place)
    yield opened
    opened.close()


@pytest.fixture
def second(tmp_path: Path) -> TableSet:
    """Return the second version of the tables, with the folder of its steps."""
    folder = tmp_path / "versions"
    folder.mkdir()
    before = None
    for name, step in STEPS.items():
        head = f"import sqlalchemy as sa\nfrom alembic import op\nrevision = {name!r}\n"
        body = f"down_revision = {before!r}\ndef upgrade():\n    assert op\n{step}"
        (folder / f"v{name}.py").write_text(head + body, encoding="utf-8")
        before = name
    return TableSet("notes", SECOND_METADATA, revisions=tuple(STEPS), versions=folder)


def test_tables_are_made_once(opened: Database) -> None:
    for _ in range(2):
        opened.add_tables([SET])
    with opened.reading() as connection:
        assert connection.execute(select(NOTES)).all() == []
        versions = connection.execute(select(SETTINGS)).all()
    assert [tuple(row) for row in versions] == [("tables of notes", "0001")]


def test_a_later_version_keeps_the_rows(place: str, opened: Database, second: TableSet) -> None:
    with SqlStore(place) as store:
        store.experiment(PLAN)
    opened.add_tables([SET])
    with opened.writing() as connection:
        digest = connection.execute(select(DATASETS.c.digest)).scalar_one()
        connection.execute(insert(NOTES), {"dataset": digest, "text": "kept"})
    opened.add_tables([second])
    with opened.reading() as connection:
        rows = connection.execute(select(SECOND_NOTES.c.text, SECOND_NOTES.c.author)).all()
    assert [tuple(row) for row in rows] == [("kept", None)]
    with pytest.raises(InputError, match="the tables of notes were written by a newer version"):
        opened.add_tables([SET])


def test_a_table_of_another_is_never_taken(opened: Database) -> None:
    opened.add_tables([SET])
    with pytest.raises(InputError, match="has a table 'notes' already, which memos adds"):
        opened.add_tables([TableSet("memos", METADATA)])


def test_a_gold_set_that_an_extension_refers_to_is_not_deleted(
    place: str, opened: Database
) -> None:
    opened.add_tables([SET])
    with SqlStore(place) as store:
        experiment = store.experiment(PLAN)
        digest = store.show(experiment).dataset
        with opened.writing() as connection:
            connection.execute(insert(NOTES), {"dataset": digest, "text": ""})
        store.delete(experiment)
        assert len(store.dataset(digest)) == len(PLAN.dataset)
        again = store.experiment(PLAN)
        with opened.writing() as connection:
            connection.execute(NOTES.delete())
        store.delete(again)
    with opened.reading() as connection:
        assert connection.execute(select(DATASETS)).all() == []
