"""The reranking engine: it retrieves hits with another engine, then reorders them."""

import threading
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from time import perf_counter_ns

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Chunk, Corpus, Document, create_chunker, header
from karat.corpus.chunkers.base import chunks_of, lines_of
from karat.engines.base import Engine, ExplainedHit, Progress, SearchStep
from karat.engines.embedding import loaded_once
from karat.engines.engine_group import Recent
from karat.engines.fusion import spread
from karat.engines.registry import check_threshold, count_above
from karat.engines.rerank.base import DEFAULT_RERANKER, Reranker, create_reranker
from karat.engines.spec import build, model_text
from karat.errors import EngineError, InputError
from karat.model import Hit
from karat.model.timings import spent, total

MOST_CHARACTERS = 50_000_000

# A path, its first line and its last.
Range = tuple[str, int, int]


class Passages:
    r"""The texts of ranges of lines in *corpus*, read on first use.

    A header of path, scope and symbols stands before the lines: that of the same chunk, where the
    lines are one, and else of the chunk in which they begin. A whole file has only its path.

    >>> from karat.corpus import from_texts
    >>> passages = Passages(from_texts({"a.md": "# Login\n\nGive a password.\n"}))
    >>> passages.texts([Hit("a.md", 1.0, 3, 3), Hit("a.md", 0.5)])
    ['a.md\nLogin\nGive a password.\n', 'a.md\n# Login\n\nGive a password.\n']
    """

    def __init__(self, corpus: Corpus) -> None:
        """Store *corpus*; nothing is read yet."""
        self.corpus = corpus
        self._chunker = create_chunker()
        self._digest = self._chunker.spec.digest
        self._recent = Recent(self._read, most=MOST_CHARACTERS, size=len)

    def apart(self) -> "Passages":
        """Return a reader that shares the texts, but reuses only what it has read itself."""
        other = copy(self)
        other._recent = self._recent.apart()  # noqa: SLF001 - a copy of this one
        return other

    def texts(self, hits: Sequence[Hit]) -> list[str]:
        """Return the text of each hit."""
        return self._recent.get([(hit.path, hit.start_line, hit.end_line) for hit in hits])

    def _read(self, ranges: Sequence[Range]) -> list[str]:
        documents = [self.corpus.by_path[path] for path in dict.fromkeys(r[0] for r in ranges)]
        read = zip(documents, self.corpus.reader(documents), strict=True)
        files = {document.path: (text, self._chunks(document, text)) for document, text in read}
        return [passage(*files[path], (path, start, end)) for path, start, end in ranges]

    def _chunks(self, document: Document, text: str) -> Sequence[Chunk]:
        split = self._chunker.split(text, document.language)
        return chunks_of(split, blob=document.blob, digest=self._digest)


def passage(text: str, chunks: Sequence[Chunk], span: Range) -> str:
    """Return the lines at *span* of a file, which has *text* and *chunks*, with their header."""
    path, start, end = span
    if start == 0:
        return f"{path}\n{text}"
    for chunk in chunks:
        if (chunk.start_line, chunk.end_line) == (start, end):
            return f"{header(chunk, path)}\n{chunk.text}"
    around = [chunk for chunk in chunks if chunk.start_line <= start]
    lines = "".join(lines_of(text)[start - 1 : end])
    return f"{header(around[-1], path) if around else path}\n{lines}"


DEPTH = 30


