"""Benchmarks: their requests, their status, and their results."""

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    select,
    tuple_,
    update,
)

from karat.errors import Conflict
from karat.experiments.store.base import RunStatus
from karat.experiments.store.recorder import drop_unused_datasets
from karat.experiments.store.schema import (
    ANSWERS,
    EXPERIMENTS,
    RUNS,
    sample_of,
    storable,
    timings_of,
)
from karat.extensions.service.store.jobs import UNFINISHED, JobRequest, add_job, check_idle
from karat.extensions.service.store.records import (
    Annotation,
    Benchmark,
    JobKind,
    JobStatus,
    Page,
    ServiceTable,
    new_id,
    one,
    owned,
    record,
)
from karat.extensions.service.store.schema import (
    ANNOTATIONS,
    BENCHMARK_DATASETS,
    BENCHMARKS,
    COLLECTIONS,
    JOBS,
    MAPPINGS,
    RESULTS,
)


class RunUsage(NamedTuple):
    """How the queries of a run ended, how long they took, and the notes on the run."""

    outcomes: Mapping[str, int]
    latencies_ms: Sequence[float]
    notes: Mapping[str, Any]


UNENDED = [status.value for status in RunStatus if not status.ended]
# Statuses from which a benchmark can be started; a failed or cancelled one continues.
STARTABLE = ("pending", "failed", "cancelled")


def _runs(name: str, *conditions: ColumnElement[bool]) -> Any:
    """Return a column that counts the runs of a benchmark that are as *conditions*."""
    counted = select(func.count()).where(RUNS.c.experiment == BENCHMARKS.c.experiment, *conditions)
    return counted.scalar_subquery().label(name)


IS_SCORED = RUNS.c.scored.is_not(None)
HAS_FAILED = RUNS.c.status == RunStatus.FAILED.value


# The job of a benchmark, and those that are queued up to it, itself included.
MINE, AHEAD = JOBS.alias("mine"), JOBS.alias("ahead")
QUEUED = JobStatus.QUEUED.value
POSITION = (
    select(func.count())
    .select_from(
        MINE.join(AHEAD, tuple_(AHEAD.c.created, AHEAD.c.id) <= tuple_(MINE.c.created, MINE.c.id))
    )
    .where(MINE.c.id == BENCHMARKS.c.operation, MINE.c.status == QUEUED, AHEAD.c.status == QUEUED)
    .correlate(BENCHMARKS)
    .scalar_subquery()
)
IS_QUEUED = POSITION > 0
STOPPING = exists().where(
    JOBS.c.subject == BENCHMARKS.c.id,
    BENCHMARKS.c.status != "running",
    JOBS.c.status == JobStatus.RUNNING.value,
)

ALL = select(
    *(column for column in BENCHMARKS.c if column.name != "start_key"),
    MAPPINGS.c.dataset,
    BENCHMARK_DATASETS.c.name.label("dataset_name"),
    MAPPINGS.c.collection,
    COLLECTIONS.c.name.label("collection_name"),
    _runs("completed_runs", IS_SCORED),
    _runs("failed_runs", HAS_FAILED, ~IS_SCORED),
    func.nullif(POSITION, 0).label("position"),
    STOPPING.label("stopping"),
).select_from(BENCHMARKS.join(MAPPINGS).join(BENCHMARK_DATASETS).join(COLLECTIONS))


# Frequent statements, built once: SQLAlchemy would otherwise look each up by all its parts.
ONE = ALL.where(BENCHMARKS.c.id == bindparam("benchmark"))
OWN = ONE.where(BENCHMARKS.c.owner == bindparam("owner"))
DEPENDS_ON = (
    select(
        BENCHMARK_DATASETS.c.version,
        MAPPINGS.c.resolved_at,
        RUNS.c.id,
        # That a scored run is indexed for its timing changes nothing in its results.
        case(
            (IS_SCORED & RUNS.c.status.in_(UNENDED), "timing"),
            else_=RUNS.c.status,
        ).label("state"),
        RUNS.c.error,
        IS_SCORED,
    )
    .select_from(BENCHMARKS.join(MAPPINGS).join(BENCHMARK_DATASETS))
    .outerjoin(RUNS, RUNS.c.experiment == BENCHMARKS.c.experiment)
    .where(BENCHMARKS.c.id == bindparam("benchmark"))
    .order_by(RUNS.c.position)
)


