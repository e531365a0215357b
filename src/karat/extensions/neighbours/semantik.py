"""Semantik datasets, JSON or CSV: queries with graded references still to be resolved.

In JSON, a reference is text (a uri) or an object. Of its keys, or of the columns of a CSV row, the
first that is filled decides, in the order ``document_id``, ``uri``, ``content_hash``, ``path``,
``file_name``; ``Target.ref`` names it.

CSV has one row per judgment, and the rows of one ``query_key`` make a query. Other columns are
``query_text``, which later rows of a query may leave out, and perhaps ``relevance_grade`` (0 to 3,
else 2).
"""

from pathlib import Path

from karat.errors import LimitExceeded
from karat.formats.base import Format, ReadOptions, as_dataset
from karat.formats.fields import Checker, Location, Record
from karat.formats.jsontext import load_json, opens_list, write_json
from karat.formats.records import read_rows, render_rows
from karat.formats.source import Problems
from karat.model import Dataset, Query, Run, Target
from karat.model.frozen import repeated
from karat.system.files import write_text

REFERENCES = ("document_id", "uri", "content_hash", "path", "file_name")
SCHEMA_VERSION = "1.0"
DEFAULT_GRADE = 2
HIGHEST_GRADE = 3
GRADE_KEYS = ("relevance_grade", "grade")
KEY_COLUMNS = ("query_key", "query_id")
TEXT_COLUMNS = ("query_text", "query")
GRADE_COLUMN = "relevance_grade"
KNOWN_COLUMNS = frozenset({*KEY_COLUMNS, *TEXT_COLUMNS, *REFERENCES, GRADE_COLUMN})


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


def detect_csv(_path: str, head: bytes) -> bool:
    """Return whether the first line names a query key and a reference, and nothing unknown."""
    names = set(head.partition(b"\n")[0].decode(errors="replace").strip().split(","))
    needed = (KEY_COLUMNS, TEXT_COLUMNS, REFERENCES)
    return names <= KNOWN_COLUMNS and all(names & set(group) for group in needed)


def read_csv(path: Path, options: ReadOptions) -> Dataset:
    """Return one query per key, in the order the keys first appear, within the upload limits."""
    problems = Problems(path)
    rows = read_rows(path, limit=options.limits.upload_bytes, setting="upload_bytes")
    line, header = next(rows)
    _check_header(problems, line, header)
    texts: dict[str, str] = {}
    targets: dict[str, dict[tuple[str, str], Target]] = {}
    first: dict[str, int] = {}
    for line, cells in rows:
        if len(cells) != len(header):
            problems.add(line, f"{len(cells)} cells; expected {len(header)}, as in the header")
            continue
        row = dict(zip(header, cells, strict=True))
        key = row.get("query_key") or row.get("query_id") or ""
        text = row.get("query_text") or row.get("query") or ""
        if not key.strip():
            problems.add(line, "the query key is empty")
            continue
        first.setdefault(key, line)
        if text and texts.setdefault(key, text) != text:
            problems.add(line, f"query {key!r} has another text than on line {first[key]}")
        target = _csv_target(problems, line, row)
        of_query = targets.setdefault(key, {})
        if target and (target.ref, target.path) in of_query:
            problems.add(line, f"query {key!r} judges {target.path!r} twice")
        elif target:
            of_query[target.ref, target.path] = target
    for key in targets.keys() - texts.keys():
        problems.add(first[key], f"query {key!r} has no text")
    if not targets and not problems:
        problems.add(1, "no row after the header")
    problems.finish()
    queries = [
        Query(key, texts[key], tuple(of_query.values())) for key, of_query in targets.items()
    ]
    check_sizes(path, queries, options)
    return Dataset.of(queries, name=path.name.removesuffix(".gz"), match="document")


def write_csv(data: Dataset | Run, path: Path) -> None:
    """Write one row per judgment with a column for each kind of reference in use."""
    dataset = as_dataset(data)
    used = [name for name in REFERENCES if name in dataset.refs.names] or ["uri"]
    rows: list[list[str | float]] = [["query_key", "query_text", *used, GRADE_COLUMN]]
    for query in dataset.queries():
        for target in query.targets:
            cells = [target.path if name == target.ref else "" for name in used]
            rows.append([query.id, query.text, *cells, int(target.grade)])
    write_text(path, render_rows(rows))


def _check_header(problems: Problems, line: int, header: list[str]) -> None:
    for name in repeated(header):
        problems.add(line, f"column {name!r} appears twice")
    for name in header:
        if name not in KNOWN_COLUMNS:
            problems.add(line, f"unknown column {name!r}")
    for columns in (KEY_COLUMNS, TEXT_COLUMNS, REFERENCES):
        if not set(columns) & set(header):
            problems.add(line, f"no column {' or '.join(columns)}")
    problems.finish()


def _csv_target(problems: Problems, line: int, row: dict[str, str]) -> Target | None:
    text = row.get(GRADE_COLUMN) or str(DEFAULT_GRADE)
    if not (text.isascii() and text.isdigit() and int(text) <= HIGHEST_GRADE):
        problems.add(line, f"grade {text!r} is out of range; expected 0 to {HIGHEST_GRADE}")
        return None
    for key in REFERENCES:
        if row.get(key, "").strip():
            return Target(row[key], float(text), ref=key)
    problems.add(line, f"no reference; expected one of {', '.join(REFERENCES)}")
    return None


CSV = Format(
    "semantik-csv",
    "dataset",
    "Semantik CSV upload: query_key, query_text, a reference, relevance_grade",
    (".csv",),
    detect_csv,
    read_csv,
    write_csv,
    frozenset({"text", "grades", "levels", "zeros", "files", "refs"}),
    frozenset({"textless", "fractions", "high", "pathless"}),
)
