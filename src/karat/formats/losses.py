"""What a dataset or a run holds, in words, and what of it a format cannot express."""

from math import isnan

from karat.errors import InputError
from karat.formats.base import Format
from karat.model import Dataset, Outcome, Run

__all__ = ["EVERYTHING", "FEATURES", "features", "losses", "writable"]

FEATURES = {
    "text": "query texts",
    "textless": "queries without text",
    "grades": "grades other than 1",
    "fractions": "grades that are no whole number",
    "negatives": "judgments below 0, which mean pooled but not judged",
    "lines": "line ranges",
    "files": "targets or hits without a line range",
    "symbols": "symbols",
    "refs": "what kind of reference a target is",
    "bare": "queries without targets or answers without hits",
    "tags": "tags",
    "extra": "further fields of a query",
    "metadata": "metadata",
    "scores": "scores",
    "tokens": "token counts",
    "latency": "latencies",
    "outcome": "errors and timeouts",
}
EVERYTHING = frozenset(FEATURES)


def features(data: Dataset | Run) -> frozenset[str]:
    """Return which of :data:`FEATURES` occur in *data*."""
    present = _of_dataset(data) if isinstance(data, Dataset) else _of_run(data)
    return frozenset(name for name, found in present.items() if found)


def losses(data: Dataset | Run, target: Format) -> tuple[str, ...]:
    """Return in words what *target* cannot express of *data*, in the order of FEATURES."""
    present = features(data)
    return tuple(
        words for name, words in FEATURES.items() if name in present and name not in target.keeps
    )


def writable(data: Dataset | Run, target: Format) -> Dataset | Run:
    """Return what *target* can hold of *data*, or raise InputError where it cannot hold it.

    Judgments below 0 are left out where a format has none: to a metric they do not exist.
    """
    if (
        isinstance(data, Dataset)
        and "negatives" not in target.keeps
        and min(data.grades, default=0) < 0
    ):
        data = _judged_only(data)
    refused = features(data) & target.refuses
    if refused:
        words = ", ".join(FEATURES[name] for name in FEATURES if name in refused)
        raise InputError(f"{data.name}: format {target.name!r} cannot hold {words}")
    return data


def _judged_only(data: Dataset) -> Dataset:
    queries = [
        query._replace(targets=tuple(t for t in query.targets if t.grade >= 0))
        for query in data.queries()
    ]
    return Dataset.of(queries, name=data.name, match=data.match, metadata=data.metadata)


def _of_dataset(data: Dataset) -> dict[str, bool]:
    return {
        "text": any(data.texts),
        "textless": not all(data.texts),
        "grades": any(grade != 1 for grade in data.grades),
        "fractions": any(not grade.is_integer() for grade in data.grades),
        "negatives": any(grade < 0 for grade in data.grades),
        "lines": any(data.start_lines),
        "files": not all(data.start_lines),
        "symbols": any(data.symbols.names),
        "refs": any(name != "path" for name in data.refs.names),
        "bare": any(a == b for a, b in zip(data.offsets, data.offsets[1:], strict=False)),
        "tags": bool(data.tags),
        "extra": any(data.extras),
        "metadata": bool(data.metadata),
    }


def _of_run(data: Run) -> dict[str, bool]:
    return {
        "scores": any(not isnan(score) for score in data.scores),
        "lines": any(data.start_lines),
        "files": not all(data.start_lines),
        "symbols": any(data.symbols.names),
        "tokens": any(tokens >= 0 for tokens in data.tokens),
        "latency": any(latency >= 0 for latency in data.latencies_ns),
        "outcome": any(outcome != Outcome.ANSWERED for outcome in data.outcomes),
        "bare": any(a == b for a, b in zip(data.offsets, data.offsets[1:], strict=False)),
        "extra": any(data.extras),
        "metadata": bool(data.metadata),
    }
