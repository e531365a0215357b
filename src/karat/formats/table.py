"""Plain tables of judgments or results: CSV, TSV, JSON rows or Parquet.

Columns are recognised by their names; ``--column query=question`` names one that is not.

In a gold set, a query has several documents in several rows, or in one cell (a JSON list, or
separated by ``|``, ``;`` or line ends). A cell ``path:first-last`` has lines. Other columns are
kept as further fields, which ``--tag NAME`` turns into tags.

In a run, queries are named by a column of ids, or else by their text; they are then matched with
the texts of a gold set.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import inf, isfinite, nan
from pathlib import Path
from typing import NamedTuple

from karat.errors import FormatError, InputError, Problem
from karat.formats.base import IDS_ARE_TEXTS, Format, ReadOptions, as_dataset
from karat.formats.records import (
    SourceTable,
    TableRow,
    head_columns,
    read_table,
    render_rows,
    text_of,
    texts_of,
)
from karat.formats.source import Problems, number_text, parse_amount
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.system.files import write_text

# Role -> groups of column names; a name of an earlier group is preferred to those of later ones.
ROLES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "query": (
        ("query", "query_text", "question", "questions", "queries", "search_query"),
        ("user_input", "user_query", "prompt", "search_term", "keywords", "input"),
        ("text", "title", "topic", "search"),
    ),
    "document": (
        ("document", "documents", "doc", "docs", "docid", "doc_id", "document_id", "corpus_id"),
        (
            *("expected_document", "expected_documents", "expected_doc", "expected_docs"),
            *("expected_file", "expected_files", "expected_path", "expected_paths"),
            *("relevant_document", "relevant_documents", "relevant_doc", "relevant_docs"),
            *("relevant_file", "relevant_files", "ground_truth_files", "ground_truth_file"),
            *("target_file", "target_files", "gold_file", "gold_files", "gold_doc"),
        ),
        (
            *("path", "paths", "file", "files", "file_path", "filepath", "filename", "file_name"),
            *("source_file", "source_document"),
        ),
        ("uri", "url", "link", "page", "source", "target", "targets", "relevant", "expected"),
    ),
    "grade": (
        ("grade", "rating", "relevance", "relevance_grade", "judgment", "judgement"),
        ("score", "rel", "label"),
    ),
    "id": (
        (
            "query_id",
            "qid",
            "q_id",
            "queryid",
            "question_id",
            "query_key",
            "test_case_id",
            "case_id",
        ),
        ("id", "_id"),
    ),
    "start": (("start_line", "line_start", "first_line", "from_line", "start"),),
    "end": (("end_line", "line_end", "last_line", "to_line", "end"),),
    "quote": (
        ("quote", "quotes", "answer_text", "quoted_text"),
        ("context", "contexts", "reference_contexts", "passage", "passages", "excerpt", "evidence"),
    ),
}
# Columns of ids that mean a query even without its text, as in TREC judgments.
QUERY_IDS = ROLES["id"][0]
KNOWN_NAMES = {name for groups in ROLES.values() for names in groups for name in names}
# Documents of these columns are opaque ids, not paths.
IDS = frozenset({"docid", "doc_id", "document_id", "corpus_id"})
WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s\-.]+")
LINES = re.compile(r"(?P<path>.+):(?P<first>[1-9]\d*)-(?P<last>[1-9]\d*)", re.DOTALL)
SEPARATORS = {",": "|;\n", ";": "|;\n", "\t": "|;\n", "|": ";\n", "": "|;\n"}
LAST_LINE = 2**31 - 1
SCORE_NAMES = ("score", "similarity", "relevance_score", "bm25_score", "distance_score")
RANK_NAMES = ("rank", "position")


class Roles(NamedTuple):
    """The column of each role that a table has, and roles for which several columns compete."""

    columns: Mapping[str, str]
    ambiguous: Mapping[str, tuple[str, ...]]


def parse_columns(given: Iterable[str]) -> dict[str, str]:
    """Return role -> column of options such as ``query=question``; readers know the roles.

    >>> parse_columns(["query=question", "document=Expected file"])
    {'query': 'question', 'document': 'Expected file'}
    """
    columns: dict[str, str] = {}
    for text in given:
        role, mark, column = text.partition("=")
        if not role or not mark or not column:
            raise InputError(f"column {text!r}: expected ROLE=COLUMN, such as query=question")
        if columns.setdefault(role, column) != column:
            raise InputError(f"column {text!r}: {role} is already {columns[role]!r}")
    return columns


def recognise(names: Iterable[str], given: Mapping[str, str]) -> Roles:
    """Return the roles of the columns *names*; those in *given* are not looked for.

    >>> recognise(["Question", "expected_document", "team"], {}).columns
    {'query': 'Question', 'document': 'expected_document'}
    """
    spelled = {name: column_word(name) for name in names if name not in given.values()}
    columns: dict[str, str] = {}
    ambiguous: dict[str, tuple[str, ...]] = {}
    for role, groups in ROLES.items():
        if role in given:
            columns[role] = given[role]
            continue
        for group in groups:
            fitting = tuple(name for name in spelled if spelled[name] in group)
            if len(fitting) == 1:
                columns[role] = fitting[0]
            elif fitting:
                ambiguous[role] = fitting
            if fitting:
                break
    return Roles(columns, ambiguous)


def column_word(name: str) -> str:
    """Return a column name in lower case with underscores: ``docId`` and ``Doc ID`` are one."""
    return WORD.sub("_", name.strip()).lower().strip("_") or name


def detect(path: str, head: bytes) -> bool:
    """Return whether the header has a column of queries and one of documents; a rank is a run's."""
    names = head_columns(path, head)
    if {"rank", "position"} & set(map(column_word, names)):
        return False
    roles = recognise(names, {})
    known = roles.columns.keys() | roles.ambiguous.keys()
    asks = "query" in known or column_word(roles.columns.get("id", "")) in QUERY_IDS
    return len(names) > 1 and asks and bool(known & {"document", "quote"})


