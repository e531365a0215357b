"""Which queries carry which value of a tag."""

from collections.abc import Iterable, Mapping
from posixpath import splitext

from karat.errors import InputError
from karat.matching.judge import Truth
from karat.model import Dataset

__all__ = ["Slices", "slice_rows"]

Slices = Mapping[str, Mapping[str, list[int]]]

FILE_TYPE = "file-type"
UNTAGGED = "(untagged)"


def slice_rows(truth: Truth, tags: Iterable[str]) -> Slices:
    """Return tag -> value -> query rows, values in order of first appearance.

    ``file-type`` is worked out from the targets' suffixes; a query with several is ``mixed``.
    """
    return {tag: _rows(truth, tag) for tag in tags}


def _rows(truth: Truth, tag: str) -> dict[str, list[int]]:
    known = list(truth.tags) if isinstance(truth, Dataset) else []
    if tag == FILE_TYPE and tag not in known:
        values = [_file_type(paths) for paths in _target_paths(truth)]
    elif isinstance(truth, Dataset) and tag in known:
        values = [value or UNTAGGED for value in truth.tags[tag]]
    else:
        available = ", ".join([*known, FILE_TYPE])
        raise InputError(f"no query is tagged with {tag!r}; available: {available}")
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(values):
        rows.setdefault(value, []).append(row)
    return rows


def _target_paths(truth: Truth) -> list[list[str]]:
    if isinstance(truth, Dataset):
        return [[target.path for target in truth.targets(row)] for row in range(len(truth))]
    return [list(documents) for documents in truth.values()]


def _file_type(paths: Iterable[str]) -> str:
    types = {splitext(path)[1] or "(none)" for path in paths}
    return types.pop() if len(types) == 1 else "mixed"
