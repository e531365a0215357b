"""Parquet files, and the files of one part of a dataset in the layouts of BEIR and Hugging Face."""

from pathlib import Path
from typing import Any

from karat.errors import FormatError, InputError, MissingExtra, Problem

# The first bytes of a Parquet file.
PARQUET = b"PAR1"
ROWS = (".jsonl", ".jsonl.gz", ".parquet")


def polars() -> Any:
    """Return the module that reads Parquet, or raise MissingExtra."""
    try:
        import polars as pl
    except ImportError:
        raise MissingExtra("polars", extra="big", purpose="a Parquet file") from None
    return pl


def read_frame(path: Path) -> Any:
    """Return the polars frame of a Parquet file."""
    library = polars()
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        return library.read_parquet(path)
    except library.exceptions.PolarsError as error:
        raise FormatError([Problem(str(path), 0, f"not Parquet: {error}")]) from None


def part_files(folder: Path, part: str) -> list[Path]:
    """Return the files of ``corpus`` or ``queries`` in *folder*, in order; empty without any.

    BEIR has ``corpus.jsonl``, Hugging Face ``corpus/*.parquet``, ``data/corpus-*.parquet`` or one
    file.
    """
    for suffix in ROWS:
        alone = folder / f"{part}{suffix}"
        if alone.is_file():
            return [alone]
    for pattern in (f"{part}/*", f"data/{part}-*", f"{part}-*"):
        for suffix in ROWS:
            files = sorted(file for file in folder.glob(f"{pattern}{suffix}") if file.is_file())
            if files:
                return files
    return []
