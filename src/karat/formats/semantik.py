"""Semantik datasets: JSON queries with graded references to documents still to be resolved.

A reference is text (a uri) or an object of which the first key present decides, in the order
``document_id``, ``uri``, ``content_hash``, ``path``, ``file_name``; ``Target.ref`` names that key.
"""

from pathlib import Path

from karat.errors import LimitExceeded
from karat.formats.base import Format, ReadOptions, as_dataset
from karat.formats.fields import Checker, Location, Record
from karat.formats.jsontext import load_json, opens_list, write_json
from karat.model import Dataset, Query, Run, Target

__all__ = ["FORMAT", "REFERENCES", "check_sizes"]

REFERENCES = ("document_id", "uri", "content_hash", "path", "file_name")
SCHEMA_VERSION = "1.0"
DEFAULT_GRADE = 2
HIGHEST_GRADE = 3
GRADE_KEYS = ("relevance_grade", "grade")


def detect(_path: str, head: bytes) -> bool:
    """Return whether an object with ``queries`` begins here."""
    return head.lstrip().startswith(b"{") and opens_list(head, "queries")


def read(path: Path, options: ReadOptions) -> Dataset:
    """Return the queries within the upload limits; query metadata is kept as extras."""
    limits = options.limits
    value, check = load_json(path, limit=limits.upload_bytes, setting="upload_bytes")
    top = check.record(value, ())
    rows = list(check.rows(top.get("queries"), ("queries",), filled=True))
    queries = [_query(check, check.record(item, location), location) for location, item in rows]
    labels = ((location, query.id) for (location, _), query in zip(rows, queries, strict=True))
    check.unique(labels, "query key")
    metadata = dict(check.record(top.get("metadata") or {}, ("metadata",)))
    name = metadata.get("name")
    check.text(top, "schema_version", (), default=SCHEMA_VERSION)
    check.finish()
    check_sizes(path, queries, options)
    return Dataset.of(
        queries,
        name=name if isinstance(name, str) and name else path.name.removesuffix(".gz"),
        match="document",
        metadata=metadata,
    )


def write(data: Dataset | Run, path: Path) -> None:
    """Write every target as a graded reference of its own kind."""
    dataset = as_dataset(data)
    queries = []
    for query in dataset.queries():
        row: dict[str, object] = {"query_key": query.id, "query_text": query.text}
        row["relevant_docs"] = [
            {"doc_ref": {target.ref: target.path}, "relevance_grade": int(target.grade)}
            for target in query.targets
        ]
        queries.append(row | ({"metadata": dict(query.extra)} if query.extra else {}))
    metadata = {"name": dataset.name} | dict(dataset.metadata)
    write_json(path, {"schema_version": SCHEMA_VERSION, "metadata": metadata, "queries": queries})


def check_sizes(path: Path, queries: list[Query], options: ReadOptions) -> None:
    """Raise LimitExceeded for more queries, or judgments of one query, than uploads may have."""
    limits = options.limits
    if len(queries) > limits.upload_queries:
        raise LimitExceeded(
            f"{path}: {len(queries):,} queries; at most {limits.upload_queries:,} are allowed "
            "(setting upload_queries)"
        )
    for query in queries:
        if len(query.targets) > limits.upload_judgments:
            raise LimitExceeded(
                f"{path}: query {query.id!r} has {len(query.targets):,} judgments; at most "
                f"{limits.upload_judgments:,} are allowed (setting upload_judgments)"
            )


def _query(check: Checker, row: Record, location: Location) -> Query:
    key = "query_key" if "query_key" in row or "query_id" not in row else "query_id"
    text = "query_text" if "query_text" in row or "query" not in row else "query"
    docs = "relevant_docs" if "relevant_docs" in row else "relevant_doc_refs"
    if row.get(docs) is None:
        check.add(location, "'relevant_docs' (or 'relevant_doc_refs') is missing")
    given = row.get(docs)
    # A bare string or object stands for a list of one.
    rows: list[tuple[Location, object]] = [((*location, docs), given)]
    if not isinstance(given, str | dict):
        rows = list(check.listed(row, docs, location))
    targets = [_target(check, item, at) for at, item in rows]
    labels = [f"{target.ref} {target.path}" if target.path else "" for target in targets]
    check.unique(zip((at for at, _ in rows), labels, strict=True), "document")
    return Query(
        check.label(row, key, location),
        check.text(row, text, location),
        tuple(targets),
        extra=dict(check.record(row.get("metadata") or {}, (*location, "metadata"))),
    )


def _target(check: Checker, item: object, location: Location) -> Target:
    if isinstance(item, str):
        return Target(check.word(item, location), DEFAULT_GRADE, ref="uri")
    record = check.record(item, location)
    if "doc_ref" not in record and not any(key in record for key in REFERENCES):
        check.add(location, f"no 'doc_ref' and none of {', '.join(REFERENCES)}")
        return Target("")
    grade_key = next((key for key in GRADE_KEYS if key in record), GRADE_KEYS[0])
    grade = check.whole(record, grade_key, location, default=DEFAULT_GRADE)
    if grade > HIGHEST_GRADE:
        check.add((*location, grade_key), f"grade {grade} is out of range; expected 0 to 3")
    reference = record.get("doc_ref", record)
    at = (*location, "doc_ref") if "doc_ref" in record else location
    if isinstance(reference, str):
        return Target(check.word(reference, at), grade, ref="uri")
    fields = check.record(reference, at)
    for key in REFERENCES:
        if fields.get(key) is not None:
            return Target(check.label(fields, key, at), grade, ref=key)
    if reference is not item:
        check.add(at, f"no known reference; expected one of {', '.join(REFERENCES)}")
    return Target("", grade)


FORMAT = Format(
    "semantik",
    "dataset",
    "Semantik JSON dataset: queries with graded document references",
    (".json",),
    detect,
    read,
    write,
    frozenset({"text", "grades", "levels", "zeros", "files", "refs", "bare", "extra", "metadata"}),
    frozenset({"textless", "fractions", "high", "pathless"}),
)
