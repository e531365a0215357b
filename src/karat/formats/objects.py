"""Judgments and runs in Python objects: dictionaries, data frames, objects of ranx.

Judgments are ``{query: {document: grade}}``, runs ``{query: {document: score}}`` or ranked lists.
Frames are read through narwhals, so that pandas, polars, pyarrow and others all work. `karat score`
imports this module: it needs neither JSON nor pathlib.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import isnan, nan
from typing import Any, cast

from karat.errors import InputError, MissingExtra

ByDocument = Mapping[str, Mapping[str, float]]
Stream = Iterable[tuple[str, Mapping[str, float]]]

# Names of columns, in lower case without separators; the first that a frame has is taken.
QUERY_NAMES = ("queryid", "qid", "query", "topic", "querykey", "topicid")
DOCUMENT_NAMES = ("docid", "docno", "documentid", "corpusid", "document", "doc", "path", "file")
GRADE_NAMES = ("relevance", "rel", "label", "grade", "score", "judgment", "rating")
SCORE_NAMES = ("score", "sim", "similarity")
RANK_NAMES = ("rank",)

ACCEPTED = (
    "a path, a {kind}, {{query: {{document: {value}}}}}, {{query: [document, ...]}}, a pandas, "
    "polars or pyarrow frame with the columns query_id, doc_id and {value}, or an object of ranx"
)


def judgments_of(source: object) -> ByDocument:
    """Return ``{query: {document: grade}}`` of any object that holds judgments.

    A grade that is missing or NaN, and two different grades of one document, raise InputError.

    >>> judgments_of({"q1": ["a", "b"]})
    {'q1': {'a': 1.0, 'b': 1.0}}
    """
    judgments = cast("ByDocument", _by_document(source, "Dataset", "grade", GRADE_NAMES))
    missing = [pair for query in judgments for pair in _without_grade(query, judgments[query])]
    if missing:
        (query, document), more = missing[0], len(missing) - 1
        raise InputError(
            f"document {document!r} of query {query!r} has no grade"
            f"{f', and {more:,} more' if more else ''}; expected a number, or leave the pair out"
        )
    return judgments


def _without_grade(query: str, grades: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return query and document of each grade that is None or NaN."""
    try:
        if not isnan(sum(grades.values())):
            return []  # the usual case, without a look at each grade
    except TypeError:
        pass
    return [(query, name) for name, grade in grades.items() if _is_missing(grade)]


def _is_missing(value: Any) -> bool:
    """Return whether *value* is None, NaN or the NA of pandas."""
    try:
        return value is None or type(value).__name__ == "NAType" or isnan(value)
    except TypeError:
        return False


def _add_grade(grades: dict[str, float], query: object, document: str, grade: float) -> None:
    """Add a grade; a different one of the same document raises InputError."""
    first = grades.setdefault(document, grade)
    if first != grade and not _is_missing(first) and not _is_missing(grade):
        one, other = plain_number(float(first)), plain_number(float(grade))
        raise InputError(
            f"document {document!r} of query {query!r} has two grades, {one} and {other}; "
            "expected one"
        )


def scores_of(source: object) -> ByDocument | Stream:
    """Return ``{query: {document: score}}`` of any object that holds rankings.

    A list is a ranking, best first. A stream of ``(query, {document: score})`` stays a stream.

    >>> scores_of({"q1": ["b", "a"]})
    {'q1': {'b': -1.0, 'a': -2.0}}
    """
    return _by_document(source, "Run", "score", SCORE_NAMES)


def _by_document(
    source: object, kind: str, value: str, names: Sequence[str]
) -> ByDocument | Stream:
    if isinstance(source, Mapping):
        return _of_mapping(source, kind, value)
    if _is_frame(source):
        return _of_frame(source, names, value)
    if callable(to_dict := getattr(source, "to_dict", None)):  # Qrels and Run of ranx
        return _of_mapping(to_dict(), kind, value)
    if isinstance(source, Iterable) and not isinstance(source, str | bytes | os.PathLike):
        return _of_rows(source, kind, value)
    raise _unusable(source, kind, value)


def _unusable(source: object, kind: str, value: str, where: str = "") -> InputError:
    type_name = f"{type(source).__module__}.{type(source).__qualname__}".removeprefix("builtins.")
    accepted = ACCEPTED.format(kind=kind, value=value)
    return InputError(f"cannot read {type_name}{where} as a {kind}; expected {accepted}")