def read(path: Path, options: ReadOptions) -> Dataset:
    """Return one query per id, or per text if there is no column of ids."""
    table = read_table(path, options)
    columns = _columns(path, table, options.columns)
    problems = Problems(path, options.on_empty)
    collector = _Queries(
        columns, SEPARATORS[table.delimiter], by_text=_numbers_rows(table, columns)
    )
    for row in table.rows:
        collector.add(row, problems)
    problems.finish()
    queries = collector.finished(problems)
    if not queries and not problems:
        problems.add(0, "no row has a query")
    problems.finish()
    lined = any(target.end_line for query in queries for target in query.targets)
    quoted = any(target.ref == "quote" for query in queries for target in query.targets)
    ids = column_word(columns.get("document", "")) in IDS
    match = "lines" if lined or quoted else "document" if ids else "exact"
    return Dataset.of(queries, name=path.name.removesuffix(".gz"), match=match)


def write(data: Dataset | Run, path: Path) -> None:
    """Write one row per target; the columns for lines and quotes only if there are any."""
    dataset = as_dataset(data)
    lined = any(dataset.start_lines)
    quoted = "quote" in dataset.refs.names
    header = ["query_id", "query", "document", "grade"]
    header += ["start_line", "end_line"] if lined else []
    rows: list[list[str | float | None]] = [[*header, *(["quote"] if quoted else [])]]
    for query in dataset.queries():
        for target in query.targets:
            _check_cell(dataset.name, target.path)
            cells: list[str | float | None] = [query.id, query.text, target.path]
            cells.append(number_text(target.grade))
            if lined:
                cells += [target.start_line or None, target.end_line or None]
            if quoted:
                cells.append(target.symbol if target.ref == "quote" else None)
            rows.append(cells)
    write_text(path, render_rows(rows))


def _check_cell(name: str, path: str) -> None:
    """Raise InputError for a path that would be read back as another or as several."""
    if texts_of(path) != ([path] if path else []) or _split(path, SEPARATORS[","]) != (
        [path] if path else []
    ):
        raise InputError(f"{name}: a CSV table cannot hold the document {path!r}")
    if LINES.fullmatch(path):
        raise InputError(f"{name}: {path!r} would be read as a path with lines")


