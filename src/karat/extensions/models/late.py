"""Late interaction: ColBERT-style models with one vector per token, for retrieval and reranking."""

import json
from collections.abc import Hashable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from karat.engines.base import Progress
from karat.engines.caches import user_caches
from karat.engines.chunk_index import IndexRecipe
from karat.engines.chunk_table import ChunkLocation, Numbers
from karat.engines.chunked import ChunkEngine
from karat.engines.embedding import Kind
from karat.engines.embedding.texts import embeddable, unit
from karat.engines.fusion import Scores
from karat.engines.ranking import PLAIN
from karat.engines.registry import EngineInfo
from karat.engines.stages import RowStage
from karat.errors import InputError
from karat.extensions.models.device import Batches, choice_of, put, to_numpy
from karat.extensions.models.transformer import LoadedModel, load_pretrained

TEXTS_A_STEP = 32
# Rows of token vectors that are converted to float32 at a time: 32 MB in 128 dimensions.
ROWS_A_BLOCK = 65_536
# About 8,000 chunks of other snapshots.
SPARE_BYTES = 256 * 1024**2


class TokenVectors(NamedTuple):
    """The token vectors of a text as bytes, with the scale of each row."""

    codes: NDArray[np.int8]
    steps: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Return the bytes of both."""
        return self.codes.nbytes + self.steps.nbytes


def as_bytes(rows: NDArray[np.float32]) -> TokenVectors:
    """Return *rows* in 255 steps each.

    >>> as_bytes(np.array([[0.6, -0.8]], np.float32)).codes.tolist()
    [[95, -127]]
    """
    steps = np.abs(rows).max(axis=1, keepdims=True, initial=0) / np.float32(127)
    # No step is 0, not even for a row of zeros or of numbers that are hardly more.
    steps = np.where(steps > 0, steps, np.float32(1))
    return TokenVectors(np.rint(rows / steps).astype(np.int8), steps)


def mean_max_similarity(
    held: Sequence[TokenVectors], asked: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return for each text the mean over the rows of *asked* of the largest product with a row.

    The sum of ColBERT (Khattab and Zaharia 2020), divided by the number of tokens of the query. A
    text without tokens scores 0.
    """
    lengths = np.array([len(text.codes) for text in held], np.intp)
    scores = np.zeros(len(held), np.float32)
    if len(asked) and lengths.any():
        # One product for all: many small ones spend their time waiting for threads.
        products = np.concatenate([text.codes for text in held]).astype(np.float32) @ asked.T
        products *= np.concatenate([text.steps for text in held])
        filled = np.flatnonzero(lengths)
        starts = (np.cumsum(lengths) - lengths)[filled]
        scores[filled] = np.maximum.reduceat(products, starts).mean(axis=1)
    return scores


class TokenEncoder(Protocol):
    """Gives a vector for each token: a ColBERT-style model, or an embedder that can."""

    def token_vectors(
        self, texts: Sequence[str], kind: Kind = "document"
    ) -> Sequence[NDArray[np.float32]]:
        """Return, for each text, one row of length 1 per token; no rows for an empty text."""
        ...


class ColbertEncoder:
    """A loaded MultiVectorEncoder of sentence-transformers.

    The model's own prefixes, lengths, query expansion and skip list are used.
    """

    def __init__(self, loaded: LoadedModel, *, name: str) -> None:
        """Store the model."""
        model, self.placement = loaded
        put(model, self.placement)
        self._batches = Batches(self.placement)
        self.name = name
        self.dimension = int(model.get_embedding_dimension())
        self._model = model
        # A fast tokenizer cannot be used by two threads at once.
        self._lock = Lock()

    @property
    def texts_at_once(self) -> int:
        """Return how many texts to encode in one call."""
        return self._batches.texts_at_once

    def token_vectors(
        self, texts: Sequence[str], kind: Kind = "document"
    ) -> list[NDArray[np.float32]]:
        """Return, for each text, one row of length 1 per token; no rows for an empty text."""
        cleaned = [embeddable(text) for text in texts]
        filled = [text for text in cleaned if text.strip()]
        encode = self._model.encode_query if kind == "query" else self._model.encode_document
        rows: list[Any] = []
        if filled:
            with self._lock:
                rows = self._batches.run(
                    lambda size: encode(
                        filled,
                        # Padded beside others, a query would differ from itself in the last bits.
                        batch_size=1 if kind == "query" else size,
                        show_progress_bar=False,
                        convert_to_numpy=False,
                    )
                )
        vectors = iter(rows)
        nothing = np.zeros((0, self.dimension), np.float32)
        return [unit(to_numpy(next(vectors))) if text.strip() else nothing for text in cleaned]


def colbert_encoder(argument: str) -> ColbertEncoder:
    """Return the model *argument*, a hub id or a folder; code from the hub never runs.

    The layouts are those of sentence-transformers, PyLate and Stanford's ColBERT. A transformer
    without a trained projection is rejected.
    """
    loaded = load_pretrained("MultiVectorEncoder", argument, spec="colbert")
    if not _has_projection(choice_of(argument, spec="colbert").model):
        raise InputError(
            f"colbert:{argument}: the model has no trained projection of its tokens; expected a "
            "ColBERT model, or maxsim:st:<hub id or folder> for an ordinary encoder"
        )
    return ColbertEncoder(loaded, name=f"colbert:{argument}")


