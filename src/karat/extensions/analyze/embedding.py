"""How well an embedding model separates relevant chunks from others."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Corpus, chunk_corpus, create_chunker
from karat.engines.caches import Caches, user_caches
from karat.engines.chunk_table import ChunkLocation, ChunkTable
from karat.engines.embedding import DEFAULT_EMBEDDER, create_embedder
from karat.engines.embedding.base import Embedder, as_embedder
from karat.engines.embedding.texts import CachedEmbedder
from karat.errors import InputError
from karat.extensions.analyze.records import EmbeddingQuality
from karat.model import Dataset, Hit
from karat.scoring.matching.regions import Coverage
from karat.scoring.score import cluster_labels
from karat.scoring.stats import bootstrap_intervals
from karat.scoring.stats.arrays import generator

# Sample sizes of other chunks and of pairs, so that a large corpus does not take an hour.
MOST_CHUNKS = 2_000
PAIRS = 20_000
# Two random texts of a healthy model have cosines around 0.2 to 0.7.
COLLAPSED = 0.9
ONE_LINE = 0.9

Vectors = NDArray[np.float64]


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
    embedder = create_embedder(model) if isinstance(model, str) else as_embedder(model)
    caches = user_caches(enabled=cached)
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
    sample = _drawn(len(spots), set().union(*relevant), seed)
    position = {spot: number for number, spot in enumerate(sample)}
    with caches.vectors() as cache:
        embed = embedder if cache is None else CachedEmbedder(embedder, cache)
        chunks = _embedded(embed, [spots[number].text for number in sample])
    asked = [row for row, covered in enumerate(relevant) if covered]
    queries = embedder.embed([gold.texts[row] for row in asked], "query").astype(np.float64)
    paths = np.array([coverage.spelled(spots[number].hit.path) for number in sample])
    near, far, shares, rows = [], [], [], []
    for vector, row in zip(queries, asked, strict=True):
        cosines = chunks @ vector
        own = cosines[[position[number] for number in relevant[row]]]
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
    quality = EmbeddingQuality(
        model=embedder.name,
        dimension=embedder.dimension,
        chunks=len(sample),
        zeros=len(sample) - len(filled),
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
    return _warned(quality)


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


def _warned(quality: EmbeddingQuality) -> EmbeddingQuality:
    warnings = []
    if quality.mean_cosine >= COLLAPSED or quality.first_direction >= ONE_LINE:
        warnings.append(
            f"collapsed: the mean cosine of two random chunks is {quality.mean_cosine:.2f}, and "
            f"one direction explains {quality.first_direction:.0%} of the vectors"
        )
    low = quality.interval.low
    if quality.separation <= 0.5 or low is None or low <= 0.5:
        warnings.append(
            f"no significant separation with {quality.queries} queries: a relevant chunk is nearer "
            f"than another one in {quality.separation:.0%} of pairs; chance is 50%"
        )
    if quality.zeros:
        warnings.append(f"{quality.zeros} chunks have no text that the model can embed")
    return replace(quality, warnings=tuple(warnings))
