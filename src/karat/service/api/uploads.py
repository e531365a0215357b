"""Uploaded files: taken to disk under names of our own, never under those of the client."""

import shutil
from pathlib import Path
from typing import Any, BinaryIO

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError

__all__ = ["keep", "only"]

# By which a format is told from others; anything else is none that we know.
SUFFIXES = frozenset({".csv", ".json", ".jsonl", ".qrels", ".tsv", ".txt", ".yaml", ".yml"})


def keep(stream: BinaryIO, name: str | None, folder: str) -> Path:
    """Write *stream* to a new file in *folder* and return that; of *name* the suffix counts."""
    suffix = Path(name or "").suffix.lower()
    place = Path(folder) / f"upload{suffix if suffix in SUFFIXES else ''}"
    with place.open("xb") as file:
        shutil.copyfileobj(stream, file)
    return place


def only(*fields: str) -> Any:
    """Return what refuses a form with a field that is none of *fields*, as JSON is refused."""

    async def check(request: Request) -> None:
        unknown = sorted(set(await request.form()) - set(fields))
        if unknown:
            told = "Extra inputs are not permitted"
            raise RequestValidationError([{"loc": ("body", name), "msg": told} for name in unknown])

    return Depends(check)
