"""Mappings: a dataset on a collection, with what its references mean there."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, select, update
from sqlalchemy.exc import IntegrityError

from karat.errors import Conflict, UnknownName
from karat.experiments.store.datasets import drop_unused_datasets, storable_dataset, store_dataset
from karat.experiments.store.rows import dataset_row
from karat.experiments.store.schema import BENCHMARK_DATASETS, MAPPINGS
from karat.model import Dataset
from karat.service.store.records import DatasetMapping, Page
from karat.service.store.shelf import Shelf, new_id, one, owned

__all__ = ["Mappings"]

# A mapping belongs to whoever owns its dataset.
ALL = select(MAPPINGS, BENCHMARK_DATASETS.c.owner).join(BENCHMARK_DATASETS)


class Mappings(Shelf):
    """At most one for each dataset and collection."""

    def add(self, dataset: str, collection: str) -> DatasetMapping:
        """Make a mapping that is ``pending``; Conflict where this pair has one."""
        mapping = new_id()
        row = {
            "id": mapping,
            "dataset": dataset,
            "collection": collection,
            "status": "pending",
            "mapped": 0,
            "total": 0,
            "unresolved": [],
            "by_hand": [],
            "created": self._clock(),
        }
        once = self._database.insert(MAPPINGS).on_conflict_do_nothing(
            index_elements=[MAPPINGS.c.dataset, MAPPINGS.c.collection]
        )
        with self._database.writing() as connection:
            try:
                new = connection.execute(once, row).rowcount
            except IntegrityError as error:
                raise UnknownName(f"no dataset {dataset}, or no collection {collection}") from error
            if not new:
                raise Conflict(f"dataset {dataset} is mapped to collection {collection} already")
        return self.get(mapping)

    def get(self, mapping: str, *, owner: str | None = None) -> DatasetMapping:
        """Return a mapping; UnknownName where there is none, or none of *owner*."""
        wanted = owned(ALL.where(MAPPINGS.c.id == mapping), BENCHMARK_DATASETS, owner)
        return _mapped(self._one(wanted, f"mapping {mapping}"))

    def page(self, dataset: str, *, limit: int = 50, offset: int = 0) -> Page[DatasetMapping]:
        """Return the mappings of a dataset, the newest first."""
        order = (MAPPINGS.c.created.desc(), MAPPINGS.c.id)
        wanted = ALL.where(MAPPINGS.c.dataset == dataset).order_by(*order)
        return self._page(wanted, _mapped, limit=limit, offset=offset)

    def newest_gold(self, dataset: str) -> str | None:
        """Return the digest of the gold set that was bound last; None where none is resolved."""
        wanted = (
            select(MAPPINGS.c.resolved)
            .where(MAPPINGS.c.dataset == dataset, MAPPINGS.c.resolved.is_not(None))
            .order_by(MAPPINGS.c.created.desc(), MAPPINGS.c.id)
            .limit(1)
        )
        with self._database.asking() as connection:
            found: str | None = connection.execute(wanted).scalar()
        return found

    def golds(self, collection: str) -> tuple[str, ...]:
        """Return the digests of the gold sets that are mapped to a collection."""
        wanted = select(BENCHMARK_DATASETS.c.gold).join(MAPPINGS).distinct()
        with self._database.asking() as connection:
            found = connection.execute(wanted.where(MAPPINGS.c.collection == collection))
            return tuple(sorted(found.scalars()))

    def keep_resolution(
        self,
        mapping: str,
        gold: Dataset,
        *,
        mapped: int,
        total: int,
        unresolved: Sequence[Mapping[str, object]],
    ) -> None:
        """Keep *gold*, whose references are bound as far as they are known, and what is not."""
        gold_row = dataset_row(storable_dataset(gold))
        values = {
            "status": "partial" if unresolved else "resolved",
            "mapped": mapped,
            "total": total,
            "unresolved": [dict(each) for each in unresolved],
            "resolved": gold_row["digest"],
            "resolved_at": self._clock(),
        }
        with self._database.writing() as connection:
            store_dataset(self._database, connection, gold_row)
            changed = update(MAPPINGS).where(MAPPINGS.c.id == mapping)
            if not connection.execute(changed, values).rowcount:
                raise UnknownName(f"no mapping {mapping}")
            drop_unused_datasets(connection)

    def bind(self, mapping: str, *, query: str, reference: str, path: str) -> None:
        """Keep that *reference* of *query*, by its hash, means *path*; the last word counts."""
        wanted = select(MAPPINGS.c.by_hand).where(MAPPINGS.c.id == mapping).with_for_update()
        bound = {"query": query, "reference": reference, "path": path}
        with self._database.writing() as connection:
            found = one(connection, wanted, f"mapping {mapping}").by_hand
            others = [
                each for each in found if (each["query"], each["reference"]) != (query, reference)
            ]
            connection.execute(
                update(MAPPINGS).where(MAPPINGS.c.id == mapping).values(by_hand=[*others, bound])
            )


def _mapped(row: Row[Any]) -> DatasetMapping:
    return DatasetMapping(**row._asdict())