def _columns(path: Path, table: SourceTable, given: Mapping[str, str]) -> dict[str, str]:
    """Return role -> column, or raise FormatError with what was found and what to type."""
    if unknown := [role for role in given if role not in ROLES]:
        raise InputError(
            f"{path}: a gold set has no column {unknown[0]!r}; expected --column ROLE=NAME with "
            f"one of the roles {', '.join(ROLES)}"
        )
    absent = {role: column for role, column in given.items() if column not in table.columns}
    roles = recognise(table.columns, given)
    columns = {role: name for role, name in roles.columns.items() if role not in absent}
    has_id = column_word(columns.get("id", "")) in QUERY_IDS or "id" in given
    options: list[str] = []
    reasons = [f"no column {column!r} for --column {role}" for role, column in absent.items()]
    free = [name for name in table.columns if name not in columns.values()]
    for role in ("query", "document"):
        optional = has_id if role == "query" else "quote" in columns
        if role in columns or role in absent or (optional and role not in roles.ambiguous):
            continue
        if role in roles.ambiguous:
            names = roles.ambiguous[role]
            reasons.append(f"several columns may be the {role}: {', '.join(map(repr, names))}")
            guess = names[0]
        else:
            reasons.append(f"no column is recognised as the {role}")
            guess = _guess(table, free, role)
        free = [name for name in free if name != guess]
        options.append(f"--column {role}={shlex.quote(guess)}" if guess else "")
    if not reasons:
        return columns
    header = ", ".join(map(repr, table.columns))
    known = ", ".join(f"{role} = {name!r}" for role, name in columns.items()) or "none"
    advice = " ".join(filter(None, options)) or "--column ROLE=NAME"
    near = [
        f"{name!r} is perhaps {meant[0]!r}"
        for name in table.columns
        if name not in columns.values()
        and column_word(name) not in KNOWN_NAMES
        and (meant := get_close_matches(column_word(name), sorted(KNOWN_NAMES), n=1, cutoff=0.85))
    ]
    if near:
        advice += f"; {', '.join(near)}"
    if any(name.endswith("?") or name.count(" ") > 3 for name in table.columns):
        advice += "; the first line looks like data: add a header such as question,document"
    message = (
        f"{'; '.join(reasons)}; the header is {header}; recognised: {known}; "
        f"name the columns, for example {advice}"
    )
    raise FormatError([Problem(str(path), table.line, message)])


def _guess(table: SourceTable, free: list[str], role: str) -> str:
    """Return the likely column of *role* among *free* ones: queries have the most words."""
    if role != "query" or not free:
        return free[0] if free else ""
    return max(
        free,
        key=lambda name: sum(text_of(row.cells.get(name)).count(" ") for row in table.rows[:50]),
    )


def _numbers_rows(table: SourceTable, columns: Mapping[str, str]) -> bool:
    """Return whether a column called ``id`` numbers the rows and not the queries."""
    if "id" not in columns or "query" not in columns:
        return "id" not in columns
    if column_word(columns["id"]) in QUERY_IDS:
        return False
    ids = [text_of(row.cells.get(columns["id"])) for row in table.rows]
    texts = {text_of(row.cells.get(columns["query"])) for row in table.rows}
    return len(set(ids)) == len(ids) and len(texts) < len(ids)


def _split(text: str, separators: str) -> list[str]:
    parts = [text]
    for mark in separators:
        parts = [piece for part in parts for piece in part.split(mark)]
    return [part.strip() for part in parts if part.strip()]


