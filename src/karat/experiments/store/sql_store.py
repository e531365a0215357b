"""The store in one SQLite file, or in PostgreSQL by the same statements."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any, Self

from sqlalchemy import Connection, Select, delete, func, insert, or_, select, update

from karat.errors import InputError, UnknownName
from karat.experiments.store.base import (
    Experiment,
    ExperimentDefinition,
    ExperimentKind,
    LeaseHolder,
    PastRun,
    RunCosts,
    RunStatus,
    ScoredRun,
)
from karat.experiments.store.database import Database, environment
from karat.experiments.store.leases import Leases
from karat.experiments.store.recorder import (
    TIMES,
    SqlRecorder,
    drop_unused_datasets,
    load_dataset,
    storable_dataset,
    store_dataset,
    utc_now,
)
from karat.experiments.store.schema import (
    ANSWERS,
    DATASETS,
    EXPERIMENTS,
    OUTCOMES,
    RUNS,
    SCORES,
    Moment,
    answer_of,
    dataset_row,
    experiment_of,
    experiment_row,
    past_run_of,
    run_of,
    run_rows,
    sample_of,
    score_rows,
    storable,
    summary_of,
    timings_of,
)
from karat.model import Dataset, Outcome, Run
from karat.model.evaluation import Summary
from karat.model.run import AS_RETURNED, TIES
from karat.model.timings import RunResult

RUNNING = [status.value for status in RunStatus if status.running]
ALL_OF_EXPERIMENT = (
    select(EXPERIMENTS, DATASETS.c.queries)
    .join(DATASETS)
    .order_by(EXPERIMENTS.c.created.desc(), EXPERIMENTS.c.id)
)
ALL_OF_RUN = select(
    RUNS,
    select(func.count()).where(ANSWERS.c.run == RUNS.c.id).scalar_subquery().label("answers"),
).order_by(RUNS.c.experiment, RUNS.c.position)


# When the queries of a run had ended; its latency may be measured later, or not at all.
FINISHED = func.coalesce(RUNS.c.ended, RUNS.c.scored, type_=Moment).label("finished")
SAMPLE_COLUMNS = (ANSWERS.c.query, *(ANSWERS.c[name] for name in TIMES))


class SqlStore(SqlRecorder):
    """A store at *address*: a file, or an address such as ``postgresql://user@host/database``.

    A file may be used by several processes of one machine; it must be on a local disk, because
    SQLite shares memory between them.
    """

    def __init__(
        self,
        address: str | os.PathLike[str] | Database,
        *,
        worker: str | None = None,
        leases: Leases | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Open the store, which is created if it is missing, or share an open database."""
        database = address if isinstance(address, Database) else Database(address)
        super().__init__(database, leases=leases or Leases(database), worker=worker, clock=clock)

    @property
    def migrated(self) -> tuple[str, str] | None:
        """Return the versions of the tables before and after, if opening has migrated them."""
        return self._database.migrated

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Release all claimed runs, and close the database."""
        self._leases.close()
        self._database.close()

    def experiment(self, plan: ExperimentDefinition) -> str:
        """Return the id of the experiment that *plan* defines; it is created if it is new."""
        if not plan.runs:
            raise InputError(f"plan {plan.name!r} has no run; expected one or more")
        plan = replace(plan, dataset=storable_dataset(plan.dataset))
        known = select(EXPERIMENTS.c.id).where(EXPERIMENTS.c.digest == plan.digest)
        with self._database.reading() as connection:
            if connection.execute(known).first() is not None:
                return plan.id
        dataset = dataset_row(plan.dataset)
        experiment = experiment_row(plan, environment=environment(), created=self._clock())
        with self._database.writing() as connection:
            store_dataset(self._database, connection, dataset)
            # Another process may have been faster.
            new = self._database.insert(EXPERIMENTS).on_conflict_do_nothing(
                index_elements=[EXPERIMENTS.c.digest]
            )
            if connection.execute(new, experiment).rowcount:
                connection.execute(insert(RUNS), run_rows(plan))
        return plan.id

    def experiments(
        self, kind: ExperimentKind | None = None, *, limit: int = 20, offset: int = 0
    ) -> tuple[Experiment, ...]:
        """Return experiments, the newest first."""
        statement = ALL_OF_EXPERIMENT.limit(limit).offset(offset)
        if kind is not None:
            statement = statement.where(EXPERIMENTS.c.kind == kind.value)
        with self._database.reading() as connection:
            return self._experiments(connection, statement)

    def latest(self) -> Experiment:
        """Return the newest experiment; UnknownName if there is none."""
        for experiment in self.experiments(limit=1):
            return experiment
        raise UnknownName(f"{self._database.name} holds no experiment yet")

    def show(self, experiment: str) -> Experiment:
        """Return an experiment with its runs in the order planned."""
        with self._database.reading() as connection:
            experiment_id = self._id(connection, experiment)
            statement = ALL_OF_EXPERIMENT.where(EXPERIMENTS.c.id == experiment_id)
            return self._experiments(connection, statement)[0]

    def dataset(self, digest: str) -> Dataset:
        """Return the gold set with this digest."""
        return load_dataset(self._database, digest)

    def measured(self, run: str) -> RunResult:
        """Return a run with its answers in the order in which they ended."""
        with self._database.reading() as connection:
            run_id = self._run_id(connection, run)
            row = connection.execute(select(RUNS).where(RUNS.c.id == run_id)).one()
            statement = select(ANSWERS).where(ANSWERS.c.run == run_id).order_by(ANSWERS.c.id)
            answers = connection.execute(statement).all()
        return RunResult(
            Run.of(
                map(answer_of, answers),
                name=row.label,
                metadata={**row.metadata, TIES: AS_RETURNED},
            ),
            timings_of(row, map(sample_of, answers)),
            row.engine_digest,
            row.label,
            row.notes or {},
        )

    def costs(self, run: str) -> RunCosts:
        """Return the timings and notes of a run without reading any answer."""
        with self._database.reading() as connection:
            run_id = self._run_id(connection, run)
            row = connection.execute(select(RUNS).where(RUNS.c.id == run_id)).one()
            timed = (ANSWERS.c.run == run_id, ANSWERS.c.cold_ns.is_not(None))
            statement = select(*SAMPLE_COLUMNS).where(*timed).order_by(ANSWERS.c.id)
            samples = [] if row.index_ns is None else connection.execute(statement).all()
        return RunCosts(timings_of(row, map(sample_of, samples)), row.notes or {})

    def outcomes(self, experiment: str) -> Mapping[str, Mapping[Outcome, int]]:
        """Return the number of queries of each run by outcome."""
        counts: dict[str, dict[Outcome, int]] = {}
        with self._database.reading() as connection:
            statement = (
                select(ANSWERS.c.run, ANSWERS.c.outcome, func.count())
                .join(RUNS)
                .where(RUNS.c.experiment == self._id(connection, experiment))
                .group_by(ANSWERS.c.run, ANSWERS.c.outcome)
            )
            for run, outcome, count in connection.execute(statement):
                counts.setdefault(run, {})[OUTCOMES[outcome]] = count
        return counts

    def keep_scores(
        self, run: str, summaries: Iterable[Summary], *, complete: bool = False
    ) -> None:
        """Replace the scores of a run."""
        with self._database.writing() as connection:
            run_id = self._run_id(connection, run)
            connection.execute(delete(SCORES).where(SCORES.c.run == run_id))
            if rows := score_rows(run_id, summaries):
                connection.execute(insert(SCORES), rows)
            if complete:
                unmarked = update(RUNS).where(RUNS.c.id == run_id, RUNS.c.scored.is_(None))
                connection.execute(unmarked, {"scored": self._clock()})

    def scores(self, run: str) -> tuple[Summary, ...]:
        """Return the stored scores of a run."""
        with self._database.reading() as connection:
            run_id = self._run_id(connection, run)
            statement = select(SCORES).where(SCORES.c.run == run_id).order_by(SCORES.c.position)
            return tuple(map(summary_of, connection.execute(statement)))

    def completed(self, *experiments: str) -> tuple[ScoredRun, ...]:
        """Return the runs of these experiments whose queries are all answered, with scores."""
        statement = (
            select(RUNS.c.id.label("run_id"), RUNS.c.label, FINISHED, SCORES)
            .outerjoin(SCORES)
            .where(RUNS.c.experiment.in_(experiments))
            .where(RUNS.c.scored.is_not(None))
            .order_by(RUNS.c.experiment, RUNS.c.position, SCORES.c.position)
        )
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return tuple(
            ScoredRun(*run, tuple(summary_of(row) for row in group if row.measure is not None))
            for run, group in groupby(rows, key=lambda row: (row.run_id, row.label, row.finished))
        )

    def past_runs(
        self, label: str, *, dataset: str = "", gold: str = "", limit: int = 20
    ) -> tuple[PastRun, ...]:
        """Return the runs called *label* that have all their scores, the newest first."""
        statement = (
            select(RUNS, EXPERIMENTS.c.dataset, EXPERIMENTS.c.version, FINISHED)
            .join(EXPERIMENTS, RUNS.c.experiment == EXPERIMENTS.c.id)
            .where(RUNS.c.label == label, RUNS.c.scored.is_not(None))
            .order_by(FINISHED.desc(), RUNS.c.id)
        )
        named = select(DATASETS.c.digest).where(DATASETS.c.name == storable(gold))
        same = [EXPERIMENTS.c.dataset == dataset] if dataset else []
        same += [EXPERIMENTS.c.dataset.in_(named)] if gold else []
        if same:
            statement = statement.where(or_(*same))
        newest = statement.limit(limit)
        with self._database.reading() as connection:
            rows = list(connection.execute(newest))
            known = {row.id for row in rows}
            if len(rows) == limit:
                pins = connection.execute(statement.where(RUNS.c.pinned.is_not(None)))
                rows += [row for row in pins if row.id not in known]
        return tuple(map(past_run_of, rows))

    def pin(self, run: str, *, pinned: bool = True) -> None:
        """Pin *run*, or unpin it."""
        with self._database.writing() as connection:
            run_id = self._run_id(connection, run)
            about = (
                select(RUNS.c.label, RUNS.c.scored, EXPERIMENTS.c.dataset, DATASETS.c.name)
                .join(EXPERIMENTS, RUNS.c.experiment == EXPERIMENTS.c.id)
                .join(DATASETS)
                .where(RUNS.c.id == run_id)
            )
            row = connection.execute(about).one()
            if pinned and row.scored is None:
                raise InputError(f"{run_id} has not finished; expected a run with all its scores")
            same_gold = (
                select(EXPERIMENTS.c.id)
                .join(DATASETS)
                .where((EXPERIMENTS.c.dataset == row.dataset) | (DATASETS.c.name == row.name))
            )
            others = (RUNS.c.label == row.label, RUNS.c.experiment.in_(same_gold))
            connection.execute(update(RUNS).where(*others), {"pinned": None})
            if pinned:
                mine = update(RUNS).where(RUNS.c.id == run_id)
                connection.execute(mine, {"pinned": self._clock()})

    def holders(self, experiment: str) -> tuple[LeaseHolder, ...]:
        """Return the other workers that have claimed runs of an experiment."""
        with self._database.writing() as connection:
            runs = self._claimed(connection, self._id(connection, experiment))
            alive = self._leases.watch(connection, runs)
        return tuple(LeaseHolder(worker, tuple(runs[worker]), alive[worker]) for worker in runs)

    def release(self, experiment: str) -> None:
        """Set all claimed runs to ``pending``."""
        with self._database.writing() as connection:
            experiment_id = self._id(connection, experiment)
            working = (RUNS.c.experiment == experiment_id, RUNS.c.status.in_(RUNNING))
            free = {"status": RunStatus.PENDING.value, "worker": None}
            connection.execute(update(RUNS).where(*working), free)
            self._leases.tidy(connection)

    def delete(self, experiment: str, *, force: bool = False) -> None:
        """Delete an experiment, and its gold set if no other uses it."""
        with self._database.writing() as connection:
            experiment_id = self._id(connection, experiment)
            runs = self._claimed(connection, experiment_id)
            for worker, alive in self._leases.watch(connection, runs).items():
                if not force and alive is not False:
                    holder = LeaseHolder(worker, tuple(runs[worker]), alive)
                    raise InputError(
                        f"experiment {experiment_id} is being run by another process "
                        f"({holder.label}); stop that first, or use --force"
                    )
            gone = delete(EXPERIMENTS).where(EXPERIMENTS.c.id == experiment_id)
            datasets = connection.execute(gone.returning(EXPERIMENTS.c.dataset)).scalars().all()
            drop_unused_datasets(connection, datasets)
            self._leases.tidy(connection)

    def vacuum(self) -> None:
        """Give the space of deleted rows back to the disk; PostgreSQL does it by itself."""
        if self._database.is_sqlite:
            with self._database.driver() as driver:
                driver.execute("VACUUM")
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _claimed(self, connection: Connection, experiment: str) -> dict[str, list[str]]:
        """Return the labels of the running runs of *experiment* by worker, without this one."""
        statement = select(RUNS.c.worker, RUNS.c.label).where(
            RUNS.c.experiment == experiment,
            RUNS.c.status.in_(RUNNING),
            RUNS.c.worker != self._worker,
        )
        labels: dict[str, list[str]] = {}
        for worker, label in connection.execute(statement.order_by(RUNS.c.position)):
            labels.setdefault(worker, []).append(label)
        return labels

    def _experiments(
        self, connection: Connection, statement: Select[*tuple[Any, ...]]
    ) -> tuple[Experiment, ...]:
        """Return the experiments of *statement* in its order, each with its runs."""
        rows: Sequence[Any] = connection.execute(statement).all()
        ids = [row.id for row in rows]
        stored_runs = connection.execute(ALL_OF_RUN.where(RUNS.c.experiment.in_(ids))).all()
        dead = self._leases.dead(
            connection, {run.worker for run in stored_runs if run.status in RUNNING and run.worker}
        )
        runs = {
            experiment: [run_of(run, dead) for run in group]
            for experiment, group in groupby(stored_runs, key=lambda run: run.experiment)
        }
        return tuple(experiment_of(row, runs[row.id]) for row in rows)

    def _id(self, connection: Connection, prefix: str) -> str:
        """Return the id of the one experiment that begins with *prefix*."""
        begins = EXPERIMENTS.c.id.startswith(prefix.lower(), autoescape=True)
        ids = connection.execute(select(EXPERIMENTS.c.id).where(begins).limit(3)).scalars().all()
        if not prefix or not ids:
            raise UnknownName(f"no experiment {prefix!r} in {self._database.name}")
        if len(ids) > 1:
            several = ", ".join(sorted(ids))
            raise UnknownName(
                f"several experiments begin with {prefix!r}: {several}; give more characters"
            )
        return str(ids[0])

    def _run_id(self, connection: Connection, run: str) -> str:
        """Return the whole id of *run*, whose part before the point may be shortened."""
        prefix, _, position = run.partition(".")
        run_id = f"{self._id(connection, prefix)}.{position}"
        if connection.execute(select(RUNS.c.id).where(RUNS.c.id == run_id)).first() is None:
            raise UnknownName(
                f"no run {run!r}; expected an experiment id, a dot and a number, such as k3nq.1"
            )
        return run_id
