"""The records of runs in a report, and the queries whose answers differ from them."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from karat.errors import InputError
from karat.experiments.run_records import SHORT, RunRecord
from karat.formats.fields import Checker, Location, Record
from karat.formats.jsontext import parse_json, positions
from karat.formats.source import read_text
from karat.model import Dataset
from karat.model.spec import Spec

EMBEDDED = re.compile(r'<script type="application/json" id="records">(.*?)</script>', re.DOTALL)
LARGEST = 1_000_000_000
READ = (".html", ".json")


def differing_queries(before: str, now: str, gold: Dataset) -> list[str]:
    """Return the queries whose answers differ between two texts of digests."""
    return [
        query_id
        for number, query_id in enumerate(gold.query_ids)
        if before[number * SHORT : (number + 1) * SHORT]
        != now[number * SHORT : (number + 1) * SHORT]
    ]


def read_records(path: str | os.PathLike[str]) -> tuple[RunRecord, ...]:
    """Return the records in the report at *path*, HTML or JSON.

    InputError if it has none: its runs came from files, and cannot be repeated.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in READ:
        raise InputError(f"{os.fspath(path)}: karat verify reads only {' and '.join(READ)} reports")
    text = read_text(path, limit=LARGEST, setting="json_bytes")
    location: Location = ()
    if suffix == ".html":
        embedded = EMBEDDED.search(text)
        text = embedded[1] if embedded else "[]"
        value = parse_json(text, os.fspath(path))
    else:
        report = parse_json(text, os.fspath(path))
        origin = report.get("origin") if isinstance(report, Mapping) else None
        value = origin.get("records", []) if isinstance(origin, Mapping) else []
        location = ("origin", "records")
    check = Checker(path, lambda: positions(text))
    rows = check.rows(value, location)
    records = tuple(_record(check, check.record(row, at), at) for at, row in rows)
    check.finish()
    if not records:
        raise InputError(
            f"{os.fspath(path)} has no run records; karat verify needs a report by karat evaluate, "
            "compare or sweep, not one on run files"
        )
    return records


def _record(check: Checker, row: Record, location: Location) -> RunRecord:
    engine = check.record(row.get("engine"), (*location, "engine"))
    options = check.record(engine.get("options"), (*location, "engine", "options"))
    versions = check.record(row.get("versions"), (*location, "versions"))
    return RunRecord(
        name=check.text(row, "name", location),
        engine=Spec("engine", check.text(engine, "name", (*location, "engine")), dict(options)),
        k=check.whole(row, "k", location, default=0, low=1),
        threshold=check.number(row, "threshold", location, default=0.0, low=0, high=1),
        seed=check.whole(row, "seed", location, default=0),
        match=check.text(row, "match", location),
        root=check.text(row, "root", location) if row.get("root") else "",
        gold=check.text(row, "gold", location),
        snapshot=check.text(row, "snapshot", location),
        where=dict(check.record(row.get("where"), (*location, "where"))),
        versions={name: str(version) for name, version in versions.items()},
        answers=check.text(row, "answers", location),
    )
