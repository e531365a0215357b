"""Uploaded files: taken to disk under names of our own, never under those of the client."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["kept"]

# By which a format is told from others; anything else is none that we know.
SUFFIXES = frozenset({".csv", ".json", ".jsonl", ".qrels", ".tsv", ".txt", ".yaml", ".yml"})


@contextmanager
def kept(stream: BinaryIO, name: str | None) -> Iterator[Path]:
    """Give the file that *stream* is, for as long as it is needed; of *name* the suffix counts."""
    suffix = Path(name or "").suffix.lower()
    with tempfile.TemporaryDirectory(prefix="karat-upload-") as folder:
        place = Path(folder) / f"upload{suffix if suffix in SUFFIXES else ''}"
        with place.open("xb") as file:
            shutil.copyfileobj(stream, file)
        yield place
