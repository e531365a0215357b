"""karat analyze: weak topics, the quality of embeddings, waste in an index, and trends."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from math import isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.app.search import EngineLike, chunk_engine, engine_of
from karat.corpus import Chunk, ChunkedCorpus, Corpus, chunk_corpus, create_chunker
from karat.engines.base import Engine
from karat.engines.caches import Caches, user_caches
from karat.engines.chunk_table import ChunkLocation, ChunkTable, tokens
from karat.engines.chunked import ChunkEngine
from karat.engines.embedding import DEFAULT_EMBEDDER, create_embedder
from karat.engines.embedding.base import Embedder, SupportsTooLong
from karat.engines.embedding.texts import CachedEmbedder
from karat.engines.lexical.tokens import TokenRules
from karat.engines.stages import DenseStage, texts_of
from karat.errors import InputError, MissingExtra
from karat.experiments.store import Experiment, RunStatus, Store
from karat.model import Dataset, Hit
from karat.model.analysis import (
    EmbeddingQuality,
    Flaw,
    Health,
    Topic,
    Topics,
    TopicScore,
    Trend,
    TrendPoint,
)
from karat.model.comparison import Interval
from karat.model.timings import RunResult
from karat.scoring.matching.regions import Coverage
from karat.scoring.metrics import Measure, average
from karat.scoring.score import cluster_labels, evaluate_run, mean_intervals
from karat.scoring.settings import Confidence, Scoring
from karat.scoring.stats import bootstrap_intervals, compare
from karat.scoring.stats.arrays import generator
from karat.scoring.stats.topics import group_directions, weak_groups
from karat.scoring.whole_files import judge_whole_files

# Sample sizes of other chunks and of pairs, so that a large corpus does not take an hour.
MOST_CHUNKS = 2_000
PAIRS = 20_000
# Two random texts of a healthy model have cosines around 0.2 to 0.7.
COLLAPSED = 0.9
ONE_LINE = 0.9

Vectors = NDArray[np.float64]
# Maximum number of chunks that are listed for each problem.
CHUNKS_LISTED = 20
# Instead of a model: the similarity of queries by shared words.
WORDS = "words"
MOST_TERMS = 4_096
WORDS_SHOWN = 3
READABLE = TokenRules(whole=False, stem=False)

# Maximum number of experiments that are searched.
MOST_EXPERIMENTS = 500


class EmbeddedPlace(NamedTuple):
    """A chunk as a hit, and its text as a model reads it."""

    hit: Hit
    text: str


def embedding_quality(
    gold: Dataset,
    corpus: Corpus,
    *,
    model: str | Embedder = DEFAULT_EMBEDDER,
    chunker: str = "auto",
    cached: bool = False,
    seed: int = 0,
) -> EmbeddingQuality:
    """Return how well *model* separates the relevant chunks of *corpus* from others.

    A chunk is relevant to a query where it covers some of a target with a positive grade, and
    irrelevant where its file is named by no target. Of the other chunks 2,000 are drawn by *seed*.
    With *cached*, chunks and vectors are read from this user's caches and stored there.
    """
    embedder = create_embedder(model) if isinstance(model, str) else model
    caches = user_caches(wanted=cached)
    spots = list(_embedded_places(corpus, chunker, caches))
    coverage = Coverage((spot.hit for spot in spots), match=gold.match)
    relevant = [
        {
            number
            for target in gold.targets(row)
            if target.grade > 0
            for number in coverage.of(target)
        }
        for row in range(len(gold))
    ]
    if not any(relevant):
        raise InputError(
            f"no chunk of {corpus.name} covers a target of {gold.name}; was this gold set made "
            "for these documents?"
        )
    kept = _drawn(len(spots), set().union(*relevant), seed)
    place = {spot: number for number, spot in enumerate(kept)}
    with caches.vectors() as cache:
        embed = embedder if cache is None else CachedEmbedder(embedder, cache)
        chunks = _embedded(embed, [spots[number].text for number in kept])
    asked = [row for row, covered in enumerate(relevant) if covered]
    queries = embedder.embed([gold.texts[row] for row in asked], "query").astype(np.float64)
    paths = np.array([coverage.spelled(spots[number].hit.path) for number in kept])
    near, far, shares, rows = [], [], [], []
    for vector, row in zip(queries, asked, strict=True):
        cosines = chunks @ vector
        own = cosines[[place[number] for number in relevant[row]]]
        named = [coverage.spelled(target.path) for target in gold.targets(row)]
        others = cosines[~np.isin(paths, named)]
        if len(others):
            near.append(own)
            far.append(others)
            shares.append(_separation(own, others))
            rows.append(row)
    if not shares:
        raise InputError(f"{corpus.name}: every chunk belongs to a target; more files are needed")
    filled = chunks[np.linalg.norm(chunks, axis=1) > 0]
    mean_cosine, first_direction = _spread(filled, seed)
    clusters = cluster_labels(gold, None)
    (interval,) = bootstrap_intervals(
        np.array(shares),
        bounds=(0.0, 1.0),
        seed=seed,
        clusters=clusters and [clusters[row] for row in rows],
    )
    close, apart = np.concatenate(near), np.concatenate(far)
    found = EmbeddingQuality(
        model=embedder.name,
        dimension=embedder.dimension,
        chunks=len(kept),
        zeros=len(kept) - len(filled),
        queries=len(shares),
        unplaced=len(gold) - len(asked),
        mean_cosine=mean_cosine,
        first_direction=first_direction,
        separation=float(np.mean(shares)),
        interval=interval,
        relevant=float(close.mean()),
        irrelevant=float(apart.mean()),
        distance=_distance(close, apart),
        warnings=(),
    )
    return _warned(found)


def _embedded_places(corpus: Corpus, chunker: str, caches: Caches) -> Iterator[EmbeddedPlace]:
    with caches.chunks() as cache:
        chunked = chunk_corpus(corpus, create_chunker(chunker), cache=cache)
    for document, chunks in chunked.items():
        table = ChunkTable.of([document], [chunks])
        for row, chunk in enumerate(chunks):
            location = ChunkLocation(document.path, chunk, document.traits)
            yield EmbeddedPlace(table.hit(row, 0.0), location.text)


def _drawn(total: int, needed: set[int], seed: int) -> list[int]:
    """Return the chunks to embed: all *needed* ones, and a random sample of the others."""
    others = [number for number in range(total) if number not in needed]
    if len(others) > MOST_CHUNKS:
        others = generator(seed).choice(others, MOST_CHUNKS, replace=False).tolist()
    return sorted(needed.union(others))


def _embedded(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    return embedder.embed(texts, "document").astype(np.float64)


def _spread(rows: Vectors, seed: int) -> tuple[float, float]:
    """Return the mean cosine of two rows, and the share of squared length in one direction."""
    if len(rows) < 2:
        return float("nan"), float("nan")
    rng = generator(seed)
    first = rng.integers(len(rows), size=PAIRS)
    second = (first + rng.integers(1, len(rows), size=PAIRS)) % len(rows)
    cosines = np.einsum("ij,ij->i", rows[first], rows[second])
    lengths = np.linalg.svd(rows, compute_uv=False) ** 2
    return float(cosines.mean()), float(lengths[0] / lengths.sum())


def _separation(own: Vectors, others: Vectors) -> float:
    """Return the chance that one of *own* is larger than one of *others*; a tie counts half.

    >>> _separation(np.array([0.9, 0.5]), np.array([0.5, 0.1]))
    0.875
    """
    ordered = np.sort(others)
    below = np.searchsorted(ordered, own, "left")
    ties = np.searchsorted(ordered, own, "right") - below
    return float((below + ties / 2).mean() / len(others))


def _distance(close: Vectors, apart: Vectors) -> float | None:
    spread = float(np.sqrt((close.var() + apart.var()) / 2))
    return float(close.mean() - apart.mean()) / spread if spread > 1e-9 else None


def _warned(found: EmbeddingQuality) -> EmbeddingQuality:
    warnings = []
    if found.mean_cosine >= COLLAPSED or found.first_direction >= ONE_LINE:
        warnings.append(
            f"collapsed: the mean cosine of two random chunks is {found.mean_cosine:.2f}, and "
            f"one direction explains {found.first_direction:.0%} of the vectors"
        )
    low = found.interval.low
    if found.separation <= 0.5 or low is None or low <= 0.5:
        warnings.append(
            f"no significant separation with {found.queries} queries: a relevant chunk is nearer "
            f"than another one in {found.separation:.0%} of pairs; chance is 50%"
        )
    if found.zeros:
        warnings.append(f"{found.zeros} chunks have no text that the model can embed")
    return replace(found, warnings=tuple(warnings))


def index_health(
    corpus: Corpus, engine: EngineLike, *, queries: Sequence[str] = (), k: int = 10
) -> Health:
    """Return the flaws of *corpus* as *engine* cuts it.

    The corpus is indexed only if there are *queries*: each is run with *k* hits, and chunks that
    none of them retrieves are counted. Only engines over chunks can be inspected.
    """
    built = engine_of(engine)
    try:
        inner = chunk_engine(built)
        if inner is None:
            raise InputError(f"{built.name} has no chunks to inspect; expected a built-in engine")
        recipe = inner.recipe
        chunker = create_chunker(recipe.chunker, **recipe.chunker_options)
        with inner.caches.chunks() as cache:
            chunked = chunk_corpus(corpus, chunker, cache=cache)
        return Health(
            engine=built.name,
            corpus=corpus.name,
            documents=len(corpus),
            chunks=len(chunked),
            queries=len(queries),
            flaws=tuple(_flaws(chunked, inner, _retrieved(built, corpus, queries, k))),
            fallbacks=chunked.fallbacks,
        )
    finally:
        built.close()


ChunkLines = tuple[str, int, int]


def _retrieved(
    engine: Engine, corpus: Corpus, queries: Sequence[str], k: int
) -> set[ChunkLines] | None:
    """Return the chunks that some query retrieves; None without queries."""
    if not queries:
        return None
    engine.index(corpus)
    engine.expect(queries)
    return {
        (hit.path, hit.start_line, hit.end_line)
        for query in queries
        for hit in engine.search(query, k)
    }


def _flaws(
    chunked: ChunkedCorpus, engine: ChunkEngine, retrieved: set[ChunkLines] | None
) -> Iterator[Flaw]:
    whole = list(chunked)
    total = len(whole)
    bare = [document.path for document, chunks in chunked.items() if not chunks]
    yield Flaw("file without a chunk", len(bare), len(chunked.corpus), tuple(bare[:CHUNKS_LISTED]))
    yield _flaw("empty", whole, lambda chunk: not any(map(str.isalnum, chunk.text)))
    seen: set[str] = set()
    yield _flaw("duplicate", whole, lambda chunk: _again(chunk, seen))
    for stage in engine.stages:
        if isinstance(stage, DenseStage) and stage.embedder.max_tokens is not None:
            yield _oversized(chunked, stage.embedder, stage.windows)
    if retrieved is not None:
        never = [
            _named(path, chunk)
            for path, chunk in whole
            if (path, chunk.start_line, chunk.end_line) not in retrieved
        ]
        yield Flaw("never retrieved", len(never), total, tuple(never[:CHUNKS_LISTED]))


def _flaw(
    kind: str, whole: Sequence[tuple[str, Chunk]], is_flawed: Callable[[Chunk], bool]
) -> Flaw:
    found = [_named(path, chunk) for path, chunk in whole if is_flawed(chunk)]
    return Flaw(kind, len(found), len(whole), tuple(found[:CHUNKS_LISTED]))


def _again(chunk: Chunk, seen: set[str]) -> bool:
    if chunk.id in seen:
        return True
    seen.add(chunk.id)
    return False


def _oversized(chunked: ChunkedCorpus, embedder: Embedder, windows: str) -> Flaw:
    """Return the chunks that are longer than the input of the model."""
    limit = embedder.max_tokens or 0
    named: list[str] = []
    texts: list[str] = []
    for document, chunks in chunked.items():
        for chunk in chunks:
            for text in texts_of(ChunkLocation(document.path, chunk, document.traits), windows):
                # A token has a byte at least.
                if len(text.encode("utf-8", "replace")) >= limit:
                    named.append(_named(document.path, chunk))
                    texts.append(text)
    if isinstance(embedder, SupportsTooLong):
        note, long = "", embedder.too_long(texts)
    else:
        note, long = " (estimate)", [tokens(text) > limit for text in texts]
    found = list(dict.fromkeys(name for name, is_long in zip(named, long, strict=True) if is_long))
    note = f"longer than the {limit} tokens that {embedder.name} reads{note}"
    return Flaw("oversized", len(found), len(chunked), tuple(found[:CHUNKS_LISTED]), note)


def _named(path: str, chunk: Chunk) -> str:
    return f"{path}:{chunk.start_line}-{chunk.end_line}"


def query_topics(
    gold: Dataset,
    runs: Sequence[RunResult],
    *,
    model: str | None = None,
    topics: int | None = None,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
) -> Topics:
    """Return the topics that the queries of *gold* fall into, with the score of each run on each.

    Queries are alike by their embeddings: those of *model*, or of the packaged one, or by their
    words (``words``), which also serve where the extra ``dense`` is missing. There are as many
    topics as *topics* says, or as many as separate best. A topic is weak where one of its size is
    as bad by chance in less than 5 % of cases, corrected for the number of topics.
    """
    if not runs:
        raise InputError("no run to analyze; expected one or more")
    scoring, confidence = scoring or Scoring(), confidence or Confidence()
    similar, rows = _directions(gold.texts, model)
    labels = group_directions(rows, groups=topics, seed=confidence.seed)
    lead = scoring.parsed(gold)[0]
    scoring = judge_whole_files(gold, {run.name: run.run for run in runs}, scoring)
    columns = [_scores(gold, run, lead, scoring) for run in runs]
    clusters = cluster_labels(gold, confidence.cluster)
    sign = 1.0 if lead.definition.higher_is_better else -1.0
    chances = [
        weak_groups(
            [sign * score for score in column],
            labels.tolist(),
            draws=confidence.draws,
            seed=confidence.seed,
            clusters=clusters,
        )
        for column in columns
    ]
    found = []
    for label in range(int(labels.max(initial=-1)) + 1):
        members = np.flatnonzero(labels == label)
        own = None if clusters is None else [clusters[row] for row in members]
        scores = [
            _score(
                [column[row] for row in members], chance.get(label), lead, confidence, clusters=own
            )
            for column, chance in zip(columns, chances, strict=True)
        ]
        found.append(
            Topic(
                _telling_words(gold.texts, members),
                gold.texts[_central(rows, members)],
                tuple(gold.query_ids[row] for row in members),
                tuple(scores),
            )
        )
    found.sort(key=lambda topic: sign * (topic.scores[-1].mean or 0.0))
    return Topics(
        str(lead),
        similar,
        tuple(run.name for run in runs),
        tuple(average(column) for column in columns),
        tuple(found),
        int((labels < 0).sum()),
        tuple(len(set(gold.query_ids) - set(run.run.query_ids)) for run in runs),
    )


def _directions(texts: Sequence[str], model: str | None) -> tuple[str, Vectors]:
    """Return the name of the model or method, and a vector for each text."""
    if model != WORDS:
        try:
            embedder = create_embedder(model or DEFAULT_EMBEDDER)
            return embedder.name, embedder.embed(texts, "query").astype(np.float64)
        except MissingExtra:
            if model is not None:
                raise
    return WORDS, _word_rows(texts)


def _word_rows(texts: Sequence[str]) -> Vectors:
    """Return how often each text has each term, the rarer terms counting more."""
    terms = [Counter(TokenRules().terms(text)) for text in texts]
    queries = Counter(term for counts in terms for term in counts)
    shared = [term for term, count in queries.most_common(MOST_TERMS) if count > 1]
    place = {term: number for number, term in enumerate(shared)}
    rows = np.zeros((len(texts), len(shared)))
    for row, counts in enumerate(terms):
        for term, count in counts.items():
            if term in place:
                rows[row, place[term]] = count * np.log(len(texts) / queries[term])
    return rows


def _score(
    values: Sequence[float],
    p: float | None,
    lead: Measure,
    confidence: Confidence,
    *,
    clusters: Sequence[str] | None,
) -> TopicScore:
    interval = _interval(values, lead, confidence, clusters)
    mean = average(values)
    weak = p is not None and p <= round(1.0 - confidence.level, 12)
    return TopicScore(None if isnan(mean) else mean, interval, p, weak)


def _telling_words(texts: Sequence[str], members: NDArray[np.intp]) -> tuple[str, ...]:
    """Return the words that queries of a topic have more often than others do."""
    inside, outside = Counter[str](), Counter[str]()
    own = set(members.tolist())
    for row, text in enumerate(texts):
        (inside if row in own else outside).update(set(READABLE.terms(text)))
    others = max(len(texts) - len(own), 1)
    telling = {word: count / len(own) - outside[word] / others for word, count in inside.items()}
    return tuple(sorted(telling, key=lambda word: (-telling[word], word))[:WORDS_SHOWN])


def _central(rows: Vectors, members: NDArray[np.intp]) -> int:
    own = rows[members]
    return int(members[(own @ own.sum(axis=0)).argmax()])


class Past(NamedTuple):
    """One run of a configuration: its id, when it ended, and its score on each query."""

    run: str
    when: datetime
    scores: Sequence[float]


def trends(
    store: Store,
    experiment: Experiment,
    *,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
) -> tuple[Trend, ...]:
    """Return how the configurations of *experiment* did over time, on its gold set.

    A configuration is what has the same name; its runs are the completed ones of all experiments
    on the same gold set. All are scored again, in the same way.
    """
    scoring, confidence = scoring or Scoring(), confidence or Confidence()
    gold = store.dataset(experiment.dataset)
    lead = scoring.parsed(gold)[0]
    past: dict[str, list[Past]] = {run.label: [] for run in experiment.runs}
    for other in store.experiments(limit=MOST_EXPERIMENTS):
        if other.dataset != experiment.dataset:
            continue
        for run in other.runs:
            if run.label in past and run.status is RunStatus.COMPLETED:
                measured = store.measured(run.id)
                judged = judge_whole_files(gold, {run.label: measured.run}, scoring)
                scores = _scores(gold, measured, lead, judged)
                past[run.label].append(Past(run.id, run.ended or other.created, scores))
    clusters = cluster_labels(gold, confidence.cluster)
    found = tuple(
        trend_of(label, runs, lead, confidence, clusters=clusters)
        for label, runs in past.items()
        if runs
    )
    if not found:
        raise InputError(f"experiment {experiment.id} has no completed run yet")
    return found


def trend_of(
    label: str,
    past: Sequence[Past],
    lead: Measure,
    confidence: Confidence,
    *,
    clusters: Sequence[str] | None = None,
) -> Trend:
    """Return the trend of *past*, all on the same queries.

    Each run is compared, query by query, with the mean of the runs since the last significant
    change, so that a slow drift is noticed as well. A change is real if its interval excludes 0 and
    the sign-flip test agrees; p is multiplied by the number of runs that are tested. Queries that
    share a label in *clusters* are drawn and flipped together.
    """
    ordered = sorted(past, key=lambda each: (each.when, each.run))
    tests = max(len(ordered) - 1, 1)
    level: list[Sequence[float]] = []
    points = []
    for number, (run, when, scores) in enumerate(ordered):
        interval = _interval(scores, lead, confidence, clusters)
        mean = average(scores)
        change = p = None
        verdict = "first"
        if number:
            compared = compare(
                np.array([np.mean(level, axis=0), scores])[:, :, None],
                systems=["level", "run"],
                metrics=[str(lead)],
                bounds=lead.bounds,
                level=confidence.level,
                draws=confidence.draws,
                seed=confidence.seed,
                clusters=clusters,
            )
            (found,) = compared.differences
            change = found.difference
            p = None if found.p is None else min(1.0, found.p * tests)
            verdict = "real" if replace(found, p_corrected=p).is_significant else "noise"
        if verdict == "real":
            level = []
        level.append(scores)
        known = None if isnan(mean) else mean
        points.append(TrendPoint(run, when, known, interval, change, p, verdict))
    return Trend(label, str(lead), tuple(points))


def _scores(gold: Dataset, run: RunResult, lead: Measure, scoring: Scoring) -> list[float]:
    """Return the score of each query on *lead*."""
    evaluation = evaluate_run(
        gold,
        run.run,
        scoring=scoring.with_measures([lead]),
        confidence=None,
        slices={},
        name=run.name,
    )
    return list(evaluation.table.columns[str(lead)])


def _interval(
    values: Sequence[float],
    lead: Measure,
    confidence: Confidence,
    clusters: Sequence[str] | None,
) -> Interval:
    (interval,) = mean_intervals([values], [lead], confidence, clusters=clusters)
    if interval is None:
        raise InputError(f"{lead} is not a mean over queries; expected a measure such as ndcg@10")
    return interval
