"""Judgments and runs in JSON dictionaries, as ranx and pytrec_eval use them.

Judgments are ``{query: {document: grade}}``, runs ``{query: {document: score}}``. A run may also
have ranked lists: ``{query: [document, ...]}`` or ``{query: [[document, score], ...]}``.
"""

import re
from collections.abc import Mapping
from math import isnan, nan
from pathlib import Path

from karat.formats.base import Format, ReadOptions, as_dataset, as_run
from karat.formats.fields import Checker, Location
from karat.formats.jsontext import dumps, load_json
from karat.formats.objects import plain_number
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.system.files import write_text

TEXT = rb'"(?:[^"\\]|\\.)*"'
NUMBER = rb"-?\d+(?P<fraction>\.\d+)?(?:[eE][-+]?\d+)?"
# The first query of a file; of those without a document, as many as there are.
START = rb"\s*\{(?:\s*%s\s*:\s*(?:\{\s*\}|\[\s*\])\s*,)*\s*%s\s*:\s*" % (TEXT, TEXT)
SCORES = re.compile(START + rb"\{\s*%s\s*:\s*%s\s*[,}]" % (TEXT, NUMBER))
EMPTY = re.compile(START + rb"\{\s*\}\s*\}\s*$")
RANKED = re.compile(START + rb"\[\s*(?:%s\s*[,\]]|\[\s*%s\s*,\s*-?\d)" % (TEXT, TEXT))


def detect_qrels(_path: str, head: bytes) -> bool:
    """Return whether an object of objects begins here whose first number is whole."""
    match = SCORES.match(head)
    return bool(EMPTY.match(head)) or bool(match and not match["fraction"])


def detect_run(_path: str, head: bytes) -> bool:
    """Return whether an object begins here that has scores or a ranked list for each query."""
    return any(pattern.match(head) for pattern in (SCORES, EMPTY, RANKED))


def read_qrels(path: Path, options: ReadOptions) -> Dataset:
    """Return one query per key; they have no text."""
    value, check = load_json(path, limit=options.limits.json_bytes)
    queries = []
    for query, judged in _queries(check, value):
        documents = check.record(judged, (query,))
        targets = tuple(
            Target(document, check.number(documents, document, (query,), default=0.0))
            for document in documents
        )
        queries.append(Query(query, "", targets))
    check.finish()
    return Dataset.of(queries, name=path.name.removesuffix(".gz"), match="document")


def read_run(path: Path, options: ReadOptions) -> Run:
    """Return one answer per key; hits with scores are ordered by descending score."""
    value, check = load_json(path, limit=options.limits.json_bytes)
    answers = []
    for query, ranking in _queries(check, value):
        if isinstance(ranking, list):
            hits = [_hit(check, item, at) for at, item in check.rows(ranking, (query,))]
        else:
            scores = check.record(ranking, (query,))
            hits = [
                Hit(document, check.number(scores, document, (query,), default=nan))
                for document in scores
            ]
            for document in scores:
                if scores[document] is None:
                    check.add((query, document), "expected a score, found null")
            hits.sort(key=lambda hit: -hit.score)
        answers.append(Answer(query, tuple(hits)))
    check.finish()
    return Run.of(answers, name=path.name.removesuffix(".gz").partition(".")[0])


def write_qrels(data: Dataset | Run, path: Path) -> None:
    """Write the grades of each query."""
    dataset = as_dataset(data)
    value = {
        query: {document: plain_number(grade) for document, grade in dataset.judgments(row).items()}
        for row, query in enumerate(dataset.query_ids)
    }
    write_text(path, dumps(value) + "\n")


def write_run(data: Dataset | Run, path: Path) -> None:
    """Write the scores of each query, or its documents in order if a hit has no score."""
    value: dict[str, object] = {}
    for answer in as_run(data).answers():
        first: dict[str, float] = {}
        for hit in answer.hits:
            first.setdefault(hit.path, hit.score)
        value[answer.query_id] = list(first) if any(map(isnan, first.values())) else first
    write_text(path, dumps(value) + "\n")


def _queries(check: Checker, value: object) -> list[tuple[str, object]]:
    top = check.record(value, ())
    if not top and isinstance(value, Mapping):
        check.add((), "no query in the file")
    for query in top:
        if not query.strip():
            check.add((query,), "the query id is empty")
    return list(top.items())


def _hit(check: Checker, item: object, location: Location) -> Hit:
    if isinstance(item, list) and len(item) == 2:
        document = check.word(item[0], (*location, 0))
        return Hit(document, check.number({"score": item[1]}, "score", location, default=nan))
    return Hit(check.word(item, location))


QRELS = Format(
    "json-qrels",
    "dataset",
    "JSON judgments: {query: {document: grade}}, as ranx and pytrec_eval use them",
    (".json",),
    detect_qrels,
    read_qrels,
    write_qrels,
    frozenset(
        {
            *("textless", "bare", "grades", "levels", "high", "zeros", "fractions", "negatives"),
            "files",
        }
    ),
    frozenset({"pathless"}),
    fallback=True,
)
RUN = Format(
    "json-run",
    "run",
    "JSON run: {query: {document: score}} or {query: [document, ...]}",
    (".json",),
    detect_run,
    read_run,
    write_run,
    frozenset({"scores", "files", "bare"}),
    fallback=True,
)
