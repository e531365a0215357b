"""Group queries by the values of a tag."""

from collections.abc import Iterable, Mapping
from posixpath import splitext

from karat.errors import InputError
from karat.model import Dataset
from karat.scoring.matching.judge import Truth

__all__ = ["Slices", "cluster_labels", "slice_rows"]

Slices = Mapping[str, Mapping[str, list[int]]]

FILE_TYPE = "file-type"
UNTAGGED = "(untagged)"


def slice_rows(truth: Truth, tags: Iterable[str]) -> Slices:
    """Return tag -> value -> query rows, values in order of first appearance.

    ``file-type`` is derived from the suffixes of the targets; a query with several is ``mixed``.
    """
    return {tag: _rows(truth, tag) for tag in tags}


def cluster_labels(truth: Truth, tag: str | None) -> list[str] | None:
    """Return the value of *tag* of each query, None if all queries are independent.

    Without *tag*, the metadata of a dataset may name one as ``cluster``. A query without a value is
    its own cluster.
    """
    if tag is not None:
        return _values(truth, tag)
    if not isinstance(truth, Dataset):
        return None
    named = str(truth.metadata.get("cluster"))
    values = truth.tags.get(named, ("",) * len(truth))
    pairs = zip(values, truth.query_ids, strict=True)
    labels = [value or f"query {query_id}" for value, query_id in pairs]
    return labels if len(set(labels)) < len(labels) else None


def _rows(truth: Truth, tag: str) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(_values(truth, tag)):
        rows.setdefault(value, []).append(row)
    return rows


def _values(truth: Truth, tag: str) -> list[str]:
    known = list(truth.tags) if isinstance(truth, Dataset) else []
    if tag == FILE_TYPE and tag not in known:
        return [_file_type(paths) for paths in _target_paths(truth)]
    if isinstance(truth, Dataset) and tag in known:
        return [value or UNTAGGED for value in truth.tags[tag]]
    available = ", ".join(dict.fromkeys([*known, FILE_TYPE]))
    raise InputError(f"no query is tagged with {tag!r}; available: {available}")


def _target_paths(truth: Truth) -> list[list[str]]:
    if isinstance(truth, Dataset):
        rows = map(truth.targets, range(len(truth)))
        return [[target.path for target in targets if target.path] for targets in rows]
    return [list(documents) for documents in truth.values()]


def _file_type(paths: Iterable[str]) -> str:
    types = {splitext(path)[1] or "(none)" for path in paths} or {"(none)"}
    return types.pop() if len(types) == 1 else "mixed"