def _has_projection(argument: str) -> bool:
    """Return whether the files of the loaded model say how tokens are projected.

    sentence-transformers gives a bare transformer, and an encoder of one vector per text, a
    projection of random numbers.
    """
    saved = _content(argument, "config_sentence_transformers.json") or {}
    if saved.get("model_type") in ("MultiVectorEncoder", "ColBERT"):
        return True
    if (modules := _content(argument, "modules.json")) is not None:
        return any(str(module["type"]).rpartition(".")[2] == "Dense" for module in modules)
    names = (_content(argument, "config.json") or {}).get("architectures") or ()
    return any(name == "HF_ColBERT" or name.endswith("ForRetrieval") for name in names)


def _content(argument: str, name: str) -> Any:
    """Return the JSON file *name* of a model in a folder, or in the cache of the hub, or None."""
    path = Path(argument) / name
    if not Path(argument).is_dir():
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(argument, name)
        path = Path(cached) if isinstance(cached, str) else path
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


class LateStage(RowStage):
    """The mean over the query's tokens of the largest cosine to a token of the chunk.

    Every chunk is compared, exactly up to the rounding of token vectors to bytes. A chunk takes
    about its tokens times the dimension in bytes: 32 KB for 256 tokens in 128 dimensions. Beside
    the shown chunks, at most *spare_bytes* of those shown before stay encoded.
    """

    name = "late"
    by_words = False

    def __init__(
        self,
        encoder: TokenEncoder,
        *,
        name: str,
        texts_at_once: int = TEXTS_A_STEP,
        spare_bytes: int = SPARE_BYTES,
    ) -> None:
        """Store the *encoder*; nothing is encoded yet."""
        self._texts_at_once = max(texts_at_once, TEXTS_A_STEP)
        self.encoder = encoder
        self._spare_bytes = spare_bytes
        self._model = name
        self._progress: Progress | None = None
        self.clear()

    def clear(self) -> None:
        """Start again with no rows."""
        # Those shown longest ago come first.
        self._known: dict[str, TokenVectors] = {}
        self._texts: list[str] = []
        self._blocks: list[list[TokenVectors]] = []

    @property
    def identity(self) -> Hashable:
        """Return the model."""
        return type(self), self._model

    def watch(self, progress: Progress | None) -> None:
        """Report to *progress* how many texts of how many are encoded, while indexing."""
        self._progress = progress

    def grow(self, chunks: Sequence[ChunkLocation]) -> None:
        """Add *chunks*; they are encoded when they are shown."""
        self._texts += [location.text for location in chunks]

    def show(self, rows: Numbers) -> None:
        """Score *rows*; texts that are not known are encoded."""
        texts = [self._texts[row] for row in rows.tolist()]
        self._blocks = [[]]
        self._encode(texts)
        size = 0
        for text in texts:
            held = self._known[text]
            if self._blocks[-1] and size + len(held.codes) > ROWS_A_BLOCK:
                self._blocks.append([])
                size = 0
            self._blocks[-1].append(held)
            size += len(held.codes)

    def _encode(self, texts: Sequence[str]) -> None:
        """Encode the new ones of *texts*; forget the oldest others that are too many."""
        by_text = {text: self._known.pop(text, None) for text in texts}
        spare = sum(held.nbytes for held in self._known.values())
        while spare > self._spare_bytes:
            spare -= self._known.pop(next(iter(self._known))).nbytes
        self._known.update((text, held) for text, held in by_text.items() if held is not None)
        new = [text for text, held in by_text.items() if held is None]
        size = self._texts_at_once
        for start in range(0, len(new), size):
            some = new[start : start + size]
            rows = self.encoder.token_vectors(some, "document")
            self._known.update(zip(some, map(as_bytes, rows), strict=True))
            if self._progress:
                self._progress(start + len(some), len(new))

    def index_bytes(self) -> int:
        """Return the bytes of the token vectors."""
        return sum(held.nbytes for held in self._known.values())

    def scores(self, query: str) -> Scores:
        """Return the score of every chunk; negative ones count 0."""
        asked = self.encoder.token_vectors([query], "query")[0]
        parts = [mean_max_similarity(block, asked) for block in self._blocks]
        scores: Scores = np.maximum(np.concatenate(parts), np.float32(0))
        return scores


def colbert(
    *,
    model: str,
    chunker: str = "auto",
    unit: str = "lines",
    threshold: float = 0.0,
    context: str = "",
    cache: bool = True,
) -> ChunkEngine:
    """Return late interaction over all chunks by a ColBERT-style *model*, without code ranking.

    *model* is a hub id or a folder. A *threshold* applies to the scores themselves.
    """
    encoder = colbert_encoder(model.removeprefix("colbert:"))
    recipe = IndexRecipe(
        chunker=chunker,
        unit=unit,
        threshold=threshold,
        by_score=True,
        rules=PLAIN,
        context=context,
    )
    stages = [LateStage(encoder, name=encoder.name, texts_at_once=encoder.texts_at_once)]
    return ChunkEngine(stages, name="colbert", recipe=recipe, caches=user_caches(cache))


ENGINE = EngineInfo(
    name="colbert",
    factory="karat.extensions.models.late:colbert",
    package="sentence_transformers",
    extra="transformers",
    shares="chunks",
    mode="colbert",
    axes=frozenset({"chunker", "late_model", "context"}),
    absolute_scores=True,
)
