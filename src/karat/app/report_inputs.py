"""What a report is about: run files on a gold set, or what a store has kept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from karat.app.record import RunRecord, record_of
from karat.app.sources import run_name, told_apart
from karat.app.stored import choose, open_store
from karat.errors import InputError, UnknownName
from karat.formats import read_dataset, read_run
from karat.formats.karat_run import run_digest
from karat.model import Dataset
from karat.model.timings import Measured
from karat.report.display import counted
from karat.stats.verdict import first_few, listed
from karat.store import Experiment, StoredRun

__all__ = ["ReportInputs", "gather"]


@dataclass(frozen=True, slots=True)
class ReportInputs:
    """A gold set and runs on it, named apart, each with its digest.

    *records* say how to run all of them again, and are empty where one came from a file. *remarks*
    tell which runs were left out because they have no answer, and which are not whole.
    """

    gold: Dataset
    runs: tuple[Measured, ...]
    digests: tuple[str, ...]
    records: tuple[RunRecord, ...] = ()
    remarks: tuple[str, ...] = ()


class _Source(NamedTuple):
    measured: Measured
    digest: str
    record: RunRecord | None = None


class _Kept(NamedTuple):
    """What a store has under each name, and the gold sets of it by their digests."""

    runs: Mapping[str, Sequence[_Source]]
    golds: Mapping[str, Dataset]
    remarks: tuple[str, ...]


def gather(
    names: Sequence[str],
    *,
    store: str,
    gold_format: str | None = None,
    run_format: str | None = None,
    tags: Sequence[str] = (),
) -> ReportInputs:
    """Return what *names* mean: a gold set and run files, or ids in the *store*, or both.

    A name that is a file is that file, and the first name is the gold set if it is one. Without
    that the gold set is the one of the experiments, which must have it in common. The id of an
    experiment stands for all of its runs.
    """
    files = {name for name in names if Path(name).exists()}
    kept = _kept([name for name in names if name not in files], store)
    if names[0] in files:
        gold = read_dataset(names[0], format=gold_format, tags=tuple(tags))
        names = names[1:]
    elif files:
        raise InputError(f"{min(files)} is a file; expected the gold set first, and runs after it")
    else:
        gold = _common(kept.golds)
    sources = [
        source
        for name in names
        for source in ([_of_file(name, run_format)] if name in files else kept.runs[name])
    ]
    if not sources:
        why = f": {'; '.join(kept.remarks)}" if kept.remarks else ""
        raise InputError(f"no run to report on; expected run files or ids of runs{why}")
    apart = told_apart([source.measured.name for source in sources])
    return ReportInputs(
        gold,
        tuple(replace(each.measured, name=name) for each, name in zip(sources, apart, strict=True)),
        tuple(source.digest for source in sources),
        _records(sources, apart),
        kept.remarks,
    )


def _records(sources: Sequence[_Source], names: Sequence[str]) -> tuple[RunRecord, ...]:
    found = [
        replace(source.record, name=name)
        for source, name in zip(sources, names, strict=True)
        if source.record
    ]
    return tuple(found) if len(found) == len(sources) else ()


def _of_file(path: str, run_format: str | None) -> _Source:
    run = read_run(path, format=run_format)
    measured = Measured(run, timings=None, engine="", name=run_name(path, 1))
    return _Source(measured, sha256(Path(path).read_bytes()).hexdigest())


def _kept(names: Sequence[str], place: str) -> _Kept:
    if not names:
        return _Kept({}, {}, ())
    runs: dict[str, list[_Source]] = {}
    golds: dict[str, Dataset] = {}
    remarks: list[str] = []
    try:
        opened = open_store(place)
    except InputError as error:
        raise InputError(f"no file is called {names[0]!r}, and {error}") from None
    try:
        with opened as store:
            for name in names:
                experiment, chosen = choose(store, name)
                gold = golds[experiment.dataset] = store.dataset(experiment.dataset)
                measured = [(run, store.measured(run.id)) for run in chosen if run.answers]
                runs[name] = [_of_run(experiment, *each, gold) for each in measured]
                remarks += _remarks(experiment, chosen)
    except UnknownName as error:
        raise UnknownName(f"no file is called {name!r}, and {error}") from None
    return _Kept(runs, golds, tuple(remarks))


def _of_run(experiment: Experiment, run: StoredRun, measured: Measured, gold: Dataset) -> _Source:
    record = record_of(experiment, run, measured, gold)
    return _Source(measured, run_digest(measured.run), record)


def _remarks(experiment: Experiment, runs: Sequence[StoredRun]) -> Iterator[str]:
    alike: dict[str, list[str]] = {}
    for run in runs:
        if run.answers < experiment.queries:
            left_out = "" if run.answers else ", left out"
            why = f": {run.error}" if run.error else ""
            total = counted(experiment.queries, "answer")
            said = f"{run.status}{left_out}, with {run.answers:,} of {total}{why}"
            alike.setdefault(said, []).append(f"{run.label} ({run.id})")
    for said, names in alike.items():
        yield f"{listed(first_few(names))}: {said}"


def _common(golds: Mapping[str, Dataset]) -> Dataset:
    if len(golds) > 1:
        raise InputError(
            f"the experiments have {len(golds)} gold sets; expected one for all, or the gold set "
            "to judge them on as the first argument"
        )
    return next(iter(golds.values()))
