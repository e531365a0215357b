"""Query texts for judgments that have none: TREC topics, ``id<TAB>text`` or JSON lines."""

import os
import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path

from karat.errors import InputError
from karat.formats.base import DEFAULT, ReadLimits, ReadOptions
from karat.formats.records import read_table, text_of
from karat.formats.source import Problems, read_text
from karat.model import Dataset

TOP = re.compile(
    r"<(?:top|topic)\b(?P<attributes>[^>]*)>(?P<body>.*?)</(?:top|topic)>",
    re.DOTALL | re.IGNORECASE,
)
# The number of a topic, and its text: the title, or the query of web tracks.
NUMBER = re.compile(r"<num(?:ber)?>\s*(?:Number:)?\s*(?P<id>[^\s<]+)", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""(?:number|id|qid)\s*=\s*["']?(?P<id>[^"'\s>]+)""", re.IGNORECASE)
TEXT = re.compile(r"<(?P<tag>title|query)>\s*(?:Topic:)?(?P<text>[^<]*)", re.IGNORECASE)
IDS = ("_id", "id", "qid", "query_id", "query-id")
TEXTS = ("text", "query", "title", "question")


def read_topics(path: str | os.PathLike[str], limits: ReadLimits = DEFAULT) -> dict[str, str]:
    """Return the text of each query id in *path*."""
    text = read_text(path, limit=limits.json_bytes, setting="json_bytes")
    start = text.lstrip()[:1]
    if start == "<":
        return _from_trec(path, text)
    if start in ("{", "["):
        return _from_json(path, limits)
    return _from_lines(path, text)


def with_topics(
    data: Dataset, path: str | os.PathLike[str], limits: ReadLimits = DEFAULT
) -> Dataset:
    """Return *data* with the texts of *path*; each query must have one there."""
    texts = read_topics(path, limits)
    missing = [query_id for query_id in data.query_ids if query_id not in texts]
    if missing:
        known = ", ".join(map(repr, list(texts)[:3]))
        raise InputError(
            f"{os.fspath(path)}: no text for {len(missing):,} of {len(data):,} queries of "
            f"{data.name}, such as {missing[0]!r}; the topics have ids such as {known}"
        )
    return data.with_queries(query._replace(text=texts[query.id]) for query in data.queries())


def _from_trec(path: str | os.PathLike[str], text: str) -> dict[str, str]:
    problems = Problems(path)
    texts: dict[str, str] = {}
    for top in TOP.finditer(text):
        line = text.count("\n", 0, top.start()) + 1
        number = NUMBER.search(top["body"]) or ATTRIBUTE.search(top["attributes"])
        title = TEXT.search(top["body"])
        words = " ".join(unescape(title["text"]).split()) if title else ""
        if number is None:
            problems.add(line, "a topic without a number; expected <num>")
        elif not words:
            problems.add(line, f"topic {number['id']!r} has no <title>")
        else:
            _add(problems, texts, line, number["id"], words)
    return _finished(problems, texts, "no <top> ... </top> in the file")


def _from_lines(path: str | os.PathLike[str], text: str) -> dict[str, str]:
    problems = Problems(path)
    texts: dict[str, str] = {}
    for line, row in enumerate(text.split("\n"), 1):
        if not row.strip():
            continue
        label, mark, words = row.strip().partition("\t")
        if not mark or not words.strip():
            problems.add(line, "expected an id, a tab and the text of the query")
        elif line > 1 or label.lower() not in IDS:
            _add(problems, texts, line, label.strip(), words.strip())
    return _finished(problems, texts, "no topic in the file")


def _from_json(path: str | os.PathLike[str], limits: ReadLimits) -> dict[str, str]:
    problems = Problems(path)
    texts: dict[str, str] = {}
    for row in read_table(Path(path), ReadOptions(limits)).rows:
        label, words = _first(row.cells, IDS), _first(row.cells, TEXTS)
        if not label or not words:
            problems.add(row.line, f"expected an id ({', '.join(IDS)}) and a text")
        else:
            _add(problems, texts, row.line, label, words)
    return _finished(problems, texts, "no topic in the file")


def _first(cells: Mapping[str, object], names: tuple[str, ...]) -> str:
    return next((text for name in names if (text := text_of(cells.get(name)).strip())), "")


def _add(problems: Problems, texts: dict[str, str], line: int, label: str, words: str) -> None:
    if label in texts:
        problems.add(line, f"topic {label!r} appears twice")
    texts[label] = words


def _finished(problems: Problems, texts: dict[str, str], empty: str) -> dict[str, str]:
    if not texts and not problems:
        problems.add(0, empty)
    problems.finish()
    return texts
