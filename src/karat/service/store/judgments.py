"""Judgments made after the upload: each is one more version, and none is ever lost."""

import json
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, insert, select, update

from karat.errors import Conflict
from karat.experiments.store.rows import storable, storable_id
from karat.experiments.store.schema import BENCHMARK_DATASETS, JUDGMENTS, LOSSES
from karat.model.fate import Fate
from karat.service.store.records import Page, StoredJudgment
from karat.service.store.shelf import Shelf, one

__all__ = ["Edit", "Judgments", "LossRecord", "LossTable"]

FIELDS = [column for column in JUDGMENTS.c if column.name != "dataset"]


class Edit(NamedTuple):
    """The grade that a place is to have for a query; *before* is the one it has, None for none."""

    query: str
    path: str
    grade: float
    start_line: int = 0
    end_line: int = 0
    before: float | None = None
    reason: str = ""


class Judgments(Shelf):
    """Who knows the newest version may make the next; anybody else is told of a Conflict."""

    def put(self, dataset: str, edit: Edit, *, version: int, author: str) -> StoredJudgment:
        """Keep *edit*, which was made by somebody who saw *version* of the judgments."""
        storable_id(edit.query)
        values = {**edit._asdict(), "path": storable_id(edit.path), "reason": storable(edit.reason)}
        with self._database.writing() as connection:
            newest = _version(connection, dataset)
            if version != newest:
                raise Conflict(
                    f"the judgments have version {newest}, not {version}; look at what has "
                    "changed and try again"
                )
            return self._append(connection, dataset, newest, {**values, "author": author})

    def undo(self, dataset: str, *, author: str) -> StoredJudgment:
        """Take back the newest judgment that stands; Conflict where there is none."""
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
                raise Conflict(f"dataset {dataset} has no judgment to take back")
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
        wanted = select(*FIELDS).where(JUDGMENTS.c.dataset == dataset)
        newest_first = wanted.order_by(JUDGMENTS.c.version.desc())
        return self._page(newest_first, _judgment, limit=limit, offset=offset)

    def all(self, dataset: str) -> tuple[StoredJudgment, ...]:
        """Return the whole history, the oldest first: applied in this order, the last counts."""
        return self._history(dataset)

    def of_query(self, dataset: str, query: str) -> tuple[StoredJudgment, ...]:
        """Return the history of one query, the oldest first."""
        return self._history(dataset, JUDGMENTS.c.query == query)

    def since(self, dataset: str, version: int) -> tuple[StoredJudgment, ...]:
        """Return what was judged after *version*, the oldest first."""
        return self._history(dataset, JUDGMENTS.c.version > version)

    def _history(self, dataset: str, *wanted: ColumnElement[bool]) -> tuple[StoredJudgment, ...]:
        found = select(*FIELDS).where(JUDGMENTS.c.dataset == dataset, *wanted)
        with self._database.asking() as connection:
            return tuple(map(_judgment, connection.execute(found.order_by(JUDGMENTS.c.version))))

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
    """Return the newest version, of which nobody else can make the next meanwhile."""
    wanted = select(BENCHMARK_DATASETS.c.version).where(BENCHMARK_DATASETS.c.id == dataset)
    return int(one(connection, wanted.with_for_update(), f"dataset {dataset}").version)


def _judgment(row: Row[Any]) -> StoredJudgment:
    return StoredJudgment(**row._asdict())


class LossRecord(NamedTuple):
    """A target of *query*, by its place and not by its grade, and what became of it."""

    query: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    fate: Fate


class LossTable(Shelf):
    """Packed run by run: of many runs on many targets there are millions."""

    def keep(self, run: str, lost: Iterable[LossRecord]) -> None:
        """Keep what became of the targets that *run* has missed, in place of what was before."""
        packed = zlib.compress(json.dumps(list(lost), separators=(",", ":")).encode())
        new = self._database.insert(LOSSES).on_conflict_do_update(
            index_elements=[LOSSES.c.run], set_={"data": packed}
        )
        with self._database.writing() as connection:
            connection.execute(new, {"run": run, "data": packed})

    def of(self, run: str) -> list[LossRecord]:
        """Return what was kept of *run*, nothing where nobody has looked."""
        with self._database.asking() as connection:
            packed = connection.execute(select(LOSSES.c.data).where(LOSSES.c.run == run)).scalar()
        found = json.loads(zlib.decompress(packed)) if packed else []
        return [LossRecord(*row)._replace(fate=Fate(row[-1])) for row in found]