def _of_mapping(source: object, kind: str, value: str) -> ByDocument:
    """Return the mapping itself where it holds mappings; lists become scores or grades."""
    if not isinstance(source, Mapping):
        raise _unusable(source, kind, value)
    if all(isinstance(documents, Mapping) for documents in source.values()):
        return source
    return {
        query: documents
        if isinstance(documents, Mapping)
        else _of_list(query, documents, kind, value)
        for query, documents in source.items()
    }


def _of_list(query: object, documents: object, kind: str, value: str) -> Mapping[str, float]:
    """Return a list of documents, or of pairs with a number, by document."""
    where = f" of query {query!r}"
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise _unusable(documents, kind, value, where)
    numbers: dict[str, float] = {}
    for rank, entry in enumerate(documents, 1):
        if isinstance(entry, str):
            numbers.setdefault(entry, 1.0 if kind == "Dataset" else -float(rank))
            continue
        try:
            document, number = entry
            worth = float(number)
        except (TypeError, ValueError):
            raise _unusable(entry, kind, value, where) from None
        if kind == "Dataset":
            _add_grade(numbers, query, str(document), worth)
        else:
            numbers.setdefault(str(document), worth)
    return numbers


def _of_rows(source: Iterable[object], kind: str, value: str) -> ByDocument | Stream:
    """Return rows such as those of ir_measures by query; other streams are returned as they are."""
    rows = iter(source)
    first = next(rows, None)
    together: Iterator[Any] = chain(() if first is None else (first,), rows)
    if isinstance(first, tuple) and hasattr(first, "query_id") and hasattr(first, "doc_id"):
        attribute = "relevance" if kind == "Dataset" else "score"
        by_query: dict[str, dict[str, float]] = {}
        for row in together:
            documents = by_query.setdefault(row.query_id, {})
            if kind == "Dataset":
                _add_grade(documents, row.query_id, row.doc_id, getattr(row, attribute))
            else:
                documents[row.doc_id] = getattr(row, attribute)
        return by_query
    pair = isinstance(first, tuple | list) and len(first) == 2 and isinstance(first[1], Mapping)
    if kind == "Run" and (first is None or pair):
        return together
    raise _unusable(source if first is None else first, kind, value, " in a list")


def _is_frame(source: object) -> bool:
    # On the class, because reading the columns of a lazy polars frame gives a warning.
    methods = ("__dataframe__", "__arrow_c_stream__", "collect")
    return hasattr(type(source), "columns") and any(hasattr(source, name) for name in methods)


def _of_frame(source: object, names: Sequence[str], value: str) -> ByDocument:
    """Return the rows of a frame by query; a run without scores is ordered by rank, or as it is."""
    try:
        import narwhals as nw
    except ImportError as error:
        raise MissingExtra("narwhals", extra="frames", purpose="reading a data frame") from error
    try:
        frame: Any = nw.from_native(cast("Any", source))
    except TypeError as error:
        raise InputError(f"cannot read {type(source).__name__}: {error}") from error
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    columns = {_plain(name): name for name in frame.columns}

    def find(spellings: Sequence[str]) -> str | None:
        return next((columns[name] for name in spellings if name in columns), None)

    query, document, number = find(QUERY_NAMES), find(DOCUMENT_NAMES), find(names)
    if query is None or document is None:
        raise InputError(
            f"the frame has the columns {', '.join(map(str, frame.columns))}; expected query_id, "
            f"doc_id and {value} (also qid, docno, {', '.join(names[:3])})"
        )
    rank = find(RANK_NAMES) if number is None and value == "score" else None
    chosen = number or rank
    values = (
        [1.0 if value == "grade" else -float(index) for index in range(len(frame))]
        if chosen is None
        else frame[chosen].to_list()
    )
    by_query: dict[str, dict[str, float]] = {}
    pairs = zip(frame[query].to_list(), frame[document].to_list(), strict=True)
    for (of_query, name), worth in zip(pairs, values, strict=True):
        documents = by_query.setdefault(str(of_query), {})
        try:
            score = -float(worth) if rank else float(worth)
        except (TypeError, ValueError):
            if value == "score" or not _is_missing(worth):
                raise InputError(
                    f"the frame has {worth!r} in column {chosen!r} for query {of_query!r}; "
                    "expected a number"
                ) from None
            score = nan
        if value == "grade":
            _add_grade(documents, of_query, str(name), score)
        else:
            documents[str(name)] = score
    return by_query


def _plain(name: object) -> str:
    return "".join(character for character in str(name).lower() if character.isalnum())


def plain_number(grade: float) -> float:
    """Return *grade*, a whole one as an int."""
    return int(grade) if grade.is_integer() else grade
