"""Predictions of MTEB, ``<task>_predictions.json``: rankings, which Karat scores query by query.

``{"mteb_model_meta": {...}, <subset>: {<split>: {<query>: {<document>: <score>}}}}``.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from karat.errors import FormatError, Problem
from karat.extensions.eval_tools.documents import Record, keys_in, number, read_json, record, text
from karat.formats.base import Format, ReadOptions
from karat.model import Answer, Hit, Run

ABOUT = "mteb_model_meta"
# Where the model is named at the end: four objects in each other, and a score.
NESTED = re.compile(rb'\s*(?:\{\s*"(?:[^"\\]|\\.)*"\s*:\s*){4}-?\d')


def detect(_path: str, head: bytes) -> bool:
    """Return whether predictions begin here."""
    return ABOUT in keys_in(head) or NESTED.match(head) is not None


def read(path: Path, options: ReadOptions) -> Run:
    """Return the rankings of the split *test*, or of the only one.

    With several subsets, a query is called ``<subset>/<query>``.
    """
    predictions = record(read_json(path, options.limits))
    subsets = {name: record(value) for name, value in predictions.items() if name != ABOUT}
    answers = []
    for name, splits in subsets.items():
        prefix = f"{name}/" if len(subsets) > 1 else ""
        for query, scores in _split(path, splits).items():
            hits = sorted(_hits(record(scores)), key=lambda hit: -hit.score)
            answers.append(Answer(prefix + query, tuple(hits)))
    if not answers:
        message = "no ranking; expected {subset: {split: {query: {document: score}}}}"
        raise FormatError([Problem(str(path), 0, message)])
    about = record(predictions.get(ABOUT))
    stem = path.name.partition(".")[0].removesuffix("_predictions")
    return Run.of(answers, name=text(about.get("model_name")) or text(about.get("name")) or stem)


def _split(path: Path, splits: Record) -> Mapping[str, object]:
    if len(splits) > 1 and "test" not in splits:
        message = f"several splits: {', '.join(splits)}; expected one, or one called test"
        raise FormatError([Problem(str(path), 0, message)])
    return record(splits.get("test", next(iter(splits.values()), None)))


def _hits(scores: Record) -> Iterator[Hit]:
    for document, score in scores.items():
        known = number(score)
        if known is not None:
            yield Hit(document, known)


FORMAT = Format(
    "mteb-predictions",
    "run",
    "predictions of MTEB (<task>_predictions.json)",
    (),
    detect,
    read,
    decisive=True,
)
