"""Tokenizers for token windows: those of the packaged encoders, or a tokenizer file."""

from functools import cache
from pathlib import Path

from karat.engines.embedding.packaged import GRANITE, TOKENIZER, read_tokenizer
from karat.engines.embedding.texts import ModelTokenizer
from karat.errors import InputError

__all__ = ["from_file", "granite", "minilm"]


@cache
def granite(argument: str = "") -> ModelTokenizer:
    """Return the tokenizer of granite; there is no other of that name."""
    _refuse(argument, "granite")
    return _made(read_tokenizer(GRANITE.read(), GRANITE.path), "granite")


@cache
def minilm(argument: str = "") -> ModelTokenizer:
    """Return the tokenizer of MiniLM; there is no other of that name."""
    _refuse(argument, "minilm")
    return _made(TOKENIZER.read().decode(), "minilm")


def from_file(argument: str) -> ModelTokenizer:
    """Return the tokenizer in the file *argument*, or in the tokenizer.json of that folder."""
    path = Path(argument).expanduser()
    file = path / "tokenizer.json" if path.is_dir() else path
    if not argument or not file.is_file():
        raise InputError(
            f"tokenizer file:{argument}: no such file; expected file:<tokenizer.json or its folder>"
        )
    try:
        return _made(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot read the tokenizer: {error}") from error


@cache
def _made(description: str, where: str) -> ModelTokenizer:
    return ModelTokenizer(description, max_tokens=None, where=where)


def _refuse(argument: str, name: str) -> None:
    if argument:
        raise InputError(f"tokenizer {name}:{argument}: expected {name} without an argument")
