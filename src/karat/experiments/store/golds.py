"""Gold sets in a database, each kept once by its digest, as long as something refers to it."""

from collections.abc import Mapping

from sqlalchemy import Connection, delete, select, union

from karat.errors import UnknownName
from karat.experiments.store.database import Database
from karat.experiments.store.rows import kept_id
from karat.experiments.store.schema import BENCHMARK_DATASETS, DATASETS, EXPERIMENTS, MAPPINGS
from karat.formats.base import as_dataset
from karat.formats.fields import Checker
from karat.formats.gold import FORMAT, from_gold
from karat.formats.losses import writable
from karat.model import Dataset

__all__ = ["drop_unused", "keep", "load", "storable_gold"]


def storable_gold(dataset: Dataset) -> Dataset:
    """Return *dataset* as it will come back; raise InputError where it cannot be kept."""
    for query_id in dataset.query_ids:
        kept_id(query_id)
    return as_dataset(writable(dataset, FORMAT))


def keep(database: Database, connection: Connection, row: Mapping[str, object]) -> None:
    """Keep the row of a gold set, made before the writing begins since it takes a while.

    Nobody drops it before the transaction of *connection* ends, which is to refer to it.
    """
    new, key = database.insert(DATASETS), [DATASETS.c.digest]
    if database.is_sqlite:
        statement = new.on_conflict_do_nothing(index_elements=key)
    else:
        # One that is there already becomes what it is, and so is ours meanwhile.
        same = {"name": DATASETS.c.name}
        statement = new.on_conflict_do_update(index_elements=key, set_=same)
    connection.execute(statement, row)


def load(database: Database, digest: str) -> Dataset:
    """Return the gold set with this digest."""
    wanted = select(DATASETS.c.name, DATASETS.c.gold).where(DATASETS.c.digest == digest)
    with database.reading() as connection:
        row = connection.execute(wanted).one_or_none()
    if row is None:
        raise UnknownName(f"{database.name} holds no gold set with the digest {digest!r}")
    return from_gold(row.gold, Checker(database.name, dict), name=row.name)


def drop_unused(connection: Connection) -> None:
    """Remove the gold sets that nothing refers to any more."""
    used = union(
        select(EXPERIMENTS.c.dataset),
        select(BENCHMARK_DATASETS.c.gold),
        select(MAPPINGS.c.resolved).where(MAPPINGS.c.resolved.is_not(None)),
    )
    unused = DATASETS.c.digest.not_in(used)
    # In PostgreSQL others write at the same time. What one of them keeps just now is passed over;
    # and what one has come to refer to before it was locked here is seen by a second look.
    locked = select(DATASETS.c.digest).where(unused).with_for_update(skip_locked=True)
    found = connection.execute(locked).scalars().all()
    connection.execute(delete(DATASETS).where(DATASETS.c.digest.in_(found), unused))
