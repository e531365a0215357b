"""Semble annotations: JSON queries with relevant and secondary files or line ranges.

Relevant targets have grade 2, secondary ones grade 1; the category is a tag.
"""

from pathlib import Path

from karat.formats.base import Format, ReadOptions, as_dataset
from karat.formats.fields import Checker, Location, Record
from karat.formats.jsontext import load_json, opens_list, write_json
from karat.model import Dataset, Query, Run, Target

RELEVANT = 2
SECONDARY = 1


def detect(_path: str, head: bytes) -> bool:
    """Return whether a list of objects with ``relevant`` begins here."""
    return head.lstrip().startswith(b"[") and opens_list(head, "relevant")


def read(path: Path, options: ReadOptions) -> Dataset:
    """Return one query per annotation, numbered from 1 where there is no ``id``."""
    value, check = load_json(path, limit=options.limits.json_bytes)
    rows = list(check.rows(value, (), filled=True))
    queries = [
        _query(check, check.record(item, location), location, number)
        for number, (location, item) in enumerate(rows, 1)
    ]
    labels = ((location, query.id) for (location, _), query in zip(rows, queries, strict=True))
    check.unique(labels, "id")
    check.finish()
    lined = any(target.start_line for query in queries for target in query.targets)
    name = path.name.removesuffix(".gz")
    return Dataset.of(queries, name=name, match="lines" if lined else "exact")


def write(data: Dataset | Run, path: Path) -> None:
    """Write targets of grade 2 and more as relevant, those above 0 as secondary."""
    dataset = as_dataset(data)
    numbered = list(dataset.query_ids) == [str(number) for number in range(1, len(dataset) + 1)]
    rows: list[dict[str, object]] = []
    for query in dataset.queries():
        row: dict[str, object] = {} if numbered else {"id": query.id}
        row["query"] = query.text
        row["relevant"] = [_annotation(t) for t in query.targets if t.grade >= RELEVANT]
        row["secondary"] = [_annotation(t) for t in query.targets if 0 < t.grade < RELEVANT]
        rows.append(row | ({"category": c} if (c := query.tags.get("category")) else {}))
    write_json(path, rows)


def _query(check: Checker, row: Record, location: Location, number: int) -> Query:
    if row.get("relevant") is None:
        check.add(location, "'relevant' is missing")
    targets = [
        _target(check, item, at, grade)
        for key, grade in (("relevant", RELEVANT), ("secondary", SECONDARY))
        for at, item in check.listed(row, key, location)
    ]
    tags = {"category": check.text(row, "category", location)} if row.get("category") else {}
    label = check.label(row, "id", location) if "id" in row else str(number)
    return Query(label, check.text(row, "query", location), tuple(targets), tags)


def _target(check: Checker, item: object, location: Location, grade: int) -> Target:
    if isinstance(item, str):
        return Target(check.word(item, location), grade)
    record = check.record(item, location)
    return Target(check.text(record, "path", location), grade, *check.lines(record, location))


def _annotation(target: Target) -> object:
    if not target.start_line:
        return target.path
    return {"path": target.path, "start_line": target.start_line, "end_line": target.end_line}


FORMAT = Format(
    "semble",
    "dataset",
    "semble annotations: relevant and secondary files or line ranges",
    (".json",),
    detect,
    read,
    write,
    frozenset({"text", "grades", "category", "lines", "files", "bare"}),
    frozenset({"textless", "pathless"}),
)
