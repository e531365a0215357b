"""Large TREC run files as columns."""

import os
from collections.abc import Iterator, Mapping

__all__ = ["scan_columns"]


def scan_columns(
    _path: str | os.PathLike[str], _judged: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[str, Mapping[str, float]]] | None:
    """Return None: not written yet."""
    return None
