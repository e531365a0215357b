"""Read the positives of a gold set from their snapshots, and choose hard negatives for them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf, isnan, nan
from typing import NamedTuple

from karat.app.search import chunk_engine
from karat.corpus import Chunk, Corpus, chunk_corpus, create_chunker
from karat.corpus.cache import MemoryCache
from karat.corpus.chunkers.base import Chunker, lines_of
from karat.corpus.chunkers.chunking import header
from karat.engines.base import Engine, SupportsBatch, SupportsClose, SupportsSnapshots
from karat.engines.spec import build
from karat.errors import EngineError, InputError
from karat.experiments.run import judged_units, with_unit
from karat.experiments.target_check import Where, check_snapshots, locate_pages
from karat.mining.training import (
    CandidateText,
    NegativeRules,
    TrainingExample,
    TrainingText,
    choose_negatives,
)
from karat.model import Dataset, Hit, Query, Run, Target
from karat.model.evaluation import CorpusCoverage
from karat.model.spec import Spec
from karat.scoring.matching.modes import MATCHERS, Matcher
from karat.scoring.matching.regions import order_hits, valid_hits

__all__ = ["CollectedExamples", "TrainingRequest", "collect_examples"]

FAILED = "engine failed"
# The chunker of engines that have none.
DEFAULT_CHUNKER = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """What is exported: a gold set, and the engine or the run whose hits become negatives.

    *positives* is the number of positive texts per query at most. With *headers*, each text begins
    with its path and symbols, as built-in engines index it. *split* names the parts, none for a
    single part. *test_sets* must not share queries, commits or target texts with the training data.
    """

    gold: Dataset
    where: Where
    spec: Spec | None = None
    run: Run | None = None
    rules: NegativeRules = field(default_factory=NegativeRules)
    layout: str = "triplet"
    positives: int = 3
    headers: bool = False
    split: tuple[str, ...] = ()
    split_by: str = "time"
    held_out: float = 0.2
    test_sets: tuple[Dataset, ...] = ()
    allow_contamination: bool = False


@dataclass(frozen=True, slots=True)
class CollectedExamples:
    """The examples of a gold set, what they were collected with, and why others are missing.

    *failure* is the first error of the engine, "" if it answered every query.
    """

    examples: tuple[TrainingExample, ...]
    engine: str
    chunker: str
    searched: CorpusCoverage
    lost: Counter[str]
    dropped: Counter[str]
    failure: str = ""


def collect_examples(
    request: TrainingRequest,
    *,
    targets_only: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> CollectedExamples:
    """Return the examples of the gold set, in its order, read from the snapshots of their queries.

    With *targets_only* nothing is searched: every query comes with its positives alone, if any.
    """
    gold = locate_pages(request.gold, request.where)
    spec = request.spec and with_unit(request.spec, judged_units(gold, gold.match).most)
    lost: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    found: dict[int, TrainingExample] = {}
    done = 0
    with _engine(spec) as engine, request.where.snapshots(gold, seed=0) as snapshots:
        coverage = check_snapshots(gold, snapshots, match=gold.match).searched
        reader = _ChunkReader(_chunker(engine), headers=request.headers)
        source = _HitSource() if targets_only else _source(gold, engine, request)
        for corpus, queries, _ in snapshots:
            source.show(corpus)
            for row in sorted(queries.rows):
                hits, problem = source.hits(row)
                example, reason = _Case(gold, row, corpus, reader).example(hits, request, dropped)
                if reason := problem or reason:
                    lost[reason] += 1
                if targets_only or not reason:
                    found[row] = example
                done += 1
                if progress:
                    progress(done, len(gold))
    if lost[FAILED] == len(gold) > 0:
        raise EngineError(f"every query failed; the first: {source.failure}")
    name = request.run.name if request.run else spec.name if spec else ""
    ordered = tuple(found[row] for row in sorted(found))
    return CollectedExamples(ordered, name, reader.name, coverage, lost, dropped, source.failure)


class _HitSource:
    """A source of hits, without any. *failure* is the first error of an engine."""

    failure = ""

    def show(self, corpus: Corpus) -> None:
        """Search *corpus* from now on."""

    def hits(self, row: int) -> tuple[Sequence[Hit], str]:  # noqa: ARG002 - for the other sources
        """Return the hits of the query at *row*, and why they are missing ("" if not)."""
        return (), ""


def _source(gold: Dataset, engine: Engine | None, request: TrainingRequest) -> _HitSource:
    if request.run is not None:
        return _RunHits(gold, request.run)
    return _EngineHits(gold, engine, request.rules.depth) if engine else _HitSource()


class _RunHits(_HitSource):
    """The hits of a run, in the order that scoring gives them."""

    def __init__(self, gold: Dataset, run: Run) -> None:
        rows = {query_id: row for row, query_id in enumerate(gold.query_ids)}
        self._hits: dict[int, Sequence[Hit]] = {}
        for answer in run.answers():
            if answer.query_id in rows:
                hits = valid_hits(answer.hits, Counter())
                self._hits[rows[answer.query_id]], _ = order_hits(hits, [0.0] * len(hits), "trec10")
        if not self._hits:
            raise InputError(
                f"{run.name} answers none of the queries of {gold.name}; expected a run of this "
                "gold set, or --engine"
            )

    def hits(self, row: int) -> tuple[Sequence[Hit], str]:
        return (self._hits[row], "") if row in self._hits else ((), "not in the run")


class _EngineHits(_HitSource):
    """The hits of an engine, which moves from snapshot to snapshot if it can."""

    def __init__(self, gold: Dataset, engine: Engine, depth: int) -> None:
        self._texts = gold.texts
        self._engine = engine
        self._depth = depth
        self._moves = False
        if isinstance(engine, SupportsBatch):
            engine.expect(gold.texts)

    def show(self, corpus: Corpus) -> None:
        if self._moves and isinstance(self._engine, SupportsSnapshots):
            self._engine.show(corpus)
        else:
            self._engine.index(corpus)
        self._moves = True

    def hits(self, row: int) -> tuple[Sequence[Hit], str]:
        try:
            return self._engine.search(self._texts[row], self._depth), ""
        except EngineError as error:
            self.failure = self.failure or str(error)
            return (), FAILED


@contextmanager
def _engine(spec: Spec | None) -> Iterator[Engine | None]:
    if spec is None:
        yield None
        return
    engine = build(spec)
    try:
        yield engine
    finally:
        if isinstance(engine, SupportsClose):
            engine.close()


def _chunker(engine: Engine | None) -> Chunker:
    """Return the chunker of a built-in engine, for any other the default one."""
    inner = chunk_engine(engine) if engine else None
    if inner is None:
        return create_chunker(DEFAULT_CHUNKER)
    return create_chunker(inner.recipe.chunker, **inner.recipe.chunker_options)


class _ChunkReader:
    """Reads documents as chunks; each content is cut once."""

    def __init__(self, chunker: Chunker, *, headers: bool) -> None:
        self._chunker = chunker
        self._cache = MemoryCache()
        self._headers = headers
        self.name = chunker.spec.name

    def chunks(self, corpus: Corpus, path: str) -> tuple[Chunk, ...]:
        document = corpus.by_path[path]
        alone = replace(corpus, documents=(document,))
        (chunks,) = chunk_corpus(alone, self._chunker, cache=self._cache).by_document
        return chunks

    def text(self, chunk: Chunk, path: str) -> str:
        return f"{header(chunk, path)}\n{chunk.text}" if self._headers else chunk.text


class _Place(NamedTuple):
    """Lines of a document that a target means; 0 and 0 where it does not say which."""

    path: str
    start_line: int
    end_line: int
    grade: float

    def lines_in(self, start_line: int, end_line: int) -> int:
        """Return how many of the lines are from *start_line* to *end_line*."""
        return max(0, min(self.end_line, end_line) - max(self.start_line, start_line) + 1)


class _Case:
    """One query on its snapshot."""

    def __init__(self, gold: Dataset, row: int, corpus: Corpus, reader: _ChunkReader) -> None:
        self._query = Query(
            gold.query_ids[row],
            gold.texts[row],
            tuple(gold.targets(row)),
            {tag: column[row] for tag, column in gold.tags.items() if column[row]},
            gold.extras[row],
        )
        self._corpus = corpus
        self._reader = reader
        self._matcher = MATCHERS.get(gold.match)()
        self._places = list(_places(self._query, corpus, reader, self._matcher))
        self._languages = {corpus.by_path[place.path].language for place in self._places}

    def example(
        self, hits: Sequence[Hit], request: TrainingRequest, dropped: Counter[str]
    ) -> tuple[TrainingExample, str]:
        """Return the example, and why it cannot be used ("" if it can)."""
        candidates = [
            self._candidate(hit, rank)
            for rank, hit in enumerate(hits, start=1)
            if hit.path in self._corpus.by_path
        ]
        scored = [self._scored(text, candidates) for text in self._positives()]
        every = sorted(scored, key=lambda text: (-text.grade, text.rank or inf))
        chosen = tuple(every[: request.positives])
        # Without scores: negatives are compared with the best positive that is exported.
        others = tuple(text._replace(rank=0, score=nan) for text in every[request.positives :])
        example = TrainingExample(self._query, chosen, others=others)
        if not chosen:
            return example, "target text not found"
        rules = request.rules
        unscored = all(isnan(positive.score) for positive in chosen)
        if rules.max_score_ratio and unscored and any(not isnan(hit.score) for hit in hits):
            # The positive scores less than every hit, and so do no negatives.
            return example, ""
        negatives = choose_negatives(candidates, (*chosen, *others), rules, dropped)
        return replace(example, negatives=negatives), ""

    def _positives(self) -> list[TrainingText]:
        """Return the chunks that hold the targets: the highest grade, then the most lines first.

        Chunks that define nothing, such as a block of imports, count only if all are like that.
        """
        found: dict[tuple[str, int, int], tuple[float, int, TrainingText]] = {}
        defining: set[tuple[str, int, int]] = set()
        for place in self._places:
            for chunk in self._reader.chunks(self._corpus, place.path):
                lines = place.lines_in(chunk.start_line, chunk.end_line)
                if not lines:
                    continue
                key = place.path, chunk.start_line, chunk.end_line
                grade, known, _ = found.get(key, (0.0, 0, None))
                grade = max(grade, place.grade)
                text = TrainingText(self._reader.text(chunk, place.path), *key, grade=grade)
                found[key] = grade, known + lines, text
                if chunk.symbols:
                    defining.add(key)
        usable = [found[key] for key in found if key in defining or not defining]
        ordered = sorted(usable, key=lambda one: (-one[0], -one[1], one[2][1:4]))
        return [text for _, _, text in ordered]

    def _scored(self, positive: TrainingText, candidates: Iterable[CandidateText]) -> TrainingText:
        """Return *positive* with the rank and score of the first hit on its lines."""
        for candidate in candidates:
            text = candidate.text
            if text.path == positive.path and (
                text.start_line <= positive.end_line and positive.start_line <= text.end_line
            ):
                return positive._replace(rank=text.rank, score=text.score)
        return positive

    def _candidate(self, hit: Hit, rank: int) -> CandidateText:
        chunk = self._chunk(hit)
        text = TrainingText(
            self._reader.text(chunk, hit.path),
            hit.path,
            chunk.start_line,
            chunk.end_line,
            rank=rank,
            score=hit.score,
        )
        shown = hit._replace(path=self._matcher.spelled(hit.path))
        grades = [
            target.grade
            for target in self._query.targets
            if target.grade >= 0
            and self._matcher.credit(
                shown, target._replace(path=self._matcher.spelled(target.path))
            )
        ]
        grades += [
            place.grade
            for place in self._places
            if place.path == hit.path and place.lines_in(chunk.start_line, chunk.end_line)
        ]
        beside = any(place.path == hit.path for place in self._places)
        foreign = self._corpus.by_path[hit.path].language not in self._languages
        return CandidateText(text, max(grades, default=None), beside, foreign)

    def _chunk(self, hit: Hit) -> Chunk:
        """Return the chunk that *hit* is, or the lines of a hit that is not a chunk.

        A whole file is represented by its chunk with most words of the query.
        """
        chunks = self._reader.chunks(self._corpus, hit.path)
        if not hit.end_line:
            return _nearest_chunk(chunks, self._query.text)
        for chunk in chunks:
            if (chunk.start_line, chunk.end_line) == (hit.start_line, hit.end_line):
                return chunk
        lines = lines_of(self._corpus.read(hit.path))
        text = "".join(lines[max(hit.start_line, 1) - 1 : hit.end_line])
        return Chunk("", "", hit.start_line, hit.end_line, text)


def _nearest_chunk(chunks: Sequence[Chunk], query: str) -> Chunk:
    from karat.engines.lexical.tokens import TokenRules

    terms = TokenRules().terms
    words = set(terms(query))
    return max(
        chunks,
        key=lambda chunk: len(words.intersection(terms(chunk.text))),
        default=Chunk("", "", 1, 1, ""),
    )


def _places(
    query: Query, corpus: Corpus, reader: _ChunkReader, matcher: Matcher
) -> Iterator[_Place]:
    """Yield the lines of the relevant targets of *query* that exist in *corpus*.

    A target without lines is the changed lines of its file, if the query was mined, or the chunks
    that define its symbol, or else the chunk with most words of the query.
    """
    changed = _changed_lines(query)
    for target in query.targets:
        if target.grade <= 0 or target.ref != "path":
            continue
        for path in _documents(target, corpus, matcher):
            if target.end_line:
                lines = [(target.start_line, target.end_line, target.grade)]
            elif target.symbol:
                lines = [
                    (chunk.start_line, chunk.end_line, target.grade)
                    for chunk in reader.chunks(corpus, path)
                    if target.symbol in chunk.symbols
                ]
            elif path in changed:
                lines = changed[path]
            else:
                chunk = _nearest_chunk(reader.chunks(corpus, path), query.text)
                lines = [(chunk.start_line, chunk.end_line, target.grade)]
            for start_line, end_line, grade in lines:
                yield _Place(path, start_line, end_line, grade)


def _documents(target: Target, corpus: Corpus, matcher: Matcher) -> list[str]:
    path = matcher.spelled(target.path)
    if path in corpus.by_path or not path:
        return [path] if path else []
    wanted = Target(path)
    return [other for other in corpus.by_path if matcher.credit(Hit(other), wanted)]


def _changed_lines(query: Query) -> dict[str, list[tuple[int, int, float]]]:
    """Return the lines that the commit of a mined query changed, with their grades, by path."""
    files = query.extra.get("files")
    found: dict[str, list[tuple[int, int, float]]] = {}
    for file in files if isinstance(files, list | tuple) else ():
        for region in file.get("regions", ()):
            lines, _, grade = str(region).split(" ", 1)[0].partition(":")
            first, _, last = lines.partition("-")
            found.setdefault(str(file["path"]), []).append((int(first), int(last), float(grade)))
    return found