class RerankEngine(Engine):
    """The first *depth* hits of *engine* in the order of a reranker, the others after them.

    The order is that of ``(1 - weight) * first + weight * second``, both spread over 0 to 1 among
    these hits; equal ones stay as they were. A hit after them scores at least 1 less than they do,
    and keeps its distance to its neighbours. Hits below *threshold* are dropped.
    """

    def __init__(
        self,
        engine: Engine,
        reranker: Reranker,
        *,
        depth: int = DEPTH,
        weight: float | None = None,
        threshold: float = 0.0,
    ) -> None:
        """Put *reranker* after *engine*; None leaves the *weight* to the reranker."""
        weight = reranker.weight if weight is None else weight
        if depth < 1:
            raise InputError(f"rerank: depth is {depth}; expected a number of hits from 1 up")
        if not 0.0 <= weight <= 1.0:
            raise InputError(f"rerank: weight is {weight}; expected 0 to 1")
        self.name = f"{engine.name}+{reranker.name}"
        self.engine = engine
        self.reranker = reranker
        self.depth = depth
        self.weight = weight
        self.threshold = check_threshold(threshold)
        # How the text behind a hit is read.
        self.read: Callable[[Corpus], Passages] = Passages
        self.thread_safe = engine.thread_safe
        self._passages: Passages | None = None
        self._last = threading.local()

    def index(self, corpus: Corpus) -> None:
        """Index *corpus* for the first search; texts are read when they are found."""
        self._passages = None
        self.engine.index(corpus)
        self._passages = self.read(corpus)

    def show(self, corpus: Corpus) -> None:
        """Search *corpus* from now on; as cheap as the first search makes it."""
        self._passages = None
        self.engine.show(corpus)
        self._passages = self.read(corpus)

    def expect(self, queries: Sequence[str]) -> None:
        """Prefetch work for all of *queries* in the first engine and the reranker."""
        self.engine.expect(queries)
        self.reranker.expect(queries)

    def search(self, query: str, k: int) -> list[Hit]:
        """Return the best *k* hits."""
        return [explained.hit for explained in self.explain(query, k)]

    def explain(self, query: str, k: int) -> list[ExplainedHit]:
        """Return the best *k* hits with the scores of the first search and of the reranker."""
        hits = self._first(query, k)
        scores = [explained.hit.score for explained in hits]
        return hits[: count_above(scores, self.threshold, by_score=True)]

    def steps(self, query: str, k: int) -> list[SearchStep]:
        """Return the first *k* hits after each step of the first search, and of this one."""
        deep = max(k, self.depth)
        steps = [step._replace(hits=step.hits[:k]) for step in self.engine.steps(query, deep)]
        steps.append(SearchStep("rerank", [explained.hit for explained in self._first(query, k)]))
        if self.threshold:
            steps.append(SearchStep("threshold", self.search(query, k)))
        return steps

    def phases_ns(self) -> Mapping[str, int]:
        """Return how long finding and reranking took in this thread's last search."""
        return dict(getattr(self._last, "phases", {}))

    def metadata(self) -> Mapping[str, object]:
        """Return the metadata of the first search, with the tokens and the cost of both."""
        first = self.engine.metadata()
        second = self.reranker.metadata()
        if not second:
            return first
        both = total([spent(first), spent(second)])
        known = {"tokens": both.tokens, "cost": both.cost}
        return {**first, **{name: value for name, value in known.items() if value is not None}}

    def work(self) -> Mapping[str, float]:
        """Return the work of indexing in the first engine."""
        return self.engine.work()

    def index_bytes(self) -> int:
        """Return the bytes of the first search's index."""
        return self.engine.index_bytes()

    def watch(self, progress: Progress | None) -> None:
        """Let the first engine report the progress of its indexing."""
        self.engine.watch(progress)

    def reset(self) -> None:
        """Reset the first engine; the reranker caches no queries."""
        self.engine.reset()

    def close(self) -> None:
        """Close the first engine and the reranker, and release the corpus."""
        self._passages = None
        self.engine.close()
        self.reranker.close()

    def _first(self, query: str, k: int) -> list[ExplainedHit]:
        """Return the first *k* hits, without a threshold."""
        if self._passages is None:
            raise EngineError(f"{self.name}: search was called before index")
        if k < 1:
            raise InputError(f"k is {k!r}; expected a whole number from 1 up")
        started = perf_counter_ns()
        retrieved_hits = self._retrieved(query, max(k, self.depth))
        retrieved = perf_counter_ns()
        hits = self._reranked(query, retrieved_hits, self._passages) if retrieved_hits else []
        self._last.phases = {
            "retrieve": retrieved - started,
            # Its name shows whether the latency is that of the model.
            "rerank from cache" if self.reranker.from_cache() else "rerank": (
                perf_counter_ns() - retrieved
            ),
        }
        return hits[:k]

    def _retrieved(self, query: str, k: int) -> Sequence[ExplainedHit]:
        return [
            hit if hit.stages else hit._replace(stages={self.engine.name: hit.hit.score})
            for hit in self.engine.explain(query, k)
        ]

    def _reranked(
        self, query: str, retrieved_hits: Sequence[ExplainedHit], passages: Passages
    ) -> list[ExplainedHit]:
        head, tail = retrieved_hits[: self.depth], retrieved_hits[self.depth :]
        second = self._second(query, passages.texts([explained.hit for explained in head]))
        first = np.array([explained.hit.score for explained in head])
        blend = (1 - self.weight) * spread(first) + self.weight * spread(second)
        order = np.argsort(-blend, kind="stable")
        hits = [
            ExplainedHit(
                head[index].hit._replace(score=float(blend[index])),
                {**head[index].stages, "rerank": float(second[index])},
                head[index].ranking,
            )
            for index in order
        ]
        return hits + _below(float(blend[order[-1]]) - 1, tail)

    def _second(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        scores = np.asarray(self.reranker.scores(query, texts), np.float64)
        if scores.shape != (len(texts),):
            raise EngineError(
                f"{self.reranker.name}: scores of shape {scores.shape} for {len(texts)} texts; "
                "expected one each"
            )
        if not np.isfinite(scores).all():
            raise EngineError(f"{self.reranker.name}: a score is not finite; is the model damaged?")
        return scores


def rerank(
    *,
    over: str | Mapping[str, object] = "bm25",
    model: str | Mapping[str, object] = DEFAULT_RERANKER,
    depth: int = DEPTH,
    weight: float | None = None,
    threshold: float = 0.0,
) -> RerankEngine:
    """Return the engine *over* with its first hits reranked by a *model*.

    *model* is ``maxsim`` or ``maxsim:<embedder>`` (late interaction), ``cross:<hub id or folder>``
    or ``onnx-cross:<folder>`` (cross-encoders), or remote: ``jina:<model>``, ``cohere:<model>``,
    ``voyage:<model>``, ``vllm:<model>@<url>``, ``tei:<url>``, also as a mapping with ``provider``,
    ``model``, ``url`` and options. *weight* is the share of its scores; the default is 0.3 for
    late interaction and 1 for the others. *threshold* applies to the combined score, which is 0 to
    1 for the hits that were read.
    """
    with loaded_once({}):
        engine, reranker = build(over), create_reranker(model_text(model))
    return RerankEngine(engine, reranker, depth=depth, weight=weight, threshold=threshold)


def _below(top: float, tail: Sequence[ExplainedHit]) -> list[ExplainedHit]:
    """Return *tail* with the score *top* for its first hit, and the distances as they were."""
    if not tail:
        return []
    lift = top - tail[0].hit.score
    return [entry._replace(hit=entry.hit._replace(score=entry.hit.score + lift)) for entry in tail]
