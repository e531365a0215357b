"""Recording runs in a database: answers are stored as they end."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from sqlalchemy import (
    Connection,
    Table,
    Update,
    delete,
    func,
    literal,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from karat.errors import InputError, UnknownName
from karat.experiments.store.base import RunStatus, StoredQueryResult
from karat.experiments.store.database import Database
from karat.experiments.store.leases import Leases
from karat.experiments.store.schema import (
    ANSWERS,
    DATASETS,
    INDEX_COSTS,
    RUNS,
    SCORES,
    Moment,
    row_of,
    storable,
    storable_id,
)
from karat.formats.base import as_dataset, writable
from karat.formats.fields import Checker
from karat.formats.gold import FORMAT, from_gold
from karat.model import Answer, Dataset, Outcome
from karat.model.timings import LatencySample, Timings

Insert = sqlite.Insert | postgresql.Insert


class Insertion:
    """Executes *insert*, which fills all columns of *table* but its key.

    On SQLite it uses the driver directly: SQLAlchemy would take three times as long as the
    statement, and the queries of a run wait for it.
    """

    def __init__(self, database: Database, insert: Insert, table: Table) -> None:
        """Compile the statement."""
        self._database = database
        self._insert = insert
        dialect = database.dialect
        columns = [column for column in table.columns if not column.primary_key]
        compiled = insert.compile(dialect=dialect, column_keys=[one.name for one in columns])
        binders = {
            one.name: one.type.dialect_impl(dialect).bind_processor(dialect) for one in columns
        }
        self._text = str(compiled)
        # None binds a value as it is.
        self._values = [(name, binders[name]) for name in compiled.positiontup or ()]

    def execute(self, rows: Sequence[Mapping[str, object]]) -> int | None:
        """Insert all *rows* or none, and return how many were inserted or updated.

        None if one of them refers to a missing run.
        """
        if not self._database.is_sqlite:
            with self._database.writing() as connection:
                try:
                    return connection.execute(self._insert, [dict(row) for row in rows]).rowcount
                except IntegrityError:
                    return None
        values = [
            [bind(row[name]) if bind else row[name] for name, bind in self._values] for row in rows
        ]
        with self._database.driver() as driver:
            try:
                # Commits at the end, or rolls back after an error.
                with driver:
                    driver.execute("BEGIN IMMEDIATE")
                    return driver.executemany(self._text, values).rowcount
            except sqlite3.IntegrityError:
                return None


ANSWERED = Outcome.ANSWERED.name.lower()
TIMES = ("cold_ns", "warm_ns", "first_result_ns", "phases", "tokens", "cost")


def utc_now() -> datetime:
    """Return this moment."""
    return datetime.now(UTC)


class SqlRecorder:
    """Records runs in *database* for *worker*, by default the one of *leases*."""

    def __init__(
        self,
        database: Database,
        *,
        leases: Leases,
        worker: str | None = None,
        clock: Callable[[], datetime],
    ) -> None:
        """Store the arguments; nothing is read yet."""
        self._database = database
        self._leases = leases
        self._worker = worker or leases.worker
        self._clock = clock
        self._insertion = Insertion(database, _insert_of(database), ANSWERS)
        self._mine = RUNS.c.worker.is_(None) | (RUNS.c.worker == self._worker)

    def claim(self, run: str, *, completed: bool = False) -> bool:
        """Claim *run*; False if a live worker has it, or if it is completed."""
        with self._database.writing() as connection:
            statement = select(RUNS.c.status, RUNS.c.worker, RUNS.c.scored).where(RUNS.c.id == run)
            row = connection.execute(statement.with_for_update()).one_or_none()
            if row is None:
                raise UnknownName(f"no run {run!r}")
            status = RunStatus(row.status)
            others = status.running and row.worker not in (None, self._worker)
            if (status is RunStatus.COMPLETED and not completed) or (
                others and self._leases.watch(connection, [row.worker])[row.worker] is not False
            ):
                return False
            if row.scored is None:
                connection.execute(SCORES.delete().where(SCORES.c.run == run))
            connection.execute(
                _changed(run).values(
                    status=RunStatus.INDEXING, worker=self._worker, error="", begun=self._clock()
                )
            )
            self._leases.renew(connection, self._worker)
            if others:
                self._leases.tidy(connection)
        self._leases.hold(self._worker, run)
        return True

    def heartbeat(self) -> None:
        """Renew the lease on all claimed runs."""
        self._leases.heartbeat()

    def clear(self, run: str, *, content: Mapping[str, str] | None = None) -> None:
        """Delete all answers and scores of *run*, which is made with *content* from now on."""
        with self._database.writing() as connection:
            _check_known(connection, run)
            connection.execute(ANSWERS.delete().where(ANSWERS.c.run == run))
            connection.execute(SCORES.delete().where(SCORES.c.run == run))
            new_content = None if content is None else dict(content)
            connection.execute(_changed(run).values(scored=None, content=new_content))

    def begin(self, run: str) -> None:
        """Set the status of *run* to ``evaluating``."""
        free = RUNS.c.status == RunStatus.PENDING.value
        values = {"status": RunStatus.EVALUATING, "worker": self._worker}
        with self._database.writing() as connection:
            changed = _changed(run).where(self._mine | free).values(values)
            if not connection.execute(changed).rowcount:
                _check_known(connection, run)
                return
            self._leases.renew(connection, self._worker)
        self._leases.hold(self._worker, run)

    def answered(self, run: str, *, timed: bool = False) -> frozenset[str]:
        """Return the ids of queries that have ended; with *timed*, those that need no times."""
        statement = select(ANSWERS.c.query).where(ANSWERS.c.run == run)
        if timed:
            statement = statement.where(
                ANSWERS.c.cold_ns.is_not(None) | (ANSWERS.c.outcome != ANSWERED)
            )
        with self._database.reading() as connection:
            queries = frozenset(connection.execute(statement).scalars())
            if not queries:
                _check_known(connection, run)
        return queries

    def add(self, run: str, answer: Answer, sample: LatencySample | None = None) -> bool:
        """Store an answer; False if nothing of it is new."""
        return self.add_many([StoredQueryResult(run, answer, sample)]) > 0

    def add_many(self, answers: Iterable[StoredQueryResult]) -> int:
        """Store all answers in one transaction, and return how many were new or got times."""
        now = self._clock()
        rows = [row_of(*result, finished=now) for result in answers]
        if not rows:
            return 0
        changed = self._insertion.execute(rows)
        if changed is None:
            runs = sorted({str(row["run"]) for row in rows})
            raise UnknownName(f"no run {' or '.join(map(repr, runs))}")
        return changed

    def finish(
        self,
        run: str,
        status: RunStatus,
        *,
        error: str = "",
        timings: Timings | None = None,
        notes: Mapping[str, object] | None = None,
    ) -> None:
        """Finish *run* with the costs of its index."""
        if not status.ended:
            raise InputError(f"a run cannot end as {status.value!r}")
        values: dict[str, object] = {}
        if timings:
            values |= {name: getattr(timings, name) for name in INDEX_COSTS}
        if status is RunStatus.COMPLETED:
            values["scored"] = func.coalesce(RUNS.c.scored, literal(self._clock(), Moment))
        values |= {
            "status": status,
            "error": storable(error),
            "ended": self._clock(),
            "notes": dict(notes or {}) or None,
        }
        with self._database.writing() as connection:
            # A run that another worker has claimed since is not changed.
            if not connection.execute(_changed(run).where(self._mine).values(values)).rowcount:
                _check_known(connection, run)
        self._leases.drop(self._worker, run)


def _check_known(connection: Connection, run: str) -> None:
    if connection.execute(select(RUNS.c.id).where(RUNS.c.id == run)).first() is None:
        raise UnknownName(f"no run {run!r}")


def _changed(run: str) -> Update:
    return update(RUNS).where(RUNS.c.id == run)


def _insert_of(database: Database) -> Insert:
    """Return the statement that inserts an answer, or adds times to a stored one without any.

    A failed query gets no times: only answered ones have them.
    """
    # Inline: the id of the new row is not needed.
    insert = database.insert(ANSWERS).inline()
    return insert.on_conflict_do_update(
        index_elements=[ANSWERS.c.run, ANSWERS.c.query],
        set_={name: insert.excluded[name] for name in TIMES},
        where=ANSWERS.c.cold_ns.is_(None)
        & insert.excluded.cold_ns.is_not(None)
        & (ANSWERS.c.outcome == insert.excluded.outcome),
    )


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
    statement = select(DATASETS.c.name, DATASETS.c.gold).where(DATASETS.c.digest == digest)
    with database.reading() as connection:
        row = connection.execute(statement).one_or_none()
    if row is None:
        raise UnknownName(f"{database.name} holds no gold set with the digest {digest!r}")
    return from_gold(row.gold, Checker(database.name, dict), name=row.name)


def drop_unused_datasets(connection: Connection, digests: Iterable[str | None]) -> None:
    """Delete those gold sets to which no row of any table refers."""
    asked = {digest for digest in digests if digest}
    # In PostgreSQL others write at the same time: skip the rows that they have locked.
    locked = select(DATASETS.c.digest).where(DATASETS.c.digest.in_(asked))
    for digest in connection.execute(locked.with_for_update(skip_locked=True)).scalars().all():
        # The tables of extensions refer to gold sets too, and the database knows all references.
        with suppress(IntegrityError), connection.begin_nested():
            connection.execute(delete(DATASETS).where(DATASETS.c.digest == digest))
