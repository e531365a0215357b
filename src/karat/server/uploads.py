"""Uploaded files: taken to disk under names of our own, never under those of the client."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError

__all__ = ["kept", "only"]

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


def only(*fields: str) -> Any:
    """Return what refuses a form with a field that is none of *fields*, as JSON is refused."""

    async def check(request: Request) -> None:
        unknown = sorted(set(await request.form()) - set(fields))
        if unknown:
            told = "Extra inputs are not permitted"
            raise RequestValidationError([{"loc": ("body", name), "msg": told} for name in unknown])

    return Depends(check)
