"""The Parquet files of one run: their columns, and their rows as frames.

A run is one file, a folder of parts, or a glob pattern. Parts may be partitioned as by Hive:
``run/query_id=q1/part-0.parquet``. Columns are recognised by their names. In the long layout, a row
is a hit; in the wide layout, a row is a query with lists of documents and scores.
"""

import glob
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from karat.errors import FormatError, InputError, Problem
from karat.formats.source import Problems
from karat.system.tables import PARQUET, polars

if TYPE_CHECKING:
    import polars as pl


# The columns that Karat writes, and the role of each.
COLUMNS = {
    "query_id": "query",
    "path": "document",
    "score": "score",
    "rank": "rank",
    "start_line": "start_line",
    "end_line": "end_line",
    "symbol": "symbol",
    "tokens": "tokens",
}
WITHIN_FILE = ("start_line", "end_line", "symbol")
# Other names of columns, in order of preference.
NAMES: Mapping[str, tuple[str, ...]] = {
    "query": ("query_id", "q_id", "qid", "queryid", "topic_id", "topic"),
    "document": (
        *("path", "doc_id", "docid", "docno", "document_id", "corpus_id", "passage_id", "pid"),
        *("document", "doc"),
    ),
    "score": ("score", "similarity", "relevance_score", "bm25_score"),
    "rank": ("rank", "position"),
    **{name: (name,) for name in (*WITHIN_FILE, "tokens")},
}
# Names of columns of lists, besides those above.
LISTS: Mapping[str, tuple[str, ...]] = {
    "document": (
        *("paths", "doc_ids", "docids", "docnos", "document_ids", "corpus_ids", "passage_ids"),
        *("pids", "documents", "docs", "ids", "results", "retrieved"),
    ),
    "score": ("scores", "similarities"),
}
# With these names alone a table is a run; with others, a score or a rank decides.
DECISIVE = {"query": ("query_id", "q_id"), "document": ("path", "doc_id")}
HIVE = re.compile(r"(?P<name>[^=/]+)=(?P<value>[^/]*)")
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
NUMBERS = re.compile(r"(\d+)")
MOST_PROBLEMS = 100
LAST_LINE = 2**31 - 1