class BenchmarkTable(ServiceTable):
    """Benchmarks; a cancelled one stays cancelled, whatever a worker reports later."""

    def add(
        self,
        owner: str,
        name: str,
        *,
        description: str,
        mapping: str,
        config: Mapping[str, object],
        total_runs: int,
    ) -> Benchmark:
        """Create a benchmark with the status ``pending``."""
        benchmark = new_id()
        row = {
            "id": benchmark,
            "owner": owner,
            "name": name,
            "description": description,
            "mapping": mapping,
            "config": dict(config),
            "total_runs": total_runs,
            "status": "pending",
            "error": "",
            "created": self._clock(),
        }
        with self._database.writing() as connection:
            one(connection, select(MAPPINGS.c.id).where(MAPPINGS.c.id == mapping), "mapping")
            connection.execute(insert(BENCHMARKS), row)
        return self.get(benchmark)

    def get(self, benchmark: str, *, owner: str | None = None) -> Benchmark:
        """Return a benchmark; UnknownName where there is none, or none of *owner*."""
        statement, values = ONE, {"benchmark": benchmark}
        if owner is not None:
            statement, values = OWN, {**values, "owner": owner}
        return record(Benchmark, self._one(statement, f"benchmark {benchmark}", **values))

    def of_experiment(self, experiment: str, *, owner: str | None = None) -> Benchmark:
        """Return the benchmark whose results are in *experiment*; UnknownName without one."""
        statement = owned(ALL.where(BENCHMARKS.c.experiment == experiment), BENCHMARKS, owner)
        return record(
            Benchmark, self._one(statement, f"benchmark with the experiment {experiment}")
        )

    def page(
        self,
        *,
        owner: str | None = None,
        status: str | None = None,
        dataset: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> Page[Benchmark]:
        """Return benchmarks, the newest first; of one status or on one dataset where named."""
        statement = owned(ALL, BENCHMARKS, owner)
        statement = statement.order_by(BENCHMARKS.c.created.desc(), BENCHMARKS.c.id)
        if status in {"queued", "running"}:
            queued = IS_QUEUED if status == "queued" else ~IS_QUEUED
            statement = statement.where(BENCHMARKS.c.status == "running", queued)
        elif status is not None:
            statement = statement.where(BENCHMARKS.c.status == status)
        if dataset is not None:
            statement = statement.where(MAPPINGS.c.dataset == dataset)
        return self._page(statement, Benchmark, limit=limit, offset=offset)

    def version(self, benchmark: str) -> tuple[object, ...]:
        """Return all that can still change the results of a benchmark, as JSON can hold it.

        That is the version of the judgments, when references were resolved, and of each run the
        id, the status, the error, and whether it has its scores.
        """
        with self._database.asking() as connection:
            rows = connection.execute(DEPENDS_ON, {"benchmark": benchmark}).all()
        return tuple((row.version, str(row.resolved_at), *row[2:]) for row in rows)

    def scored_runs(self, benchmark: str) -> tuple[str, ...]:
        """Return the ids of the runs whose queries are all answered, in the order planned."""
        statement = (
            select(RUNS.c.id)
            .join(BENCHMARKS, RUNS.c.experiment == BENCHMARKS.c.experiment)
            .where(BENCHMARKS.c.id == benchmark, IS_SCORED)
            .order_by(RUNS.c.position)
        )
        with self._database.asking() as connection:
            return tuple(connection.execute(statement).scalars())

    def run_usage(self, run: str) -> RunUsage:
        """Return the outcomes, latencies and notes of a run; its hits are not read."""
        columns = [column for column in ANSWERS.c if column.name not in {"hits", "extra"}]
        with self._database.asking() as connection:
            row = one(connection, select(RUNS).where(RUNS.c.id == run), f"run {run}")
            answers = connection.execute(select(*columns).where(ANSWERS.c.run == run)).all()
        timings = timings_of(row, map(sample_of, answers))
        return RunUsage(
            Counter(answer.outcome for answer in answers),
            timings.latencies_ms() if timings else (),
            row.notes or {},
        )

    def start(
        self,
        benchmark: str,
        *,
        key: str | None = None,
        correlation: str = "",
        most: int | None = None,
    ) -> Benchmark:
        """Queue the work; the same *key* again changes nothing, whatever has happened since.

        Conflict where the mapping is pending, the collection is being indexed, or the benchmark is
        running or completed;
        TooManyJobs where its owner has *most* that are not finished.
        """
        statement = select(
            BENCHMARKS.c.status,
            BENCHMARKS.c.start_key,
            BENCHMARKS.c.owner,
            *(
                select(column)
                .where(MAPPINGS.c.id == BENCHMARKS.c.mapping)
                .scalar_subquery()
                .label(f"mapping_{column.name}")
                for column in (MAPPINGS.c.status, MAPPINGS.c.collection)
            ),
        ).where(BENCHMARKS.c.id == benchmark)
        now = self._clock()
        with self._database.writing() as connection:
            row = one(connection, statement.with_for_update(), f"benchmark {benchmark}")
            if key is None or key != row.start_key:
                if row.mapping_status == "pending":
                    raise Conflict("Mapping must be resolved")
                if row.status not in STARTABLE:
                    raise Conflict(f"the benchmark is {row.status}")
                check_idle(connection, JobKind.INDEX, row.mapping_collection)
                asked = JobRequest(row.owner, now, correlation, most)
                add_job(connection, JobKind.BENCHMARK, benchmark, asked)
                connection.execute(
                    update(BENCHMARKS)
                    .where(BENCHMARKS.c.id == benchmark)
                    .values(status="running", error="", started=now, completed=None, start_key=key)
                )
        return self.get(benchmark)

    def attach(
        self, benchmark: str, experiment: str, *, revision: Mapping[str, str] | None = None
    ) -> None:
        """Store the experiment of a benchmark and the *revision* of its documents."""
        changed = update(BENCHMARKS).where(BENCHMARKS.c.id == benchmark)
        with self._database.writing() as connection:
            connection.execute(changed, {"experiment": experiment, "revision": revision})

    def cancel(self, benchmark: str) -> Benchmark:
        """Cancel a benchmark that is pending or running; runs that are completed stay."""
        statement = select(BENCHMARKS.c.status).where(BENCHMARKS.c.id == benchmark)
        now = self._clock()
        job = (JOBS.c.subject == benchmark, JOBS.c.status.in_(UNFINISHED))
        queued = update(JOBS).where(*job, JOBS.c.status == JobStatus.QUEUED.value)
        with self._database.writing() as connection:
            row = one(connection, statement.with_for_update(), f"benchmark {benchmark}")
            if row.status not in {"pending", "running"}:
                raise Conflict(f"the benchmark is {row.status}")
            connection.execute(update(JOBS).where(*job), {"cancel": True})
            connection.execute(queued, {"status": JobStatus.CANCELLED.value, "ended": now})
            changed = update(BENCHMARKS).where(BENCHMARKS.c.id == benchmark)
            connection.execute(changed, {"status": "cancelled", "completed": now})
        return self.get(benchmark)

    def finish(self, benchmark: str, status: str, *, error: str = "") -> bool:
        """End a running benchmark; False where it no longer runs, having been cancelled."""
        values = {"status": status, "error": storable(error), "completed": self._clock()}
        running = (BENCHMARKS.c.id == benchmark, BENCHMARKS.c.status == "running")
        with self._database.writing() as connection:
            return connection.execute(update(BENCHMARKS).where(*running), values).rowcount > 0

    def delete(self, benchmark: str) -> None:
        """Remove a benchmark with its results; Conflict while a job runs on it."""
        statement = select(BENCHMARKS.c.status, BENCHMARKS.c.experiment)
        mine = BENCHMARKS.c.id == benchmark
        working = select(JOBS.c.id).where(
            JOBS.c.subject == benchmark, JOBS.c.status.in_(UNFINISHED)
        )
        with self._database.writing() as connection:
            row = one(connection, statement.where(mine).with_for_update(), f"benchmark {benchmark}")
            if row.status == "running" or connection.execute(working).first():
                raise Conflict("the benchmark is running; cancel it first")
            connection.execute(delete(BENCHMARKS).where(mine))
            if row.experiment:
                gone = delete(EXPERIMENTS).where(EXPERIMENTS.c.id == row.experiment)
                datasets = connection.execute(gone.returning(EXPERIMENTS.c.dataset)).scalars().all()
                drop_unused_datasets(connection, datasets)

    def store_results(self, benchmark: str, key: str, data: bytes) -> None:
        """Replace the stored results of a benchmark."""
        new = self._database.insert(RESULTS).on_conflict_do_update(
            index_elements=[RESULTS.c.benchmark],
            set_={"key": key, "data": (packed := zlib.compress(data))},
        )
        with self._database.writing() as connection:
            known = select(BENCHMARKS.c.id).where(BENCHMARKS.c.id == benchmark)
            one(connection, known, f"benchmark {benchmark}")
            connection.execute(new, {"benchmark": benchmark, "key": key, "data": packed})

    def has_results(self, benchmark: str, key: str) -> bool:
        """Return whether results are stored under *key*."""
        statement = select(RESULTS.c.key).where(RESULTS.c.benchmark == benchmark)
        with self._database.asking() as connection:
            return bool(connection.execute(statement).scalar() == key)

    def stored_results(self, benchmark: str, key: str) -> bytes | None:
        """Return the results stored under *key*; None where they are outdated."""
        statement = select(RESULTS.c.data).where(
            RESULTS.c.benchmark == benchmark, RESULTS.c.key == key
        )
        with self._database.asking() as connection:
            packed = connection.execute(statement).scalar()
        return None if packed is None else zlib.decompress(packed)

    def annotate(self, benchmark: str, text: str, *, author: str) -> Annotation:
        """Store a remark on a benchmark."""
        row = {"benchmark": benchmark, "text": storable(text), "author": author}
        with self._database.writing() as connection:
            known = select(BENCHMARKS.c.id).where(BENCHMARKS.c.id == benchmark)
            one(connection, known, f"benchmark {benchmark}")
            statement = (
                insert(ANNOTATIONS).values(**row, created=self._clock()).returning(ANNOTATIONS)
            )
            return record(Annotation, connection.execute(statement).one())

    def annotations(self, *benchmarks: str) -> tuple[Annotation, ...]:
        """Return the remarks on these benchmarks, the oldest first."""
        statement = select(ANNOTATIONS).where(ANNOTATIONS.c.benchmark.in_(benchmarks))
        with self._database.asking() as connection:
            rows = connection.execute(statement.order_by(ANNOTATIONS.c.id))
            return tuple(record(Annotation, row) for row in rows)
