"""Repeat the runs of a report, and compare their results."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from karat.corpus import CHUNKERS
from karat.engines.registry import ENGINES
from karat.engines.spec import parse_spec
from karat.errors import InputError
from karat.experiments import Configuration
from karat.experiments.plan import ExperimentRequest
from karat.experiments.run import ExperimentResult, run_experiment
from karat.experiments.run_records import RunRecord, short_digests, versions_of
from karat.experiments.store import ExperimentKind, RunStatus, SqlStore
from karat.experiments.target_check import Where
from karat.experiments.workers import RunEvent
from karat.extensions.verify.records import differing_queries
from karat.formats.gold import gold_digest
from karat.model import Dataset
from karat.model.spec import Spec
from karat.scoring.settings import Scoring
from karat.system.words import counted, first_line

OPTION = r"((?!tokenizer=)\w+=\w+|tokenizer=(granite|minilm))"
CHUNKER = rf"({'|'.join(CHUNKERS.built_in())})(:\d+)?(\({OPTION}(,\s*{OPTION})*\))?"

# A chat model is always from elsewhere.
NOTHING = r"(?!)"


def foreign(spec: Spec) -> Iterator[str]:
    """Yield the parts of *spec* that do not come with Karat: programs, modules, models, addresses.

    A model by a hub id, a folder or an address is such a part. Nothing is loaded to find out.

    >>> list(foreign(parse_spec("rerank(over=dense(model=granite:512), model=maxsim:minilm)")))
    []
    >>> list(foreign(parse_spec("rerank(over=dense(model=st:some/model), model=json:loads)")))
    ['model=json:loads', 'model=st:some/model']
    >>> list(foreign(parse_spec("json:loads")))
    ['json:loads']
    >>> list(foreign(parse_spec("bm25(context=openai/gpt-4o-mini)")))
    ['context=openai/gpt-4o-mini']
    """
    if not ENGINES.is_own(spec.name):
        yield spec.name
        return
    own = {"model": ENGINES.info(spec.name).models, "chunker": CHUNKER, "context": NOTHING}
    for option, names in own.items():
        value = spec.params.get(option, "")
        if value and not re.fullmatch(names, str(value), re.IGNORECASE):
            yield f"{option}={value}"
    over = spec.params.get("over")
    if isinstance(over, str | Mapping):
        yield from foreign(parse_spec(over))


NAMED = 3


@dataclass(frozen=True, slots=True)
class Verification:
    """The differences in sentences, and *notes* that may explain them.

    *answers* is the number of compared answers, of *runs* runs.
    """

    runs: int
    answers: int
    differences: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def identical(self) -> bool:
        """Return whether all results are the same."""
        return not self.differences


def verify(
    records: Sequence[RunRecord],
    gold: Dataset,
    *,
    folder: str | None = None,
    trusted: bool = False,
    workers: int = 1,
    listen: Callable[[RunEvent], None] = lambda _: None,
) -> Verification:
    """Repeat the runs in *records*, and return how their answers differ.

    *gold* must be the gold set of the report, by its digest. *folder* is the present folder of the
    corpus or the repository, if it has moved. Latency is not compared. A report may name any
    program, module or host: one that does not come with Karat is rejected unless the report is
    *trusted*.
    """
    digest = gold_digest(gold)
    if any(record.gold != digest for record in records):
        raise InputError(
            f"{gold.name} is not the gold set of the report: its digest is {digest[:12]}, that of "
            f"the report {records[0].gold[:12]}"
        )
    if not trusted:
        _refuse_foreign(records)
    differences: list[str] = []
    notes: list[str] = []
    for alike in _alike(records):
        request = _request(alike, gold, folder=folder, workers=workers)
        with (
            TemporaryDirectory(prefix="karat-verify-") as temporary,
            SqlStore(Path(temporary) / "karat.db") as store,
        ):
            done = run_experiment(request, store, listen=listen)
        if done.interrupted:
            raise KeyboardInterrupt
        differences += _differences(alike, done, gold)
        notes += _notes(alike, done)
    answers = len(records) * len(gold)
    return Verification(len(records), answers, tuple(differences), tuple(dict.fromkeys(notes)))


def _refuse_foreign(records: Sequence[RunRecord]) -> None:
    named = [
        f"{record.name} ({', '.join(parts)})"
        for record in records
        if (parts := list(foreign(record.engine)))
    ]
    if named:
        raise InputError(
            f"the report uses engines that are not built in: {'; '.join(named)}; they can run any "
            "program. Check them, then add --trust"
        )


def _alike(records: Sequence[RunRecord]) -> Iterator[list[RunRecord]]:
    """Yield the records that one experiment can repeat: same snapshots, seed and matching."""

    def way(record: RunRecord) -> str:
        return repr((sorted(record.where.items(), key=str), record.seed, record.match, record.root))

    for _, group in groupby(sorted(records, key=way), key=way):
        yield list(group)


def _request(
    records: Sequence[RunRecord], gold: Dataset, *, folder: str | None, workers: int
) -> ExperimentRequest:
    first = records[0]
    return ExperimentRequest(
        gold=gold,
        configurations=tuple(
            Configuration(record.name, record.engine, record.k, record.threshold)
            for record in records
        ),
        where=_where(first.where, folder),
        kind=ExperimentKind.EVALUATE,
        scoring=Scoring(match=first.match, root=first.root),
        timed=0,
        workers=workers,
        seed=first.seed,
    )


def _where(recorded: Mapping[str, object], folder: str | None) -> Where:
    where = Where.from_json(recorded)
    if folder is None:
        return where
    if where.corpus is not None:
        return where._replace(corpus=folder)
    return where._replace(repositories={"": folder})


def _differences(
    records: Sequence[RunRecord], done: ExperimentResult, gold: Dataset
) -> Iterator[str]:
    pairs = zip(records, done.experiment.runs, done.measured, strict=True)
    moved = False
    for record, run, measured in pairs:
        if run.snapshot != record.snapshot and not moved:
            moved = True
            yield (
                f"the documents changed: their digest was {record.snapshot[:12]} and is now "
                f"{run.snapshot[:12]}"
            )
        if run.status is not RunStatus.COMPLETED:
            yield f"{record.name}: {first_line(run.error) or run.status.value}"
            continue
        queries = differing_queries(record.answers, short_digests(measured, gold), gold)
        if queries:
            some = ", ".join(queries[:NAMED]) + (", ..." if len(queries) > NAMED else "")
            yield f"{record.name}: {len(queries):,} of {counted(len(gold), 'answer')}: {some}"


def _notes(records: Sequence[RunRecord], done: ExperimentResult) -> Iterator[str]:
    """Yield which versions have changed."""
    now = versions_of(done.experiment)
    for record in records:
        for name in sorted(record.versions.keys() | now.keys()):
            before, after = record.versions.get(name, "none"), now.get(name, "none")
            if before != after:
                yield f"{name} was {before} and is now {after}"