class _Queries:
    """The queries of a table while its rows are read."""

    def __init__(self, columns: Mapping[str, str], separators: str, *, by_text: bool) -> None:
        self._columns = columns
        self._separators = separators
        self._by_text = by_text
        self._ids: dict[str, str] = {}
        self._empty_rows = 0
        self._texts: dict[str, str] = {}
        self._lines: dict[str, int] = {}
        self._targets: dict[str, dict[Target, Target]] = {}
        self._extras: dict[str, dict[str, object]] = {}

    def add(self, row: TableRow, problems: Problems) -> None:
        text = text_of(row.cells.get(self._columns.get("query", "")))
        label = self._cell(row, "id")
        key = text.strip() if self._by_text else label
        if not key:
            if self._by_text:
                self._empty_rows += 1
                problems.add_empty(row.line, f"{_at(row)}the query is empty")
            else:
                problems.add(row.line, f"{_at(row)}the id is empty")
            return
        self._lines.setdefault(key, row.line)
        # A row without a query keeps its number, so that the others keep theirs once it has one.
        self._ids.setdefault(key, label or str(len(self._ids) + self._empty_rows + 1))
        if text.strip() and self._texts.setdefault(key, text).strip() != text.strip():
            problems.add(
                row.line,
                f"{_at(row)}query {key!r} has another text than on line {self._lines[key]}",
            )
        used = set(self._columns.values())
        extra = {
            name: value
            for name, value in row.cells.items()
            if name not in used and value not in (None, "")
        }
        self._extras.setdefault(key, {}).update(extra)
        known = self._targets.setdefault(key, {})
        for target in self._row_targets(row, problems):
            ungraded = target._replace(grade=0.0)
            if ungraded in known and known[ungraded].grade != target.grade:
                problems.add(row.line, f"{_at(row)}query {key!r} judges {target.path!r} twice")
            known[ungraded] = target

    def finished(self, problems: Problems) -> list[Query]:
        if "query" in self._columns:
            for key in self._ids:
                if key not in self._texts:
                    problems.add_empty(self._lines[key], f"query {key!r} has no text")
        return [
            Query(
                label,
                self._texts.get(key, ""),
                tuple(self._targets[key].values()),
                extra=self._extras[key],
            )
            for key, label in self._ids.items()
            if key in self._texts or "query" not in self._columns
        ]

    def _cell(self, row: TableRow, role: str) -> str:
        column = self._columns.get(role)
        return text_of(row.cells.get(column)).strip() if column else ""

    def _row_targets(self, row: TableRow, problems: Problems) -> list[Target]:
        text = self._cell(row, "grade") if "grade" in self._columns else "1"
        if not text or text.lower() in ("null", "none"):
            return []  # a document that nobody has rated
        grade = parse_amount(text)
        if grade is None:
            problems.add(row.line, f"{_at(row)}grade {text!r} is not a number of 0 or more")
            return []
        documents = self._documents(row)
        start, end = self._line(row, "start", problems), self._line(row, "end", problems)
        quotes = texts_of(row.cells.get(self._columns.get("quote", "")))
        if quotes:
            paths = documents if len(documents) == len(quotes) else documents[:1] * len(quotes)
            file_paths = paths or [""] * len(quotes)
            return [
                Target(path, grade, symbol=quote, ref="quote")
                for path, quote in zip(file_paths, quotes, strict=True)
            ]
        targets = []
        for document in documents:
            match = LINES.fullmatch(document)
            if match and not end:
                path, first, last = match["path"], int(match["first"]), int(match["last"])
            else:
                path, first, last = document, start or end, end or start
            if not 0 <= first <= last <= LAST_LINE:
                problems.add(row.line, f"{_at(row)}lines {first} to {last} are not a range")
            else:
                targets.append(Target(path, grade, first, last))
        return targets

    def _documents(self, row: TableRow) -> list[str]:
        value = row.cells.get(self._columns.get("document", ""))
        listed = texts_of(value)
        if isinstance(value, str) and len(listed) == 1 and listed[0] == value:
            return _split(value, self._separators)
        return [text.strip() for text in listed]

    def _line(self, row: TableRow, role: str, problems: Problems) -> int:
        text = self._cell(row, role)
        if not text:
            return 0
        if not (text.isascii() and text.isdigit() and 0 < int(text) <= LAST_LINE):
            problems.add(row.line, f"{_at(row)}{role} line {text!r} is not a line number")
            return 0
        return int(text)


def _at(row: TableRow) -> str:
    """Return which row a problem is in, where the file has no lines."""
    return "" if row.line else f"row {row.number}: "


FORMAT = Format(
    "csv",
    "dataset",
    "plain table (CSV, TSV, JSON, Parquet): a query, a document, perhaps grade, lines or quote",
    (".csv", ".tsv"),
    detect,
    read,
    write,
    frozenset(
        {"text", "grades", "levels", "high", "zeros", "fractions", "lines", "files", "quotes"}
    ),
    fallback=True,
    by_columns=True,
)

RATINGS = ("query", "docid", "rating")


def detect_quepid(_path: str, head: bytes) -> bool:
    """Return whether the header is that of Quepid's ratings."""
    line = head.partition(b"\n")[0].decode(errors="replace").strip()
    return tuple(line.split(",")) == RATINGS


