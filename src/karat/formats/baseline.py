"""The file of a baseline: JSON with one query a line, so that a diff shows which of them moved."""

import os
from collections.abc import Mapping
from math import nan

from karat.errors import InputError
from karat.formats.base import DEFAULT
from karat.formats.fields import Checker, Location, Record
from karat.formats.jsontext import dumps, finite, load_json
from karat.formats.load import detect
from karat.formats.source import head_of
from karat.model.frozen import EMPTY
from karat.model.gate import Baseline, BaselineQuery
from karat.system.files import write_text

__all__ = ["read_baseline", "write_baseline"]

MARK = "karat-baseline"
VERSION = 1
TEXT_KEYS = ("name", "gold", "gold_digest", "made_at", "karat")
KEYS = ("format", "version", *TEXT_KEYS, "settings", "means", "queries")
EXPECTED = "expected a file written by `karat baseline update`"
QUERY_KEYS = ("id", "digest", "rank", "scores", "model")


def write_baseline(baseline: Baseline, path: str | os.PathLike[str]) -> None:
    """Write *baseline*, whole or not at all; a query that is not scored has null."""
    head = {
        "format": MARK,
        "version": VERSION,
        "name": baseline.name,
        "gold": baseline.gold,
        "gold_digest": baseline.gold_digest,
        "made_at": baseline.made_at,
        "karat": baseline.version,
        "settings": dict(baseline.settings),
        "means": baseline.means,
    }
    lines = [dumps(finite(_row(query)), indent=None) for query in baseline.queries]
    opened = dumps(finite(head)).removesuffix("\n}")
    rows = ",\n".join(f"    {line}" for line in lines)
    write_text(path, f'{opened},\n  "queries": [\n{rows}\n  ]\n}}\n')


def _row(query: BaselineQuery) -> dict[str, object]:
    row = query._asdict()
    if not query.model:
        del row["model"]
    return row


def _reject_run(path: str | os.PathLike[str]) -> None:
    """Raise InputError where *path* is a run, which is easily taken for a baseline."""
    try:
        detected = detect(path, kind="run")
    except InputError:
        return
    if detected.detect(os.fspath(path), head_of(path)):
        raise InputError(
            f"{os.fspath(path)}: this is a run ({detected.name}), not a baseline; {EXPECTED}. To "
            "compare two runs, use `karat compare`"
        )


def read_baseline(path: str | os.PathLike[str]) -> Baseline:
    """Return the baseline in *path*, or raise FormatError with every problem of the file."""
    _reject_run(path)
    value, check = load_json(path, limit=DEFAULT.json_bytes)
    top = check.record(value, ())
    if top.get("format") != MARK:
        check.add((), f"not a baseline; {EXPECTED} ({MARK})")
        check.finish()
    check.known(top, KEYS, ())
    if check.whole(top, "version", (), default=0) != VERSION:
        check.add(("version",), f"unknown version; expected {VERSION}")
    name, gold, digest, made_at, version = (check.text(top, key, ()) for key in TEXT_KEYS)
    queries = tuple(
        _query(check, check.record(item, location), location)
        for location, item in check.rows(top.get("queries"), ("queries",), filled=True)
    )
    check.unique(((("queries", row), query.id) for row, query in enumerate(queries)), "id")
    baseline = Baseline(
        name=name,
        gold=gold,
        gold_digest=digest,
        made_at=made_at,
        version=version,
        settings=check.record(top.get("settings"), ("settings",)),
        means=_scores(check, top, "means", ()),
        queries=queries,
    )
    check.finish()
    return baseline


def _query(check: Checker, record: Record, location: Location) -> BaselineQuery:
    check.known(record, QUERY_KEYS, location)
    rank = check.number(record, "rank", location, default=0.0, low=1)
    return BaselineQuery(
        check.label(record, "id", location),
        check.text(record, "digest", location),
        rank or None,
        _scores(check, record, "scores", location),
        _scores(check, record, "model", location) if "model" in record else EMPTY,
    )


def _scores(check: Checker, record: Record, key: str, location: Location) -> Mapping[str, float]:
    at = (*location, key)
    scores = check.record(record.get(key), at)
    return {name: check.number(scores, name, at, default=nan) for name in scores}
