"""Datasets of ir_datasets by their id: ``irds:antique/test``."""

import importlib
from pathlib import Path
from typing import Any

from karat.errors import InputError
from karat.formats.base import Format, ReadOptions
from karat.installation import package_hint
from karat.model import Dataset, Query, Target

__all__ = ["FORMAT", "PREFIX"]

PREFIX = "irds:"
# Fields of a query that may be its text, the best first.
TEXTS = ("text", "title", "query", "keyword", "description")


def detect(path: str, _head: bytes) -> bool:
    """Return whether *path* is an id and not a file."""
    return path.startswith(PREFIX)


def read(path: Path, _options: ReadOptions) -> Dataset:
    """Return the judged queries of the dataset; the package loads, perhaps downloads, its data."""
    label = path.as_posix().removeprefix(PREFIX)
    source = _dataset(label)
    for part in ("queries", "qrels"):
        if not getattr(source, f"has_{part}")():
            raise InputError(f"{PREFIX}{label}: the dataset has no {part}")
    judged: dict[str, dict[str, float]] = {}
    try:
        for row in source.qrels_iter():
            judged.setdefault(str(row.query_id), {})[str(row.doc_id)] = float(row.relevance)
        texts = {str(query.query_id): _text(query) for query in source.queries_iter()}
    except (OSError, RuntimeError) as error:
        raise InputError(
            f"{PREFIX}{label}: the data cannot be loaded: {error}; "
            f"run ir_datasets export {label} qrels to see why"
        ) from error
    queries = [
        Query(query, text, tuple(Target(*pair) for pair in judged[query].items()))
        for query, text in texts.items()
        if query in judged
    ]
    return Dataset.of(queries, name=label, match="document")


def _dataset(label: str) -> Any:
    try:
        package = importlib.import_module("ir_datasets")
    except ImportError:
        raise InputError(
            f"{PREFIX}{label} needs the package ir_datasets: {package_hint('ir_datasets')}"
        ) from None
    try:
        return package.load(label)
    except KeyError:
        raise InputError(f"{PREFIX}{label}: ir_datasets has no dataset {label!r}") from None


def _text(query: Any) -> str:
    return next((text for name in TEXTS if (text := getattr(query, name, None))), "")


FORMAT = Format(
    "irds",
    "dataset",
    "a dataset of the package ir_datasets by its id, irds:antique/test",
    (),
    detect,
    read,
)