def write_quepid(data: Dataset | Run, path: Path) -> None:
    """Write one row per rating."""
    dataset = as_dataset(data)
    twice = [text for text in set(dataset.texts) if dataset.texts.count(text) > 1]
    if twice:
        raise InputError(
            f"{dataset.name}: two queries have the text {min(twice)!r}; Quepid has no ids"
        )
    rows: list[list[str | float | None]] = [[*RATINGS]]
    for row, query in enumerate(dataset.queries()):
        for document, grade in dataset.judgments(row).items():
            _check_cell(dataset.name, document)
            rows.append([query.text, document, number_text(grade)])
    write_text(path, render_rows(rows))


QUEPID = Format(
    "quepid",
    "dataset",
    "Quepid ratings, CSV: query, docid, rating",
    (".csv",),
    detect_quepid,
    read,
    write_quepid,
    frozenset({"text", "grades", "levels", "high", "zeros", "fractions", "files"}),
    frozenset({"textless", "pathless"}),
    by_columns=True,
)


def detect_run(path: str, head: bytes) -> bool:
    """Return whether the header has a query, a document, and a score or a rank."""
    if head.lstrip()[:1] in (b"{", b"[") or head.startswith(b"PAR1"):
        return False
    columns = _run_columns(tuple(sorted(head_columns(path, head))))
    return {"document"} < columns.keys() and bool(columns.keys() & {"score", "rank"})


def read_run(path: Path, options: ReadOptions) -> Run:
    """Return one answer per query; hits by rank, else by descending score."""
    table = read_table(path, options)
    columns = _run_columns(table.columns)
    problems = Problems(path)
    _check(path, table, columns)
    key = columns.get("id") or columns["query"]
    hits: dict[str, list[tuple[float, Hit]]] = {}
    for row in table.rows:
        label = text_of(row.cells.get(key)).strip()
        document = text_of(row.cells.get(columns["document"])).strip()
        if not label or not document:
            problems.add(row.line, f"the {'document' if label else 'query'} is empty")
            continue
        score, rank = (_number(row, columns, name, problems) for name in ("score", "rank"))
        order = rank if "rank" in columns else -score
        hits.setdefault(label, []).append((order, Hit(document, score)))
    problems.finish()
    answers = []
    for label, ranked in hits.items():
        ranked.sort(key=lambda pair: pair[0] if isfinite(pair[0]) else inf)
        answers.append(Answer(label, tuple(hit for _, hit in ranked)))
    metadata = {} if "id" in columns else {IDS_ARE_TEXTS: True}
    name = path.name.removesuffix(".gz").partition(".")[0]
    return Run.of(answers, name=name, metadata=metadata)


def _run_columns(names: tuple[str, ...]) -> dict[str, str]:
    """Return the columns of a query, a document, a score and a rank among *names*."""
    spelled = {name.strip().lower(): name for name in names}
    numeric = {
        role: spelled[known[0]]
        for role, some in (("score", SCORE_NAMES), ("rank", RANK_NAMES))
        if (known := [name for name in some if name in spelled])
    }
    rest = [name for name in names if name not in numeric.values()]
    roles = recognise(rest, {}).columns
    return numeric | {role: roles[role] for role in ("query", "id", "document") if role in roles}


def _check(path: Path, table: SourceTable, columns: Mapping[str, str]) -> None:
    missing = [] if columns.keys() & {"query", "id"} else ["query_id"]
    missing += [] if "document" in columns else ["document"]
    missing += [] if columns.keys() & {"score", "rank"} else ["score"]
    if missing:
        header = ", ".join(map(repr, table.columns))
        message = f"no column {' and '.join(missing)}; the header is {header}"
        raise FormatError([Problem(str(path), table.line, message)])


def _number(row: TableRow, columns: Mapping[str, str], role: str, problems: Problems) -> float:
    text = text_of(row.cells.get(columns.get(role, ""))).strip()
    if not text:
        return nan
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not isfinite(value) or "_" in text:
        problems.add(row.line, f"{role} {text!r} is not a number")
    return value


RUN = Format(
    "csv-run",
    "run",
    "plain table of results (CSV, TSV): a query, a document, and a score or a rank",
    (".csv", ".tsv"),
    detect_run,
    read_run,
    fallback=True,
)