class Part(NamedTuple):
    """One file of a run: the column of each role, or the value of a Hive partition.

    *lists* are the roles whose columns hold lists: those of the wide layout.
    """

    path: Path
    columns: Mapping[str, str]
    values: Mapping[str, str | None]
    lists: frozenset[str]
    rows: int

    @property
    def roles(self) -> frozenset[str]:
        """Return the roles that this part has."""
        return frozenset((*self.columns, *self.values))

    def queries(self, start: int, count: int) -> "pl.Series":
        """Return the query of at most *count* rows from row *start* (from 0)."""
        if "query" in self.values:
            names = [self.values["query"]] * min(count, self.rows - start)
            constant: pl.Series = polars().Series(names, dtype=polars().String)
            return constant
        return _collect(self.path, self._scan(start, count, ("query",)))["query"]

    def frame(self, start: int, count: int, roles: Iterable[str]) -> "pl.DataFrame":
        """Return the hits of *count* rows from row *start*; a role that the part lacks is null.

        A list without documents is one row without a document. Invalid rows raise FormatError.
        """
        selected = [role for role in COLUMNS.values() if role in roles]
        frame = _collect(self.path, self._scan(start, count, selected))
        if self.lists:
            frame = self._exploded(frame.with_row_index("row", start + 1))
        self._check(frame, start)
        return frame.select(selected)

    def has_parts_of_files(self) -> bool:
        """Return whether any hit has lines or a symbol; line 0 and an empty symbol are none."""
        library = polars()
        roles = [role for role in WITHIN_FILE if role in self.columns]
        absent = {role: "" if role == "symbol" else 0 for role in roles}
        there = [(library.col(role) != none).any() for role, none in absent.items()]
        return bool(roles) and any(
            _collect(self.path, self._scan(0, self.rows, roles).select(there)).row(0)
        )

    def _scan(self, start: int, count: int, roles: Iterable[str]) -> "pl.LazyFrame":
        library = polars()
        scan: pl.LazyFrame = library.scan_parquet(self.path, glob=False, hive_partitioning=False)
        columns, constants = [], []
        for role in roles:
            kind = _kinds()[role]
            if role in self.columns:
                stored = library.List(kind) if role in self.lists else kind
                columns.append(library.col(self.columns[role]).cast(stored).alias(role))
            else:
                constants.append(library.lit(self.values.get(role), kind).alias(role))
        return scan.slice(start, count).select(columns).with_columns(constants)

    def _exploded(self, frame: "pl.DataFrame") -> "pl.DataFrame":
        """Return one row per hit of rows with lists; lists of unequal length raise FormatError."""
        library = polars()
        lists = [role for role in COLUMNS.values() if role in self.lists and role in frame.columns]
        sizes = frame.select("row", *(library.col(role).list.len().fill_null(0) for role in lists))
        problems = Problems(self.path)
        for role in lists[1:]:
            uneven = sizes.filter(library.col(role) != library.col(lists[0])).head(MOST_PROBLEMS)
            for row in uneven.iter_rows(named=True):
                problems.add(0, f"row {row['row']}: {row[lists[0]]} documents, {row[role]} {role}s")
        problems.finish()
        filled = [
            library.when(library.col(role).list.len() > 0)
            .then(library.col(role))
            # Versions of polars differ in how they explode an empty list.
            .otherwise(library.lit([None], dtype=library.List(_kinds()[role])))
            .alias(role)
            for role in lists
        ]
        counted = frame.with_columns(*filled, sizes["document"].alias("hits"))
        return counted.explode(lists)

    def _check(self, frame: "pl.DataFrame", start: int) -> None:
        """Raise FormatError with the invalid rows of *frame*, whose first one is row *start*."""
        library = polars()
        column = library.col
        # Only what sorts before the first printable character can be blank.
        document = frame["document"] if "document" in frame.columns else library.Series([""])
        checks = [("no query_id", column("query").is_null())]
        if document.null_count():
            is_hit = column("hits") > 0 if "hits" in frame.columns else library.lit(value=True)
            checks.append(("no document", column("document").is_null() & is_hit))
        if (document < "!").any():
            blank = column("document").str.strip_chars() == ""
            checks.append(("the path is empty", blank))
        if "score" in frame.columns and not frame["score"].is_finite().all():
            checks.append(("score {score} is not finite", column("score").is_finite().not_()))
        if "start_line" in frame.columns and "end_line" in frame.columns:
            first, last = column("start_line").fill_null(0), column("end_line").fill_null(0)
            outside = ~(first.is_between(0, LAST_LINE) & last.is_between(0, LAST_LINE))
            checks.append(("lines {start_line} to {end_line} are out of range", outside))
        problems: list[tuple[int, str]] = []
        numbered = frame if "row" in frame.columns else frame.with_row_index("row", start + 1)
        for message, wrong in checks:
            problems += [
                (row["row"], f"row {row['row']}: {message.format_map(row)}")
                for row in numbered.filter(wrong).head(MOST_PROBLEMS).iter_rows(named=True)
            ]
        if problems:
            source = str(self.path)
            raise FormatError([Problem(source, 0, message) for _, message in sorted(problems)])


def open_parts(source: str | os.PathLike[str]) -> list[Part]:
    """Return the parts of the run *source* in their order; a missing column raises FormatError."""
    files = find_parts(source)
    if not files:
        raise InputError(
            f"{os.fspath(source)}: no Parquet file; expected a file, a folder of *.parquet files, "
            "or a pattern such as 'run/*.parquet'"
        )
    problems: list[Problem] = []
    parts: list[Part] = []
    for path, values in files:
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        try:
            parts.append(_open(path, values))
        except FormatError as error:
            problems.extend(error.problems)
    if problems:
        raise FormatError(problems)
    return parts


def find_parts(source: str | os.PathLike[str]) -> list[tuple[Path, Mapping[str, str]]]:
    """Return each file of a run with its Hive partitions, in the order of their names.

    Names that begin with a dot or an underscore are not parts: Spark writes ``_SUCCESS``.
    """
    name = os.fspath(source)
    path = Path(name)
    if path.is_dir():
        return _in_folder(path)
    if path.exists() or not glob.has_magic(name):
        return [(path, {})]
    fixed: list[str] = []
    for piece in path.parts:
        if glob.has_magic(piece):
            break
        fixed.append(piece)
    root = Path(*fixed)
    parts: list[tuple[Path, Mapping[str, str]]] = []
    for each in sorted(map(Path, glob.glob(name, recursive=True)), key=_in_order):  # noqa: PTH207 - the pattern may be absolute
        if each.is_dir():
            own = _partitions(each.relative_to(root))
            inside = [] if "**" in name else _in_folder(each)
            parts += [(file, {**own, **values}) for file, values in inside]
        elif not each.name.startswith((".", "_")):
            parts.append((each, _partitions(each.parent.relative_to(root))))
    return parts


def part_files(pattern: str) -> list[Path]:
    """Return the files of the run that *pattern* names, in their order."""
    return [path for path, _ in find_parts(pattern)]


