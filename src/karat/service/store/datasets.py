"""Gold sets as users upload them, under ids and names of their own."""

from typing import Any

from sqlalchemy import Row, delete, insert, select

from karat.errors import Conflict, UnknownName
from karat.experiments.store.datasets import (
    drop_unused_datasets,
    load_dataset,
    storable_dataset,
    store_dataset,
)
from karat.experiments.store.rows import dataset_row
from karat.experiments.store.schema import BENCHMARK_DATASETS, BENCHMARKS, DATASETS, MAPPINGS
from karat.model import Dataset
from karat.service.store.records import BenchmarkDataset, Page
from karat.service.store.shelf import Shelf, new_id, owned

__all__ = ["Datasets"]

ALL = select(BENCHMARK_DATASETS, DATASETS.c.queries).join(
    DATASETS, DATASETS.c.digest == BENCHMARK_DATASETS.c.gold
)


class Datasets(Shelf):
    """The gold set itself never changes; judgments made later are kept beside it."""

    def add(
        self, owner: str, name: str, *, description: str, gold: Dataset, schema_version: str
    ) -> BenchmarkDataset:
        """Keep a gold set; what no store can keep raises InputError."""
        now, dataset = self._clock(), new_id()
        gold_row = dataset_row(storable_dataset(gold))
        row = {
            "id": dataset,
            "owner": owner,
            "name": name,
            "description": description,
            "gold": gold_row["digest"],
            "schema_version": schema_version,
            "version": 1,
            "created": now,
            "updated": now,
        }
        with self._database.writing() as connection:
            store_dataset(self._database, connection, gold_row)
            connection.execute(insert(BENCHMARK_DATASETS), row)
        return self.get(dataset)

    def get(self, dataset: str, *, owner: str | None = None) -> BenchmarkDataset:
        """Return a dataset; UnknownName where there is none, or none of *owner*."""
        wanted = owned(ALL.where(BENCHMARK_DATASETS.c.id == dataset), BENCHMARK_DATASETS, owner)
        return _dataset(self._one(wanted, f"dataset {dataset}"))

    def page(
        self, *, owner: str | None = None, limit: int = 50, offset: int = 0
    ) -> Page[BenchmarkDataset]:
        """Return datasets, the newest first."""
        order = (BENCHMARK_DATASETS.c.created.desc(), BENCHMARK_DATASETS.c.id)
        wanted = owned(ALL.order_by(*order), BENCHMARK_DATASETS, owner)
        return self._page(wanted, _dataset, limit=limit, offset=offset)

    def gold(self, digest: str) -> Dataset:
        """Return a gold set by its digest, such as that of a dataset or of a mapping."""
        return load_dataset(self._database, digest)

    def delete(self, dataset: str) -> None:
        """Remove a dataset with its mappings and judgments; Conflict while a benchmark has it."""
        used = select(BENCHMARKS.c.id).join(MAPPINGS).where(MAPPINGS.c.dataset == dataset)
        with self._database.writing() as connection:
            if connection.execute(used).first():
                raise Conflict(f"dataset {dataset} is in use by a benchmark; delete that first")
            gone = delete(BENCHMARK_DATASETS).where(BENCHMARK_DATASETS.c.id == dataset)
            if not connection.execute(gone).rowcount:
                raise UnknownName(f"no dataset {dataset}")
            drop_unused_datasets(connection)


def _dataset(row: Row[Any]) -> BenchmarkDataset:
    return BenchmarkDataset(**row._asdict())
