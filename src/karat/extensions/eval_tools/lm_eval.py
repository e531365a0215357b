"""Samples of lm-evaluation-harness: ``samples_<task>_<date>.jsonl`` of ``--log_samples``.

Samples are paired by ``doc_hash``, because ``doc_id`` is only a position. Several filters of a
task score the same answer: they are several measures.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from karat.extensions.eval_tools.documents import (
    Record,
    files_below,
    has_file,
    keys_in,
    no_scores,
    number,
    read_json,
    read_lines,
    record,
    short,
    text,
)
from karat.extensions.scores.readers import ScoreFile, ScoreOptions, ScoreReader
from karat.extensions.scores.record import ScoreMeasure, ScoreRow

NAME = re.compile(r"samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl")
SAMPLES = "samples_*.jsonl"
QUESTIONS = ("question", "query", "prompt", "problem", "input", "text", "ctx", "sentence")
HASH_LENGTH = 12


class SampleFile(NamedTuple):
    """A file of samples: of which model, task and date."""

    path: Path
    model: str
    task: str
    date: str


def detect(path: str, head: bytes) -> bool:
    """Return whether a line has a sample, or a folder has files of them."""
    if not head:
        return has_file(path, SAMPLES)
    keys = keys_in(head)
    # A long document fills the first bytes.
    is_named = NAME.fullmatch(Path(path).name) is not None
    return {"doc_id", "doc"} <= keys and (is_named or "filtered_resps" in keys)


def read(path: Path, options: ScoreOptions) -> ScoreFile:
    """Return the scores in a file of samples, or in the newest of each task below a folder."""
    files = [_described(each) for each in files_below(path, SAMPLES)]
    newest = {(each.model, each.task): each for each in sorted(files, key=lambda each: each.date)}
    rows: list[ScoreRow] = []
    lower: set[str] = set()
    for file in newest.values():
        samples = list(read_lines(file.path, options.limits))
        rows += _rows(file, samples)
        lower |= _lower(file, options)
    if not any(row.scores for row in rows):
        raise no_scores(path, "samples of lm-evaluation-harness (lm_eval --log_samples)")
    remarks = []
    if older := len(files) - len(newest):
        remarks.append(f"{path.name}: {older} older files of a model and task are left out")
    names = {name for row in rows for name in row.scores}
    measures = [
        ScoreMeasure(name, lower_is_better=True)
        for name in sorted(names)
        if name.partition(",")[0] in lower
    ]
    fields = {"system": "folder of the model", "query": "task and doc_hash"}
    return ScoreFile(rows, fields, measures, remarks=tuple(remarks))


def _described(path: Path) -> SampleFile:
    """Return what name and folder say of a file; the model is not in it."""
    match = NAME.fullmatch(path.name)
    task = match["task"] if match else path.name.partition(".")[0]
    folder = path.absolute().parent.name
    return SampleFile(path, folder.replace("__", "/", 1), task, (match and match["date"]) or "")


def _rows(file: SampleFile, samples: Iterable[Record]) -> list[ScoreRow]:
    """Return a row for each document, with the metrics of all its filters."""
    known = list(samples)
    filters = {text(sample.get("filter")) for sample in known}
    documents: dict[tuple[str, str], ScoreRow] = {}
    copies: Counter[str] = Counter()
    for sample in known:
        label = _document(sample)
        key = label, text(sample.get("doc_id"))
        if key not in documents:
            copies[label] += 1
            # The same document twice is two samples.
            copy = f" ({copies[label]})" if copies[label] > 1 else ""
            question = _question(sample.get("doc"))
            tags = {"task": file.task}
            documents[key] = ScoreRow(
                f"{file.task}/{label}{copy}", file.model, {}, tags=tags, text=question
            )
        chosen = text(sample.get("filter")) if len(filters) > 1 else ""
        row = documents[key]
        documents[key] = row._replace(scores={**row.scores, **_scores(sample, chosen)})
    return list(documents.values())


def _document(sample: Record) -> str:
    return text(sample.get("doc_hash"))[:HASH_LENGTH] or f"doc {text(sample.get('doc_id'))}"


def _scores(sample: Record, chosen: str) -> Mapping[str, float | None]:
    """Return the metrics of a sample, called as the harness calls them: ``exact_match,strict``."""
    names = sample.get("metrics")
    listed = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    values = {name: number(sample.get(name)) for name in listed}
    # Values such as (log-likelihood, words) make sense only in sums over all samples.
    return {
        f"{name},{chosen}" if chosen else name: value
        for name, value in values.items()
        if value is not None or isinstance(sample.get(name), float)
    }


def _question(document: object) -> str:
    fields = record(document)
    return short(
        next((text(fields[name]) for name in QUESTIONS if text(fields.get(name))), ""), 200
    )


def _lower(file: SampleFile, options: ScoreOptions) -> set[str]:
    """Return the metrics of which less is better, as the results beside the samples say."""
    results = file.path.with_name(f"results_{file.date}.json")
    if not file.date or not results.is_file():
        return set()
    better = record(record(read_json(results, options.limits)).get("higher_is_better"))
    of_task = record(better.get(file.task))
    return {name for name, is_higher in of_task.items() if is_higher is False}


READER = ScoreReader(
    "lm-eval",
    "samples of lm-evaluation-harness (samples_*.jsonl, or folders of them): metrics by document",
    detect,
    read,
)