def has_run_columns(source: str | os.PathLike[str]) -> bool:
    """Return whether the first part of *source* is Parquet with the columns of a run.

    Names that judgments have too are those of a run only if it has ranks, or scores with fractions.
    A part whose columns cannot be read counts: its reader reports the problem.
    """
    parts = find_parts(source)
    if not parts or not _is_parquet(parts[0][0]):
        return False
    path, values = parts[0]
    try:
        schema = polars().read_parquet_schema(path)
    except Exception:  # noqa: BLE001 - detection never fails
        return True
    columns = _recognise(schema, values)
    if not {"query", "document"} <= columns.keys():
        return False
    return (
        all(_spelled(columns[role]) in names for role, names in DECISIVE.items())
        or "rank" in columns
        or _is_list(schema.get(columns["document"]))
        or ("score" in columns and schema[columns["score"]].is_float())
    )


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(PARQUET)) == PARQUET
    except OSError:
        return False


def _in_folder(folder: Path) -> list[tuple[Path, Mapping[str, str]]]:
    files = sorted((file for file in folder.rglob("*.parquet") if file.is_file()), key=_in_order)
    inside = [file.relative_to(folder) for file in files]
    return [
        (file, _partitions(own.parent))
        for file, own in zip(files, inside, strict=True)
        if not any(piece.startswith((".", "_")) for piece in own.parts)
    ]


def _in_order(path: Path) -> list[tuple[int, str]]:
    """Return a key that puts part-2 before part-10."""
    pieces = NUMBERS.split(str(path))
    return [(int(piece), piece) if piece.isdecimal() else (-1, piece) for piece in pieces]


def _partitions(folders: Path) -> dict[str, str]:
    matches = map(HIVE.fullmatch, folders.parts)
    return {match["name"]: unquote(match["value"]) for match in matches if match}


def _open(path: Path, partitions: Mapping[str, str]) -> Part:
    library = polars()
    try:
        schema = library.read_parquet_schema(path)
        rows = library.scan_parquet(path, glob=False).select(library.len()).collect().item()
    except library.exceptions.PolarsError as error:
        raise FormatError([Problem(str(path), 0, f"not Parquet: {error}")]) from None
    known = _recognise(schema, partitions)
    header = ", ".join(f"{name} ({kind})" for name, kind in schema.items()) or "empty"
    missing = [role for role in ("query", "document") if role not in known]
    if missing:
        names = " and ".join("query_id" if role == "query" else "path" for role in missing)
        message = f"no column {names}; the header is {header}; expected {', '.join(COLUMNS)}"
        raise FormatError([Problem(str(path), 0, message)])
    columns = {role: name for role, name in known.items() if name in schema}
    lists = frozenset(role for role, name in columns.items() if _is_list(schema[name]))
    for role, name in columns.items():
        kind = schema[name].inner if role in lists else schema[name]
        if role in lists and (role not in LISTS or "document" not in lists):
            expected = "one value per row"
        elif _kinds()[role].is_numeric() and not (kind.is_numeric() or kind == library.Null):
            expected = "numbers"
        elif kind.is_nested():
            expected = "text or numbers"
        elif "document" in lists and role == "score" and role not in lists:
            expected = "a list of numbers, as many as documents"
        else:
            continue
        message = f"column {name!r} is {schema[name]}; expected {expected}; the header is {header}"
        raise FormatError([Problem(str(path), 0, message)])
    values = {
        role: None if partitions[name] == HIVE_NULL else partitions[name]
        for role, name in known.items()
        if name not in schema
    }
    return Part(path, columns, values, lists, rows)


def _recognise(schema: Mapping[str, Any], partitions: Iterable[str]) -> dict[str, str]:
    """Return the column, or the Hive partition, of each role; columns of lists come last."""
    flat = {_spelled(name): name for name, kind in schema.items() if not _is_list(kind)}
    lists = {_spelled(name): name for name, kind in schema.items() if _is_list(kind)}
    flat = {_spelled(name): name for name in partitions} | flat
    columns: dict[str, str] = {}
    for role, names in NAMES.items():
        plural = LISTS.get(role, ())
        named = [flat[name] for name in names if name in flat]
        named += [lists[name] for name in (*plural, *names) if name in lists]
        if named:
            columns[role] = named[0]
    return columns


def _spelled(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _is_list(kind: object) -> bool:
    library = polars()
    return isinstance(kind, library.List | library.Array)


def _kinds() -> Mapping[str, Any]:
    library = polars()
    text, whole, real = library.String(), library.Int64(), library.Float64()
    kinds = (text, text, real, real, whole, whole, text, whole)
    return dict(zip(COLUMNS.values(), kinds, strict=True))


def _collect(path: Path, scan: "pl.LazyFrame") -> "pl.DataFrame":
    try:
        return scan.collect()
    except polars().exceptions.PolarsError as error:
        raise FormatError([Problem(str(path), 0, f"cannot be read: {error}")]) from None
