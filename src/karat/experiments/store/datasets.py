"""Gold sets in a database, each stored once by its digest, as long as something refers to it."""

from collections.abc import Mapping

from sqlalchemy import Connection, delete, select, union

from karat.errors import UnknownName
from karat.experiments.store.database import Database
from karat.experiments.store.rows import storable_id
from karat.experiments.store.schema import BENCHMARK_DATASETS, DATASETS, EXPERIMENTS, MAPPINGS
from karat.formats.base import as_dataset
from karat.formats.fields import Checker
from karat.formats.gold import FORMAT, from_gold
from karat.formats.losses import writable
from karat.model import Dataset

__all__ = ["drop_unused_datasets", "load_dataset", "storable_dataset", "store_dataset"]


def storable_dataset(dataset: Dataset) -> Dataset:
    """Return *dataset* as it will be read back; raise InputError if it cannot be stored."""
    for query_id in dataset.query_ids:
        storable_id(query_id)
    return as_dataset(writable(dataset, FORMAT))


def store_dataset(database: Database, connection: Connection, row: Mapping[str, object]) -> None:
    """Insert the row of a gold set, which is made before the transaction because it takes long.

    No other process deletes it before the transaction of *connection* ends, which refers to it.
    """
    new, key = database.insert(DATASETS), [DATASETS.c.digest]
    if database.is_sqlite:
        statement = new.on_conflict_do_nothing(index_elements=key)
    else:
        # A no-op UPDATE locks an existing row, so that it is not deleted before we commit.
        same = {"name": DATASETS.c.name}
        statement = new.on_conflict_do_update(index_elements=key, set_=same)
    connection.execute(statement, row)


def load_dataset(database: Database, digest: str) -> Dataset:
    """Return the gold set with this digest."""
    wanted = select(DATASETS.c.name, DATASETS.c.gold).where(DATASETS.c.digest == digest)
    with database.reading() as connection:
        row = connection.execute(wanted).one_or_none()
    if row is None:
        raise UnknownName(f"{database.name} holds no gold set with the digest {digest!r}")
    return from_gold(row.gold, Checker(database.name, dict), name=row.name)


def drop_unused_datasets(connection: Connection) -> None:
    """Delete the gold sets that nothing refers to any more."""
    used = union(
        select(EXPERIMENTS.c.dataset),
        select(BENCHMARK_DATASETS.c.gold),
        select(MAPPINGS.c.resolved).where(MAPPINGS.c.resolved.is_not(None)),
    )
    unused = DATASETS.c.digest.not_in(used)
    # In PostgreSQL others write at the same time: skip the rows that they have locked, and check
    # again that the rows locked here are still unused.
    locked = select(DATASETS.c.digest).where(unused).with_for_update(skip_locked=True)
    found = connection.execute(locked).scalars().all()
    connection.execute(delete(DATASETS).where(DATASETS.c.digest.in_(found), unused))
