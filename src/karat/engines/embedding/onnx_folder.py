"""A folder with an ONNX model and its tokenizer, laid out as exporters leave it."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from karat.engines.embedding.base import Kind
from karat.engines.embedding.onnx_encoder import OnnxEmbedder, Pooling
from karat.errors import InputError

__all__ = ["longest", "onnx_folder", "read_folder"]

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
    folder, graph, description = read_folder(argument, spec="onnx")
    return OnnxEmbedder(
        graph,
        description,
        name=f"onnx:{argument}",
        identity=sha256(graph + description.encode()).hexdigest(),
        pooling=pooling or _pooling(folder),
        max_tokens=max_tokens or longest(folder),
        prefixes=_prefixes(folder),
        threads=threads,
    )


def read_folder(argument: str, *, spec: str) -> tuple[Path, bytes, str]:
    """Return the folder *argument*, its graph and its tokenizer; *spec* came before the colon."""
    folder = Path(argument).expanduser()
    if not argument or not folder.is_dir():
        raise InputError(f"{spec}:{argument}: no such folder; expected {spec}:<folder>")
    model = next((folder / name for name in MODELS if (folder / name).is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        lacking = "tokenizer.json" if model else " or ".join(MODELS[:2])
        raise InputError(f"{spec}:{argument}: the folder holds no {lacking}")
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
        raise InputError(f"{path}: no readable JSON: {error}") from error
    if not isinstance(settings, dict):
        raise InputError(f"{path}: expected a JSON object")
    return settings
