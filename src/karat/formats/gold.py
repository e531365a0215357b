"""The Karat gold set: JSON, a superset of the test cases that others mine from Git history.

A plain file of those (``test_cases`` with ``ground_truth_files``) loads as it is. A gold set of
Karat has ``"format": "karat-gold"`` and a version; unknown keys are then rejected.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from karat.formats.base import EVERYTHING, Format, ReadOptions, as_dataset
from karat.formats.fields import Checker, Location, Record
from karat.formats.jsontext import load_json, opens_list, write_json
from karat.model import Dataset, Query, Run, Target
from karat.model.dataset import MASKS

MARK = "karat-gold"
VERSION = 1
TAG_KEYS = ("category", "complexity", "difficulty")
EXTRA_KEYS = ("base_commit", "commit_hash", "query_status", "timestamp")
TOP_KEYS = ("format", "version", "name", "match", "test_cases", "metadata")
CASE_KEYS = ("id", "query", "ground_truth_files", "targets", "tags", "extra")
TARGET_KEYS = ("path", "start_line", "end_line", "symbol", "grade", "ref", "quote", "subtopics")


def detect(_path: str, head: bytes) -> bool:
    """Return whether an object with a list of test cases begins here."""
    return head.lstrip().startswith(b"{") and opens_list(head, "test_cases")


def read(path: Path, options: ReadOptions) -> Dataset:
    """Return the test cases as a dataset; tags, commit and times are kept beside them."""
    value, check = load_json(path, limit=options.limits.json_bytes)
    return from_gold(value, check, name=path.name.removesuffix(".gz"))


def from_gold(value: object, check: Checker, *, name: str) -> Dataset:
    """Return the dataset of a JSON *value*; *name* is for one that does not name itself."""
    top = check.record(value, ())
    strict = top.get("format") == MARK
    if strict:
        check.known(top, TOP_KEYS, ())
        if check.whole(top, "version", (), default=VERSION) != VERSION:
            check.add(("version",), f"unknown version; expected {VERSION}")
    queries = []
    labels: list[tuple[Location, str]] = []
    for location, item in check.rows(top.get("test_cases"), ("test_cases",), filled=True):
        query = _case(check, check.record(item, location), location, strict=strict)
        queries.append(query)
        labels.append((location, query.id))
    check.unique(labels, "id")
    metadata = check.record(top.get("metadata") or {}, ("metadata",))
    targets = [target for query in queries for target in query.targets]
    lined = any(target.start_line or target.ref == "quote" for target in targets)
    match = check.text(top, "match", (), default="lines" if lined else "exact")
    name = check.text(top, "name", (), default=name)
    check.finish()
    return Dataset.of(queries, name=name, match=match, metadata=metadata)


def write(data: Dataset | Run, path: Path) -> None:
    """Write a dataset as a gold set, without loss."""
    data = as_dataset(data)
    write_json(path, as_gold(data))


def as_gold(dataset: Dataset) -> dict[str, object]:
    """Return the JSON value of *dataset*, which also readers of plain gold sets understand."""
    return {
        "format": MARK,
        "version": VERSION,
        "name": dataset.name,
        "match": dataset.match,
        "test_cases": [_as_case(query) for query in dataset.queries()],
        "metadata": dict(dataset.metadata),
    }


def gold_digest(dataset: Dataset) -> str:
    """Return the SHA-256 of all queries and targets in a canonical form.

    Names and metadata do not count: they change no score, except for masks, which change what is
    searched. The order of the queries counts.

    >>> gold_digest(Dataset.of([Query("q1", "login", (Target("auth.py"),))], name="a"))[:12]
    '912d4a2c6e41'
    """
    gold = as_gold(dataset)
    content = {key: gold[key] for key in ("match", "test_cases")}
    if masks := dataset.metadata.get(MASKS):
        content[MASKS] = masks
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode()).hexdigest()


def _case(check: Checker, case: Record, location: Location, *, strict: bool) -> Query:
    known = (*CASE_KEYS, *TAG_KEYS, *EXTRA_KEYS)
    if strict:
        check.known(case, known, location)
    extra = {key: case[key] for key in EXTRA_KEYS if case.get(key) is not None}
    extra |= {key: value for key, value in case.items() if key not in known}
    extra |= check.record(case.get("extra") or {}, (*location, "extra"))
    return Query(
        check.label(case, "id", location),
        check.text(case, "query", location),
        _targets(check, case, location),
        _tags(check, case, location),
        extra,
    )


def _targets(check: Checker, case: Record, location: Location) -> tuple[Target, ...]:
    files = [
        check.word(item, at) for at, item in check.listed(case, "ground_truth_files", location)
    ]
    if case.get("targets") is None:
        if case.get("ground_truth_files") is None:
            check.add(location, "'ground_truth_files' or 'targets' is missing")
        rows = [((*location, "ground_truth_files", i), file) for i, file in enumerate(files)]
        check.unique(rows, "file")
        return tuple(Target(file) for file in files)
    targets = tuple(
        _target(check, check.record(item, at), at)
        for at, item in check.listed(case, "targets", location)
    )
    relevant = {target.path for target in targets if target.path and target.grade > 0}
    if case.get("ground_truth_files") is not None and set(files) != relevant:
        check.add(location, "'ground_truth_files' and 'targets' name different relevant files")
    return targets


def _target(check: Checker, record: Record, location: Location) -> Target:
    check.known(record, TARGET_KEYS, location)
    start, end = check.lines(record, location)
    symbol = check.text(record, "symbol", location, default="")
    quote = check.text(record, "quote", location, default="")
    if quote and (symbol or start):
        check.add(location, "a quote has neither a symbol nor lines")
    path = check.text(record, "path", location, default="" if symbol or quote else None)
    return Target(
        path,
        check.number(record, "grade", location, default=1.0, low=0),
        start,
        end,
        quote or symbol,
        "quote" if quote else check.text(record, "ref", location, default="path"),
        tuple(check.word(item, at) for at, item in check.listed(record, "subtopics", location)),
    )


def _tags(check: Checker, case: Record, location: Location) -> dict[str, str]:
    tags = {key: check.text(case, key, location) for key in TAG_KEYS if case.get(key) is not None}
    given = case.get("tags") or {}
    if isinstance(given, list):
        words = [check.word(item, at) for at, item in check.rows(given, (*location, "tags"))]
        return {**{word: word for word in words}, **tags}
    record = check.record(given, (*location, "tags"))
    return {**{key: check.text(record, key, (*location, "tags")) for key in record}, **tags}


def _as_case(query: Query) -> dict[str, object]:
    files = dict.fromkeys(
        target.path for target in query.targets if target.path and target.grade > 0
    )
    case: dict[str, object] = {"id": query.id, "query": query.text, "ground_truth_files": [*files]}
    case["targets"] = [_as_target(target) for target in query.targets]
    case |= {key: query.tags[key] for key in TAG_KEYS if key in query.tags}
    case |= {key: query.extra[key] for key in EXTRA_KEYS if query.extra.get(key) is not None}
    tags = {key: value for key, value in query.tags.items() if key not in TAG_KEYS}
    extra = {key: value for key, value in query.extra.items() if key not in EXTRA_KEYS}
    return case | ({"tags": tags} if tags else {}) | ({"extra": extra} if extra else {})


def _as_target(target: Target) -> dict[str, object]:
    blank = Target("")
    row: Mapping[str, object] = target._asdict()
    if target.ref == "quote" and target.symbol:
        row = {"path": target.path, "quote": target.symbol, "grade": target.grade}
        return {key: value for key, value in row.items() if value or key == "grade"}
    return {
        key: value for key, value in row.items() if value != getattr(blank, key) or key == "grade"
    }


FORMAT = Format(
    "gold",
    "dataset",
    "Karat gold set: test cases with files, line ranges, symbols and grades",
    (".json",),
    detect,
    read,
    write,
    EVERYTHING - {"negatives", "textless"},
    frozenset({"textless"}),
)
