"""Embeddings by an ONNX graph, on the processor or on a GPU, without torch."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding.base import Embedder, Kind
from karat.engines.embedding.texts import Vectors, embed_distinct, embeddable, unit
from karat.engines.nearest import processors
from karat.errors import InputError, MissingExtra
from karat.extensions.models.device import AUTO, choice_of
from karat.extensions.models.encoder import GRAPH_VERSION
from karat.extensions.models.tokenizer import ModelTokenizer

Pooling = Literal["first", "mean"]

# Larger batches of long texts leave the processor's cache and gain nothing; a GPU needs them.
MOST_TOKENS_A_BATCH = 4096
MOST_TOKENS_ON_GPU = 65_536
CPU = "CPUExecutionProvider"
# The first that is installed runs a graph of a folder; what it lacks runs on the processor. AMD's
# devices are called cuda, as torch does.
ON_GPU = {
    "CUDAExecutionProvider": "cuda",
    "ROCMExecutionProvider": "cuda",
}


class OnnxEmbedder(Embedder):
    """Runs a graph from ``input_ids`` to token vectors, and pools these to one vector per text.

    A graph that takes no ``attention_mask`` gets one text at a time, so that no text is padded and
    none depends on another; other graphs get queries one at a time, and documents in batches sorted
    by length. Each batch runs in one thread, as many at once as *threads* says (all processors
    where it is None).
    """

    has_token_vectors = True

    def __init__(
        self,
        graph: bytes,
        tokenizer: str,
        *,
        name: str,
        identity: str,
        pooling: Pooling,
        max_tokens: int,
        prefixes: dict[Kind, str] | None = None,
        threads: int | None = None,
        provider: str = CPU,
    ) -> None:
        """Load *graph* and the JSON of *tokenizer*; *identity* is the hash of the weights."""
        self.name = name
        self.max_tokens = max_tokens
        self._pooling = pooling
        self._prefixes = prefixes or {}
        self._tokenizer = ModelTokenizer(tokenizer, max_tokens=max_tokens, where=name)
        self._session = open_session(graph, name, provider)
        on_gpu = self._session.get_providers()[0] != CPU
        self._threads = 1 if on_gpu else threads or processors()
        self._most_tokens = MOST_TOKENS_ON_GPU if on_gpu else MOST_TOKENS_A_BATCH
        self.texts_at_once = TEXTS_ON_GPU if on_gpu else 1
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0].name
        self._dimension = int(self._run([[0, 0]])[0].shape[1])
        settings = (GRAPH_VERSION, identity, pooling, max_tokens, sorted(self._prefixes.items()))
        self.digest = sha256(repr(settings).encode()).hexdigest()

    @property
    def dimension(self) -> int:
        """Return the length of a row."""
        return self._dimension

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Return one row of length 1 per text."""
        pool = _first if self._pooling == "first" else _mean
        return embed_distinct(
            texts,
            self._dimension,
            lambda some: unit(np.stack(self._encoded(some, kind, pool))),
        )

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        """Return for each document whether some of it is past ``max_tokens``."""
        prefix = self._prefixes.get("document", "")
        return self._tokenizer.too_long([prefix + embeddable(text) for text in texts])

    def token_vectors(self, texts: Sequence[str], kind: Kind = "document") -> list[Vectors]:
        """Return one row of length 1 for each token of each text, the special ones included."""
        cleaned = [embeddable(text) for text in texts]
        filled = [text for text in cleaned if text.strip()]
        vectors = iter(self._encoded(filled, kind, unit))
        nothing = np.zeros((0, self._dimension), np.float32)
        return [next(vectors) if text.strip() else nothing for text in cleaned]

    def _encoded(
        self, texts: list[str], kind: Kind, pool: Callable[[Vectors], Vectors]
    ) -> list[Vectors]:
        prefix = self._prefixes.get(kind, "")
        ids = self._tokenizer.encode([prefix + text for text in texts])
        batches = self._batches(ids, alone=kind == "query")
        rows: list[Vectors] = [np.empty(0, np.float32)] * len(ids)

        def fill(batch: list[int]) -> None:
            for number, tokens in zip(batch, self._run([ids[i] for i in batch]), strict=True):
                rows[number] = pool(tokens)

        if len(batches) > 1 and self._threads > 1:
            with ThreadPoolExecutor(self._threads) as pool_of_threads:
                list(pool_of_threads.map(fill, batches))
        else:
            for batch in batches:
                fill(batch)
        return rows

    def _batches(self, ids: list[list[int]], *, alone: bool) -> list[list[int]]:
        """Return the texts' numbers in batches, longest first, so that threads end together."""
        order = sorted(range(len(ids)), key=lambda number: -len(ids[number]))
        if alone or "attention_mask" not in self._inputs:
            return [[number] for number in order]
        batches: list[list[int]] = []
        for number in order:
            longest = len(ids[batches[-1][0]]) if batches else 0
            if batches and (len(batches[-1]) + 1) * longest <= self._most_tokens:
                batches[-1].append(number)
            else:
                batches.append([number])
        return batches

    def _run(self, ids: list[list[int]]) -> list[Vectors]:
        """Return the token vectors of texts that run together."""
        length = max(map(len, ids))
        padded: NDArray[np.int64] = np.zeros((len(ids), length), np.int64)
        mask = np.zeros_like(padded)
        for row, numbers in enumerate(ids):
            padded[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        known = {
            "input_ids": padded,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(padded),
        }
        feed = {name: known[name] for name in self._inputs}
        (out,) = self._session.run([self._output], feed)
        return [out[row, : len(numbers)] for row, numbers in enumerate(ids)]


def _first(tokens: Vectors) -> Vectors:
    first: Vectors = tokens[0]
    return first


def _mean(tokens: Vectors) -> Vectors:
    mean: Vectors = tokens.mean(axis=0)
    return mean


def open_session(graph: bytes, name: str, provider: str = CPU) -> Any:
    """Return a session that runs *graph*, each call in one thread; its input is token numbers."""
    try:
        import onnxruntime
    except ImportError:
        raise MissingExtra("onnxruntime", extra="dense", purpose="dense or hybrid search") from None
    options = onnxruntime.SessionOptions()
    # Texts run beside each other, each on one processor: no thread waits for another.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Higher levels would put the slow fused operators back that the graph avoids.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        providers = list(dict.fromkeys((provider, CPU)))
        session = onnxruntime.InferenceSession(graph, options, providers=providers)
    except Exception as error:  # a class for each kind of damage
        raise InputError(f"{name}: not a readable ONNX model: {error}") from error
    given = {put.name for put in session.get_inputs()}
    if not {"input_ids"} <= given <= {"input_ids", "attention_mask", "token_type_ids"}:
        raise InputError(
            f"{name}: the model has the inputs {', '.join(sorted(given))}; expected  "
            "input_ids, optionally with attention_mask and token_type_ids"
        )
    return session


def gpu_provider(device: str) -> str:
    """Return the provider of ONNX Runtime for *device*; CPU where no GPU can be used."""
    if device == "cpu":
        return CPU
    import onnxruntime

    installed = onnxruntime.get_available_providers()
    named = [name for name in ON_GPU if name in installed and device in (AUTO, ON_GPU[name])]
    if not named and device != AUTO:
        raise InputError(
            f"device={device}: the installed ONNX Runtime has {', '.join(installed)}; "
            "install its build for this device, or remove the option"
        )
    return named[0] if named else CPU


def onnx_device() -> str:
    """Return where graphs of folders compute by default, "" without ONNX Runtime."""
    try:
        return ON_GPU.get(gpu_provider(AUTO), "the processor")
    except ImportError:
        return ""


# Quantised models first: they are faster, but not on a GPU.
MODELS = ("model_quantized.onnx", "model.onnx", "onnx/model_quantized.onnx", "onnx/model.onnx")
MODELS_ON_GPU = ("model.onnx", "onnx/model.onnx", *MODELS)
FEW_TOKENS = 512
TEXTS_ON_GPU = 4096


def onnx_folder(
    argument: str,
    *,
    pooling: Pooling | None = None,
    max_tokens: int | None = None,
    threads: int | None = None,
) -> OnnxEmbedder:
    """Return the embedder in the folder *argument*.

    Pooling, length and prefixes are those of the sentence-transformers files beside the model;
    without such files the mean of the tokens, 512 tokens and no prefix.
    """
    choice = choice_of(argument, spec="onnx")
    if choice.precision != AUTO:
        raise InputError(f"onnx:{argument}: the precision of a graph is fixed; remove the option")
    provider = gpu_provider(choice.device) if find_spec("onnxruntime") else CPU
    names = MODELS if provider == CPU else MODELS_ON_GPU
    folder, graph, description = read_folder(choice.model, spec="onnx", names=names)
    return OnnxEmbedder(
        graph,
        description,
        name=f"onnx:{argument}",
        identity=sha256(graph + description.encode()).hexdigest(),
        pooling=pooling or _pooling(folder),
        max_tokens=max_tokens or longest(folder),
        prefixes=_prefixes(folder),
        threads=threads,
        provider=provider,
    )


def read_folder(
    argument: str, *, spec: str, names: Sequence[str] = MODELS
) -> tuple[Path, bytes, str]:
    """Return the folder *argument*, its graph and its tokenizer; *spec* came before the colon."""
    folder = Path(argument).expanduser()
    if not argument or not folder.is_dir():
        raise InputError(f"{spec}:{argument}: no such folder; expected {spec}:<folder>")
    model = next((folder / name for name in names if (folder / name).is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        lacking = "tokenizer.json" if model else " or ".join(MODELS[:2])
        raise InputError(f"{spec}:{argument}: the folder has no {lacking}")
    return folder, model.read_bytes(), tokenizer.read_text(encoding="utf-8")


def _pooling(folder: Path) -> Pooling:
    settings = _settings(folder / "1_Pooling" / "config.json")
    if settings.get("pooling_mode_cls_token"):
        return "first"
    asked = [
        name for name, on in settings.items() if name.startswith("pooling_mode_") and on is True
    ]
    if asked and asked != ["pooling_mode_mean_tokens"]:
        raise InputError(f"onnx:{folder}: pooling {asked[0]!r} is unknown; expected first or mean")
    return "mean"


def longest(folder: Path) -> int:
    """Return how many tokens of a text the model in *folder* takes."""
    given = _settings(folder / "sentence_bert_config.json").get("max_seq_length")
    return given if isinstance(given, int) and given > 0 else FEW_TOKENS


def _prefixes(folder: Path) -> dict[Kind, str]:
    prompts = _settings(folder / "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    prefixes: dict[Kind, str] = {}
    kinds: tuple[Kind, ...] = ("document", "query")
    for kind in kinds:
        if prompts.get(kind):
            prefixes[kind] = str(prompts[kind])
    return prefixes


def _settings(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(settings, dict):
        raise InputError(f"{path}: expected a JSON object")
    return settings
