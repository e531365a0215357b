"""Which query of a gold set each transcript is about: by its ids, a table, or the query's text."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError
from karat.extensions.trace.record import Transcript
from karat.model import Dataset

# Fields of a query that name it in a benchmark.
ID_FIELDS = ("instance_id", "original_inst_id", "task_id", "task", "case_id")
# Shorter ids and texts would be in names and prompts by chance.
SHORTEST_ID = 6
SHORTEST_TEXT = 16


class JoinResult(NamedTuple):
    """Transcripts with the rows of their queries, and those that have none."""

    pairs: tuple[tuple[Transcript, int], ...]
    unjoined: tuple[Transcript, ...]


def join(
    transcripts: Sequence[Transcript], gold: Dataset, table: Mapping[str, str] | None = None
) -> JoinResult:
    """Return the query of each transcript.

    A *table* of names or ids of transcripts to ids of queries counts first, then an id that is
    equal, then one inside of a name (``django-11__a1b2``), then the text of a query in the prompt.
    """
    known = _Queries(gold, table or {})
    rows = [(each, known.row(each)) for each in transcripts]
    return JoinResult(
        tuple((each, row) for each, row in rows if row is not None),
        tuple(each for each, row in rows if row is None),
    )


class _Queries:
    def __init__(self, gold: Dataset, table: Mapping[str, str]) -> None:
        self._gold = gold
        self._ids = _ids(gold)
        self._table = {}
        for name, query in table.items():
            if query not in self._ids:
                raise InputError(
                    f"the map names query {query!r} for {name!r}, which {gold.name} does not have"
                )
            self._table[name] = self._ids[query]
        texts = [_plain(text) for text in gold.texts]
        twice = {text for text in texts if texts.count(text) > 1} if len(texts) < 5000 else set()
        self._texts = {
            text: row
            for row, text in enumerate(texts)
            if len(text) >= SHORTEST_TEXT and text not in twice
        }

    def row(self, transcript: Transcript) -> int | None:
        """Return the row of the query of *transcript*, None if there is none."""
        source = transcript.source
        for name in (str(source), source.name, *transcript.ids):
            if name in self._table:
                return self._table[name]
        for name in transcript.ids:
            if name in self._ids:
                return self._ids[name]
        rows = {self._inside(name) for name in transcript.ids} - {None}
        if len(rows) == 1:
            return rows.pop()
        return self._by_text(_plain(transcript.text))

    def _inside(self, name: str) -> int | None:
        """Return the row of the longest id that is a part of *name*, between signs."""
        best = ""
        for known in self._ids:
            if len(known) >= max(SHORTEST_ID, len(best) + 1) and known in name:
                at = name.index(known)
                around = name[at - 1 : at] + name[at + len(known) : at + len(known) + 1]
                if not re.search(r"[A-Za-z0-9]", around):
                    best = known
        return self._ids[best] if best else None

    def _by_text(self, prompt: str) -> int | None:
        if not prompt:
            return None
        inside = [text for text in self._texts if text in prompt]
        return self._texts[max(inside, key=len)] if inside else None


def _ids(gold: Dataset) -> dict[str, int]:
    """Return every name of a query with its row; one that several queries have is no name."""
    ids: dict[str, int] = {}
    for row, extra in enumerate(gold.extras):
        for field in ID_FIELDS:
            value = extra.get(field)
            tag = gold.tags[field][row] if field in gold.tags else ""
            for name in {value, tag}:
                if isinstance(name, str) and name:
                    ids[name] = row if ids.get(name, row) == row else -1
    ids = {name: row for name, row in ids.items() if row >= 0}
    return ids | {query_id: row for row, query_id in enumerate(gold.query_ids)}


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def read_table(path: Path) -> dict[str, str]:
    """Return a table of transcripts and queries: CSV or TSV with a row for each, or a JSON object.

    The first column names a file or an id of a transcript, the second one the query.
    """
    import csv
    import json

    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".json":
        document = json.loads(text)
        if not isinstance(document, dict):
            raise InputError(f"{path}: expected an object from names of transcripts to queries")
        return {str(name): str(query) for name, query in document.items()}
    rows = csv.reader(text.splitlines(), delimiter="\t" if "\t" in text else ",")
    pairs = [row for row in rows if row]
    if bad := next((row for row in pairs if len(row) < 2), None):
        raise InputError(f"{path}: the row {bad} has one column; expected transcript,query")
    table = {row[0].strip(): row[1].strip() for row in pairs}
    return {
        name: query for name, query in table.items() if (name, query) != ("transcript", "query")
    }
