"""What is said about stored runs, and the records with which a run can be repeated."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from karat.experiments.plan import engine_options, is_deterministic
from karat.experiments.store import Experiment, StoredRun
from karat.formats.karat_run import answer_digests
from karat.model import Dataset, Outcome, Run
from karat.model.spec import Spec
from karat.model.timings import (
    LEFT_OUT_NOTE,
    MISSING_NOTE,
    NS_PER_MS,
    RunResult,
    latency_ms,
)
from karat.scoring.matching import MATCHERS
from karat.system.words import counted, first_few, join_names

# The note of a run on answers that were stored before it was continued.
CONTINUED = "continued"
# The note of a run on files of its engine that changed while it ran.
EDITED = "edited"
# In the metadata of a run whose latencies were not measured alone.
DISTURBED = "disturbed"
# In the metadata of a run: whether repeated queries had identical hits, and how many were repeated.
DETERMINISTIC, REPEATED = "deterministic", "repeated"
LEAST_REPEATED = 10
# In the metadata of a run of a sample: the queries of the sample, and of the whole gold set.
SAMPLE, SAMPLE_OF = "sample", "sample_of"
# The share of queries without a hit from which a run is reported as empty.
NEARLY_ALL = 0.9


def run_with_latencies(measured: RunResult, order: Sequence[str] = ()) -> Run:
    """Return the run with the latencies of the timing pass.

    Answers are in the *order* of these query ids, so that files of equal runs are equal, wherever
    and whenever each query ended. The metadata say whether other karat runs have disturbed the
    latencies, whether the engine answers identically, as far as that is known, and which targets
    were not searched.
    """
    samples = measured.timings.samples if measured.timings else ()
    times = {sample.query_id: round(latency_ms(sample) * NS_PER_MS) for sample in samples}
    answers = [
        answer._replace(latency_ns=times.get(answer.query_id, answer.latency_ns))
        for answer in measured.run.answers()
    ]
    positions_of = {query_id: position for position, query_id in enumerate(order)}
    answers.sort(key=lambda answer: positions_of.get(answer.query_id, len(positions_of)))
    metadata = {**measured.run.metadata, **_determinism(measured)}
    if measured.timings and not measured.timings.alone:
        metadata[DISTURBED] = True
    for key, targets in ((MISSING_NOTE, measured.missing), (LEFT_OUT_NOTE, measured.left_out)):
        if targets:
            metadata[key] = dict(targets)
    return Run.of(answers, name=measured.name, metadata=metadata)


def _determinism(measured: RunResult) -> dict[str, object]:
    """Return whether the engine answers identically and on how many queries that was seen.

    Nothing is returned where too few queries were repeated to say so.
    """
    run = measured.run
    samples = measured.timings.samples if measured.timings else ()
    twice = {sample.query_id for sample in samples if sample.warm_ns}
    twice.update(
        query_id
        for query_id, extra in zip(run.query_ids, run.extras, strict=True)
        if "repeated" in extra
    )
    if any("unstable" in extra for extra in run.extras):
        return {DETERMINISTIC: False, REPEATED: len(twice)}
    engine = run.metadata.get("engine")
    if isinstance(engine, Mapping):
        options = engine.get("options")
        params = options if isinstance(options, Mapping) else {}
        if is_deterministic(Spec("engine", str(engine.get("name")), params)):
            return {DETERMINISTIC: True}
    if twice and len(twice) >= min(LEAST_REPEATED, len(run)):
        return {DETERMINISTIC: True, REPEATED: len(twice)}
    return {}


# Characters of the SHA-256 of an answer: one difference in four billion goes unnoticed.
SHORT = 8


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run: everything that decides its hits, and their digests.

    *gold* and *snapshot* are the digests of the dataset and of the corpus; *where* holds the
    arguments of :class:`karat.experiments.target_check.Where`. *answers* holds a short digest of
    each query's hits in the order of the dataset, blank where there are none. *versions* are those
    of Karat and of the libraries that decide the hits.
    """

    name: str
    engine: Spec
    k: int
    threshold: float
    seed: int
    match: str
    root: str
    gold: str
    snapshot: str
    where: Mapping[str, object]
    versions: Mapping[str, str]
    answers: str

    def to_json(self) -> dict[str, object]:
        """Return it as a JSON object."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        engine = {"name": self.engine.name, "options": dict(self.engine.params)}
        return fields | {"engine": engine, "where": dict(self.where)}


def record_of(
    experiment: Experiment, run: StoredRun, measured: RunResult, gold: Dataset
) -> RunRecord:
    """Return the record of a stored *run*."""
    config, metadata = experiment.config, run.metadata
    where = config.get("where")
    k, threshold = metadata.get("k"), metadata.get("threshold")
    return RunRecord(
        name=measured.name,
        engine=run.engine,
        k=k if isinstance(k, int) else 0,
        threshold=threshold if isinstance(threshold, float) else 0.0,
        seed=experiment.seed,
        match=str(config.get("match", gold.match)),
        root=str(config.get("root", "")),
        gold=experiment.dataset,
        snapshot=run.snapshot,
        where=where if isinstance(where, Mapping) else {},
        versions=versions_of(experiment),
        answers=short_digests(measured, gold),
    )


def stored_engine_options(run: StoredRun, *, unit: str) -> str:
    """Return :func:`engine_options` of a stored run."""
    k, threshold = run.metadata.get("k"), run.metadata.get("threshold")
    return engine_options(
        run.label,
        run.engine,
        unit=unit,
        k=k if isinstance(k, int) else 0,
        threshold=threshold if isinstance(threshold, float) else 0.0,
    )


def versions_of(experiment: Experiment) -> dict[str, str]:
    """Return the versions of Karat, of Python and of the packages that *experiment* ran with."""
    packages = experiment.environment.get("packages")
    return {
        "karat": experiment.version,
        "python": str(experiment.environment.get("python", "")),
        **(packages if isinstance(packages, Mapping) else {}),
    }


def short_digests(measured: RunResult, gold: Dataset) -> str:
    """Return the digests of all answers, cut short, in the order of *gold*."""
    digests = answer_digests(measured.run)
    return "".join(digests.get(query_id, " " * SHORT)[:SHORT] for query_id in gold.query_ids)


def remarks(measured: Sequence[RunResult]) -> tuple[str, ...]:
    """Return sentences on older answers, edited engines, equal rankings, empty runs and slots."""
    return (
        *(
            f"{one.name}: {text}"
            for one in measured
            for note in (CONTINUED, EDITED)
            if (text := one.notes.get(note))
        ),
        *_same(measured),
        *empty_run_remarks(measured),
        *_slot_remarks(measured),
    )


def unsearched_remarks(measured: Sequence[RunResult]) -> Iterator[str]:
    """Yield which targets do not exist in the searched files, and which exist and were left out."""
    missing: dict[str, dict[str, None]] = {}
    for one in measured:
        for query, paths in one.missing.items():
            for path in paths:
                missing.setdefault(path, {})[query] = None
    if missing:
        names = [f"{path} (query {', '.join(queries)})" for path, queries in missing.items()]
        verb = "does not exist and counts" if len(missing) == 1 else "do not exist and count"
        yield (
            f"{counted(len(missing), 'target file')} {verb} as missed: "
            f"{join_names(first_few(names))}"
        )
    left_out = {path: why for one in measured for path, why in one.left_out.items()}
    if left_out:
        named = [f"{path} is {why}" for path, why in left_out.items()]
        yield "not searched although it exists: " + "; ".join(first_few(named))


def _slot_remarks(measured: Sequence[RunResult]) -> Iterator[str]:
    """Yield what happened to slots on other machines."""
    lost = max((int(str(one.notes.get("lost_units", 0))) for one in measured), default=0)
    if lost:
        how = "was lost with its slot" if lost == 1 else "were lost with their slots"
        yield f"{counted(lost, 'unit')} {how}; other slots ran the rest"
    differing = (one.notes.get("differing_slots", ()) for one in measured)
    for other in dict.fromkeys(one for some in differing if isinstance(some, list) for one in some):
        yield f"some slots have {other}; scores of embeddings may differ in the last digits"
    for machine in dict.fromkeys(one.notes.get("timed_on") for one in measured):
        if machine:
            yield f"latency measured on {machine}"


def _same(measured: Sequence[RunResult]) -> Iterator[str]:
    alike: dict[str, list[str]] = {}
    for one in measured:
        if one.run.offsets[-1]:
            alike.setdefault(ranking_digest(one.run), []).append(one.name)
    for names in alike.values():
        if len(names) > 1:
            yield f"{len(names)} configurations gave the same rankings: {'; '.join(names)}"


def ranking_digest(run: Run) -> str:
    """Return the hash of all hits in their order, without scores.

    Symbols count if the matching mode of the run uses them.
    """
    digest = sha256()
    match = str(run.metadata.get("match") or "exact")
    by_symbol = match in set(MATCHERS) and MATCHERS.get(match)().by_symbol
    for row in sorted(range(len(run)), key=run.query_ids.__getitem__):
        hits = slice(run.offsets[row], run.offsets[row + 1])
        paths = [run.paths[hit] for hit in range(hits.start, hits.stop)]
        lines = run.start_lines[hits].tolist(), run.end_lines[hits].tolist()
        symbols = [run.symbols[hit] for hit in range(hits.start, hits.stop)] if by_symbol else []
        ranking = (run.query_ids[row], run.outcomes[row], paths, lines, symbols)
        digest.update(repr(ranking).encode())
    return digest.hexdigest()


def empty_run_remarks(measured: Sequence[RunResult]) -> Iterator[str]:
    """Yield a sentence on each run whose threshold leaves most queries without a hit.

    A run without a threshold is reported where at least nine of ten queries have no hit. If all
    of them have none, the run is broken, and its scores say so.
    """
    for one in measured:
        threshold = one.run.metadata.get("threshold")
        offsets = one.run.offsets
        answers = [
            offsets[row + 1] - offsets[row]
            for row, outcome in enumerate(one.run.outcomes)
            if outcome == Outcome.ANSWERED
        ]
        empty = answers.count(0)
        if empty == len(answers):
            continue
        if threshold and empty > len(answers) / 2:
            yield (
                f"{one.name}: threshold {threshold} leaves no hit to {empty} of {len(answers)} "
                "queries"
            )
        elif not threshold and empty >= NEARLY_ALL * len(answers):
            yield (
                f"{one.name}: no hits for {empty:,} of {counted(len(answers), 'query')}; "
                "karat engines check SPEC --corpus DIR --query TEXT shows why"
            )
