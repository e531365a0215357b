"""Loss reasons of missed targets: engines search those queries again, step by step."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from karat.app.search import chunk_engine
from karat.corpus import Corpus
from karat.engines.base import Progress, SearchStep
from karat.engines.chunked import ChunkEngine
from karat.engines.engine_group import EngineGroup, shareable
from karat.engines.registry import count_above, has_absolute_scores
from karat.engines.rerank import RerankEngine
from karat.errors import InputError
from karat.experiments.target_check import Where
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.run import AS_RETURNED
from karat.model.spec import Spec
from karat.model.timings import RunResult
from karat.report.findings import Findings
from karat.report.findings.loss_reasons import loss_reason_of
from karat.scoring.loss_reasons import UNEXPLAINED, LossReason, culprit
from karat.scoring.matching import trace
from karat.scoring.matching.regions import Coverage
from karat.scoring.settings import Scoring

# The depth of each step, and at least this many times k: several hits may be in one file.
DEPTH, TIMES = 200, 20
# The indices of targets by those of their query and of the run.
MissedTargets = dict[int, dict[int, list[int]]]
# Engines that expose their steps.
Stepwise = ChunkEngine | RerankEngine


def with_losses(
    findings: Findings,
    where: Where | None = None,
    *,
    progress: Progress | None = None,
) -> Findings:
    """Return *findings* with the reason for every target that is not in the first k.

    Built-in engines run the queries with such a target again, on the snapshots of *where* or of the
    runs; InputError is raised if these have changed. For any other engine it is only known whether
    the corpus holds the target and whether it was returned. *progress* receives the number of
    queries that are done.
    """
    missed = missed_targets(findings)
    if not missed:
        return findings
    where = where or where_of(findings)
    scoring = findings.settings.get("scoring")
    search = LossSearch(
        findings.gold,
        findings.runs,
        scoring if isinstance(scoring, Scoring) else Scoring(),
        findings.k,
    )
    return replace(findings, losses=search.losses(missed, where, progress=progress))


def where_of(findings: Findings) -> Where:
    """Return the snapshots that the runs of *findings* searched; InputError if not known."""
    return _recorded(findings.origin.records) or searched_where(findings.runs)


def searched_where(runs: Sequence[RunResult]) -> Where:
    """Return the snapshots in the metadata of *runs*; InputError if there are none."""
    first, *others = (_metadata_where(run.run.metadata) for run in runs)
    if first is None or any(other != first for other in others):
        raise InputError(
            "--losses needs runs that Karat made on the same documents: karat compare GOLD "
            "--agents NAME... --losses -o report.html"
        )
    return first


def _metadata_where(metadata: Mapping[str, object]) -> Where | None:
    location, snapshot, candidates = (
        str(metadata.get(key) or "") for key in ("place", "snapshot", "candidates")
    )
    if not location or not snapshot:
        return None
    if snapshot == "corpus":
        where = Where(corpus=location)
    else:
        recorded = snapshot in ("carried", "generated", "masked")
        where = Where({"": location}, snapshot="parent" if recorded else snapshot)
    return where._replace(
        candidates=candidates or None,
        kind=str(metadata.get("kind") or "all"),
        include=_globs(metadata.get("include")),
        exclude=_globs(metadata.get("exclude")),
    )


def _globs(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def _recorded(records: Sequence[Mapping[str, object]]) -> Where | None:
    """Return the snapshots in the records of all runs, revision included; None without records."""
    wheres = [record.get("where") for record in records]
    first = wheres[0] if wheres else None
    if isinstance(first, Mapping) and first and all(where == first for where in wheres):
        return Where.from_json(first)
    return None


class _LossEngine(NamedTuple):
    """An engine that exposes its steps, and the score threshold of its run."""

    engine: Stepwise
    threshold: float
    by_score: bool

    def cut(self, steps: Sequence[SearchStep]) -> list[SearchStep]:
        """Return *steps* of the engine, and a step for the threshold of the run."""
        if not self.threshold:
            return [*steps]
        hits = steps[-1].hits
        above = count_above([hit.score for hit in hits], self.threshold, by_score=self.by_score)
        return [*steps, SearchStep("threshold", hits[:above])]


def _loss_engine(measured: RunResult, family: EngineGroup) -> _LossEngine | None:
    """Return the engine of a run, added to *family*; None if it exposes no steps."""
    recorded = measured.run.metadata.get("engine")
    if not isinstance(recorded, Mapping) or not isinstance(recorded.get("name"), str):
        return None
    options = recorded.get("options")
    spec = Spec("engine", recorded["name"], dict(options) if isinstance(options, Mapping) else {})
    if shareable(spec) is None:
        return None
    engine = family.add(spec)
    if not isinstance(engine, Stepwise):
        return None
    threshold = measured.run.metadata.get("threshold")
    return _LossEngine(
        engine,
        float(threshold) if isinstance(threshold, int | float) else 0.0,
        has_absolute_scores(spec),
    )


def missed_targets(findings: Findings) -> MissedTargets:
    """Return the targets that were not in the first k."""
    missed: MissedTargets = {}
    for row in range(len(findings.gold)):
        relevant = findings.relevant(row)
        for run in range(len(findings.runs)):
            targets = [
                number
                for number, counts in enumerate(relevant)
                if counts and loss_reason_of(findings, run, row, number) in UNEXPLAINED
            ]
            if targets:
                missed.setdefault(row, {})[run] = targets
    return missed


class LossSearch(NamedTuple):
    """A search for the reasons of missed targets; of *runs* only metadata and notes are used.

    *k* is the rank down to which a target counts as found.
    """

    gold: Dataset
    runs: Sequence[RunResult]
    scoring: Scoring
    k: int

    def losses(
        self, missed: MissedTargets, where: Where, *, progress: Progress | None = None
    ) -> dict[tuple[int, int, int], LossReason]:
        """Return the reasons, by the index of the run, the query and the target.

        InputError is raised if the documents have changed since the runs.
        """
        family = EngineGroup()
        engines = [_loss_engine(measured, family) for measured in self.runs]
        texts = [self.gold.texts[row] for row in missed]
        for one in engines:
            if one is not None:
                one.engine.expect(texts)
        losses: dict[tuple[int, int, int], LossReason] = {}
        done = 0
        if progress:
            progress(done, len(missed))
        with where.snapshots(self.gold, seed=0) as snapshots:
            for corpus, queries, _ in snapshots:
                rows = [row for row in queries.rows if row in missed]
                if rows:
                    check_same(corpus, self.runs)
                    family.show(corpus)
                    finder = _LossFinder(self, corpus, engines)
                    for row in rows:
                        for run, targets in missed[row].items():
                            losses.update(finder.reasons(run, row, targets))
                        done += 1
                        if progress:
                            progress(done, len(missed))
        return losses


class _LossFinder:
    """Finds the loss reasons of targets on one snapshot."""

    def __init__(
        self, search: LossSearch, corpus: Corpus, engines: Sequence[_LossEngine | None]
    ) -> None:
        self._search = search
        self._engines = engines
        self._scoring = search.scoring
        self._files = self._coverage([Hit(document.path) for document in corpus])
        self._chunks: dict[int, Coverage] = {}
        self._row = -1
        self._known: dict[int, Sequence[SearchStep]] = {}

    def reasons(
        self, run: int, row: int, targets: Sequence[int]
    ) -> Iterator[tuple[tuple[int, int, int], LossReason]]:
        """Yield why *run* has missed each of the *targets* of the query at *row*."""
        gold, k = self._search.gold, self._search.k
        whole = gold.targets(row)
        engine = self._engines[run]
        steps: list[tuple[str, Sequence[int]]] | None = None
        for number in targets:
            if not self._files.holds(whole[number].path):
                yield (run, row, number), LossReason.NOT_IN_CORPUS
            elif engine is not None:
                if not self._chunk_coverage(engine.engine).of(whole[number]):
                    yield (run, row, number), LossReason.NO_CHUNK
                    continue
                if steps is None:
                    steps = [
                        (step.kind, self._ranks(gold.texts[row], whole, step.hits))
                        for step in engine.cut(self._steps(engine.engine, row))
                    ]
                reason = culprit([(kind, ranks[number]) for kind, ranks in steps], k)
                if reason is not None:
                    yield (run, row, number), reason

    def _steps(self, engine: Stepwise, row: int) -> Sequence[SearchStep]:
        """Return the steps of *engine*, which several runs may share."""
        if self._row != row:
            self._row, self._known = row, {}
        if id(engine) not in self._known:
            depth = max(DEPTH, TIMES * self._search.k)
            self._known[id(engine)] = engine.steps(self._search.gold.texts[row], depth)
        return self._known[id(engine)]

    def _chunk_coverage(self, engine: Stepwise) -> Coverage:
        """Return the chunks of *engine*; engines with the same chunker share them."""
        inner = chunk_engine(engine)
        chunks = inner.held.chunks if inner else None
        if id(chunks) not in self._chunks:
            hits = [chunks.hit(row, 0.0) for row in range(len(chunks))] if chunks else []
            self._chunks[id(chunks)] = self._coverage(hits)
        return self._chunks[id(chunks)]

    def _coverage(self, hits: Sequence[Hit]) -> Coverage:
        scoring = self._scoring
        return Coverage(
            hits,
            match=scoring.match or self._search.gold.match,
            min_overlap=scoring.min_overlap,
            root=scoring.root,
        )

    def _ranks(self, text: str, targets: Sequence[Target], hits: Sequence[Hit]) -> Sequence[int]:
        """Return the rank of each target among *hits*, as the run's own ranks were counted."""
        scoring = self._scoring
        (traced,) = trace(
            Dataset.of([Query("", text, tuple(targets))], match=self._search.gold.match),
            Run.of([Answer("", tuple(hits))]),
            keep=0,
            match=scoring.match,
            ties=scoring.ties or AS_RETURNED,
            judged_only=scoring.judged_only,
            depth=scoring.depth,
            min_overlap=scoring.min_overlap,
            root=scoring.root,
            strip_prefix=scoring.strip_prefix,
            cut_at=scoring.cut_at,
        )
        return traced.ranks


def check_same(corpus: Corpus, runs: Sequence[RunResult]) -> None:
    """Raise InputError if *corpus* is none of the snapshots that *runs* have searched."""
    for measured in runs:
        known = measured.notes.get("corpora")
        if isinstance(known, list) and known and corpus.snapshot not in known:
            raise InputError(
                f"{corpus.name} has changed since {measured.name} searched it; run it with "
                "--again to explain its losses"
            )
