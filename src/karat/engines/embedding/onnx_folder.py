"""A folder with an ONNX model and its tokenizer, laid out as exporters leave it."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from karat.engines.embedding.base import Kind
from karat.engines.embedding.onnx_encoder import OnnxEmbedder, Pooling
from karat.errors import InputError

__all__ = ["onnx_folder"]

# Bytes first: they are there because somebody wanted speed.
MODELS = (
    "model_quantized.onnx",
    "model.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model.onnx",
)
FEW_TOKENS = 512


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
    folder = Path(argument).expanduser()
    if not argument or not folder.is_dir():
        raise InputError(f"onnx:{argument}: no such folder; expected onnx:<folder>")
    model = next((folder / name for name in MODELS if (folder / name).is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        lacking = "tokenizer.json" if model else " or ".join(MODELS[:2])
        raise InputError(f"onnx:{argument}: the folder holds no {lacking}")
    graph, description = model.read_bytes(), tokenizer.read_text(encoding="utf-8")
    return OnnxEmbedder(
        graph,
        description,
        name=f"onnx:{argument}",
        identity=sha256(graph + description.encode()).hexdigest(),
        pooling=pooling or _pooling(folder),
        max_tokens=max_tokens or _max_tokens(folder),
        prefixes=_prefixes(folder),
        threads=threads,
    )


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


def _max_tokens(folder: Path) -> int:
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
        raise InputError(f"{path}: no readable JSON: {error}") from error
    if not isinstance(settings, dict):
        raise InputError(f"{path}: expected a JSON object")
    return settings
