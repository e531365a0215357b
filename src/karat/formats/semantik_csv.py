"""Semantik's CSV upload: one row per judgment, rows of one ``query_key`` make a query.

Columns: ``query_key``, ``query_text``, one or more of the reference columns (``document_id``,
``uri``, ``content_hash``, ``path``, ``file_name``; the first that is filled decides) and perhaps
``relevance_grade`` (0 to 3, else 2). The text may be left out on a query's later rows.
"""

from pathlib import Path

from karat.formats.base import Format, ReadOptions, as_dataset
from karat.formats.csvtext import read_rows, render_rows
from karat.formats.semantik import DEFAULT_GRADE, HIGHEST_GRADE, REFERENCES, check_sizes
from karat.formats.source import Problems
from karat.model import Dataset, Query, Run, Target
from karat.model.columns import repeated
from karat.system.files import write_text

__all__ = ["FORMAT"]

KEYS = ("query_key", "query_id")
TEXTS = ("query_text", "query")
GRADE = "relevance_grade"
KNOWN = frozenset({*KEYS, *TEXTS, *REFERENCES, GRADE})


def detect(_path: str, head: bytes) -> bool:
    """Return whether the first line names a query key and a reference, and nothing unknown."""
    names = set(head.partition(b"\n")[0].decode(errors="replace").strip().split(","))
    needed = (KEYS, TEXTS, REFERENCES)
    return names <= KNOWN and all(names & set(group) for group in needed)


def read(path: Path, options: ReadOptions) -> Dataset:
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
        target = _target(problems, line, row)
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
    queries = [Query(key, texts[key], tuple(found.values())) for key, found in targets.items()]
    check_sizes(path, queries, options)
    return Dataset.of(queries, name=path.name.removesuffix(".gz"), match="document")


def write(data: Dataset | Run, path: Path) -> None:
    """Write one row per judgment with a column for each kind of reference in use."""
    dataset = as_dataset(data)
    used = [name for name in REFERENCES if name in dataset.refs.names] or ["uri"]
    rows: list[list[str | float]] = [["query_key", "query_text", *used, GRADE]]
    for query in dataset.queries():
        for target in query.targets:
            cells = [target.path if name == target.ref else "" for name in used]
            rows.append([query.id, query.text, *cells, int(target.grade)])
    write_text(path, render_rows(rows))


def _check_header(problems: Problems, line: int, header: list[str]) -> None:
    for name in repeated(header):
        problems.add(line, f"column {name!r} appears twice")
    for name in header:
        if name not in KNOWN:
            problems.add(line, f"unknown column {name!r}")
    for wanted in (KEYS, TEXTS, REFERENCES):
        if not set(wanted) & set(header):
            problems.add(line, f"no column {' or '.join(wanted)}")
    problems.finish()


def _target(problems: Problems, line: int, row: dict[str, str]) -> Target | None:
    text = row.get(GRADE) or str(DEFAULT_GRADE)
    if not (text.isascii() and text.isdigit() and int(text) <= HIGHEST_GRADE):
        problems.add(line, f"grade {text!r} is out of range; expected 0 to {HIGHEST_GRADE}")
        return None
    for key in REFERENCES:
        if row.get(key, "").strip():
            return Target(row[key], float(text), ref=key)
    problems.add(line, f"no reference; expected one of {', '.join(REFERENCES)}")
    return None


FORMAT = Format(
    "semantik-csv",
    "dataset",
    "Semantik CSV upload: query_key, query_text, a reference, relevance_grade",
    (".csv",),
    detect,
    read,
    write,
    frozenset({"text", "grades", "levels", "zeros", "files", "refs"}),
    frozenset({"textless", "fractions", "high", "pathless"}),
)
