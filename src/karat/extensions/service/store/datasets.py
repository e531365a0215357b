"""Datasets, their judgments, and the mappings of their references to documents."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from karat.errors import Conflict, UnknownName
from karat.experiments.store.recorder import (
    drop_unused_datasets,
    load_dataset,
    storable_dataset,
    store_dataset,
)
from karat.experiments.store.schema import DATASETS, dataset_row, storable, storable_id
from karat.extensions.service.store.records import (
    BenchmarkDataset,
    DatasetMapping,
    Page,
    ServiceTable,
    StoredJudgment,
    new_id,
    one,
    owned,
    record,
)
from karat.extensions.service.store.schema import (
    BENCHMARK_DATASETS,
    BENCHMARKS,
    JUDGMENTS,
    LOSSES,
    MAPPINGS,
)
from karat.model import Dataset
from karat.scoring.loss_reasons import LossReason

ALL = select(BENCHMARK_DATASETS, DATASETS.c.queries).join(
    DATASETS, DATASETS.c.digest == BENCHMARK_DATASETS.c.gold
)


class DatasetTable(ServiceTable):
    """The gold set itself never changes; judgments made later are kept beside it."""

    def add(
        self, owner: str, name: str, *, description: str, gold: Dataset, schema_version: str
    ) -> BenchmarkDataset:
        """Store a dataset; InputError for text that no database can hold."""
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
        statement = owned(ALL.where(BENCHMARK_DATASETS.c.id == dataset), BENCHMARK_DATASETS, owner)
        return record(BenchmarkDataset, self._one(statement, f"dataset {dataset}"))

    def page(
        self, *, owner: str | None = None, limit: int = 50, offset: int = 0
    ) -> Page[BenchmarkDataset]:
        """Return datasets, the newest first."""
        order = (BENCHMARK_DATASETS.c.created.desc(), BENCHMARK_DATASETS.c.id)
        statement = owned(ALL.order_by(*order), BENCHMARK_DATASETS, owner)
        return self._page(statement, BenchmarkDataset, limit=limit, offset=offset)

    def gold(self, digest: str) -> Dataset:
        """Return a gold set by its digest, such as that of a dataset or of a mapping."""
        return load_dataset(self._database, digest)

    def delete(self, dataset: str) -> None:
        """Remove a dataset with its mappings and judgments; Conflict while a benchmark has it."""
        used = select(BENCHMARKS.c.id).join(MAPPINGS).where(MAPPINGS.c.dataset == dataset)
        with self._database.writing() as connection:
            if connection.execute(used).first():
                raise Conflict(f"dataset {dataset} is in use by a benchmark; delete that first")
            resolved = select(MAPPINGS.c.resolved).where(MAPPINGS.c.dataset == dataset)
            digests = connection.execute(resolved).scalars().all()
            gone = delete(BENCHMARK_DATASETS).where(BENCHMARK_DATASETS.c.id == dataset)
            gold = connection.execute(gone.returning(BENCHMARK_DATASETS.c.gold)).scalar()
            if gold is None:
                raise UnknownName(f"no dataset {dataset}")
            drop_unused_datasets(connection, [gold, *digests])


# A mapping has the owner of its dataset.
ALL_MAPPINGS = select(MAPPINGS, BENCHMARK_DATASETS.c.owner).join(BENCHMARK_DATASETS)


class MappingTable(ServiceTable):
    """At most one for each dataset and collection."""

    def add(self, dataset: str, collection: str) -> DatasetMapping:
        """Create a mapping with the status ``pending``; Conflict if the pair has one."""
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
        statement = owned(ALL_MAPPINGS.where(MAPPINGS.c.id == mapping), BENCHMARK_DATASETS, owner)
        return record(DatasetMapping, self._one(statement, f"mapping {mapping}"))

    def page(self, dataset: str, *, limit: int = 50, offset: int = 0) -> Page[DatasetMapping]:
        """Return the mappings of a dataset, the newest first."""
        order = (MAPPINGS.c.created.desc(), MAPPINGS.c.id)
        statement = ALL_MAPPINGS.where(MAPPINGS.c.dataset == dataset).order_by(*order)
        return self._page(statement, DatasetMapping, limit=limit, offset=offset)

    def newest_gold(self, dataset: str) -> str | None:
        """Return the digest of the gold set that was bound last; None where none is resolved."""
        statement = (
            select(MAPPINGS.c.resolved)
            .where(MAPPINGS.c.dataset == dataset, MAPPINGS.c.resolved.is_not(None))
            .order_by(MAPPINGS.c.created.desc(), MAPPINGS.c.id)
            .limit(1)
        )
        with self._database.asking() as connection:
            digest: str | None = connection.execute(statement).scalar()
        return digest

    def golds(self, collection: str) -> tuple[str, ...]:
        """Return the digests of the gold sets that are mapped to a collection."""
        statement = select(BENCHMARK_DATASETS.c.gold).join(MAPPINGS).distinct()
        with self._database.asking() as connection:
            digests = connection.execute(statement.where(MAPPINGS.c.collection == collection))
            return tuple(sorted(digests.scalars()))

    def keep_resolution(
        self,
        mapping: str,
        gold: Dataset,
        *,
        mapped: int,
        total: int,
        unresolved: Sequence[Mapping[str, object]],
    ) -> None:
        """Store *gold* with its resolved references, and the list of unresolved ones."""
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
            mine = MAPPINGS.c.id == mapping
            before = connection.execute(select(MAPPINGS.c.resolved).where(mine)).scalar()
            if not connection.execute(update(MAPPINGS).where(mine), values).rowcount:
                raise UnknownName(f"no mapping {mapping}")
            drop_unused_datasets(connection, [before])

    def bind(self, mapping: str, references: Iterable[Mapping[str, str]]) -> None:
        """Store which paths *references* mean; each has query, reference (its hash) and path.

        Of two for one reference the last counts.
        """
        statement = select(MAPPINGS.c.by_hand).where(MAPPINGS.c.id == mapping).with_for_update()
        with self._database.writing() as connection:
            by_hand = one(connection, statement, f"mapping {mapping}").by_hand
            bound = {
                (each["query"], each["reference"]): dict(each) for each in (*by_hand, *references)
            }
            connection.execute(
                update(MAPPINGS)
                .where(MAPPINGS.c.id == mapping)
                .values(by_hand=list(bound.values()))
            )


FIELDS = [column for column in JUDGMENTS.c if column.name != "dataset"]


class JudgmentChangeRequest(NamedTuple):
    """The grade that a place is to have for a query; *before* is the one it has, None for none."""

    query: str
    path: str
    grade: float
    start_line: int = 0
    end_line: int = 0
    before: float | None = None
    reason: str = ""


class JudgmentTable(ServiceTable):
    """Judgments by version; an edit based on an old version raises Conflict."""

    def put(
        self, dataset: str, edit: JudgmentChangeRequest, *, version: int, author: str
    ) -> StoredJudgment:
        """Store *edit*, which is based on *version* of the judgments."""
        storable_id(edit.query)
        values = {**edit._asdict(), "path": storable_id(edit.path), "reason": storable(edit.reason)}
        with self._database.writing() as connection:
            newest = _version(connection, dataset)
            if version != newest:
                raise Conflict(
                    f"the judgments have version {newest}, not {version}; read the changes and "
                    "retry"
                )
            return self._append(connection, dataset, newest, {**values, "author": author})

    def undo(self, dataset: str, *, author: str) -> StoredJudgment:
        """Undo the newest judgment that is valid; Conflict if there is none."""
        mine = JUDGMENTS.c.dataset == dataset
        undone = select(JUDGMENTS.c.undoes).where(mine, JUDGMENTS.c.undoes.is_not(None))
        standing = (
            select(JUDGMENTS)
            .where(mine, JUDGMENTS.c.undoes.is_(None), JUDGMENTS.c.version.not_in(undone))
            .order_by(JUDGMENTS.c.version.desc())
            .limit(1)
        )
        with self._database.writing() as connection:
            newest = _version(connection, dataset)
            last = connection.execute(standing).one_or_none()
            if last is None:
                raise Conflict(f"dataset {dataset} has no judgment to undo")
            values = {
                "query": last.query,
                "path": last.path,
                "start_line": last.start_line,
                "end_line": last.end_line,
                "grade": last.before,
                "before": last.grade,
                "reason": "",
                "author": author,
                "undoes": last.version,
            }
            return self._append(connection, dataset, newest, values)

    def page(self, dataset: str, *, limit: int = 50, offset: int = 0) -> Page[StoredJudgment]:
        """Return the history, the newest first."""
        statement = select(*FIELDS).where(JUDGMENTS.c.dataset == dataset)
        newest_first = statement.order_by(JUDGMENTS.c.version.desc())
        return self._page(newest_first, StoredJudgment, limit=limit, offset=offset)

    def all(self, dataset: str) -> tuple[StoredJudgment, ...]:
        """Return the whole history, the oldest first: applied in this order, the last counts."""
        return self._history(dataset)

    def of_query(self, dataset: str, query: str) -> tuple[StoredJudgment, ...]:
        """Return the history of one query, the oldest first."""
        return self._history(dataset, JUDGMENTS.c.query == query)

    def since(self, dataset: str, version: int) -> tuple[StoredJudgment, ...]:
        """Return the judgments made after *version*, the oldest first."""
        return self._history(dataset, JUDGMENTS.c.version > version)

    def _history(
        self, dataset: str, *conditions: ColumnElement[bool]
    ) -> tuple[StoredJudgment, ...]:
        statement = select(*FIELDS).where(JUDGMENTS.c.dataset == dataset, *conditions)
        with self._database.asking() as connection:
            rows = connection.execute(statement.order_by(JUDGMENTS.c.version))
            return tuple(record(StoredJudgment, row) for row in rows)

    def _append(
        self, connection: Connection, dataset: str, newest: int, values: dict[str, Any]
    ) -> StoredJudgment:
        now = self._clock()
        row = {"undoes": None, **values, "version": newest + 1, "created": now}
        connection.execute(insert(JUDGMENTS), {**row, "dataset": dataset})
        connection.execute(
            update(BENCHMARK_DATASETS)
            .where(BENCHMARK_DATASETS.c.id == dataset)
            .values(version=newest + 1, updated=now)
        )
        return StoredJudgment(**row)


def _version(connection: Connection, dataset: str) -> int:
    """Return the newest version, locked until the transaction ends."""
    statement = select(BENCHMARK_DATASETS.c.version).where(BENCHMARK_DATASETS.c.id == dataset)
    return int(one(connection, statement.with_for_update(), f"dataset {dataset}").version)


class LossRecord(NamedTuple):
    """The loss reason of a target of *query*, which is identified without its grade."""

    query: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    reason: LossReason


class LossTable(ServiceTable):
    """Packed run by run: of many runs on many targets there are millions."""

    def keep(self, run: str, lost: Iterable[LossRecord]) -> None:
        """Replace the stored loss reasons of *run*."""
        packed = zlib.compress(json.dumps(list(lost), separators=(",", ":")).encode())
        new = self._database.insert(LOSSES).on_conflict_do_update(
            index_elements=[LOSSES.c.run], set_={"data": packed}
        )
        with self._database.writing() as connection:
            connection.execute(new, {"run": run, "data": packed})

    def of(self, run: str) -> list[LossRecord]:
        """Return the stored loss reasons of *run*, empty before they are computed."""
        with self._database.asking() as connection:
            packed = connection.execute(select(LOSSES.c.data).where(LOSSES.c.run == run)).scalar()
        rows = json.loads(zlib.decompress(packed)) if packed else []
        return [LossRecord(*row)._replace(reason=LossReason(row[-1])) for row in rows]
