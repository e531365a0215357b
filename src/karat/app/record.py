"""What a report keeps of each run, so that anybody can run it again and compare."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from karat.errors import InputError
from karat.formats.fields import Checker, Place, Record
from karat.formats.jsontext import parse, positions
from karat.formats.karat_run import answer_digests
from karat.formats.source import read_text
from karat.model import Dataset
from karat.model.spec import Spec
from karat.model.timings import Measured
from karat.store import Experiment, StoredRun

__all__ = ["RunRecord", "differing", "read_records", "record_of", "short_digests", "versions_of"]

# So much of the SHA-256 of an answer is kept: one in four thousand million differs unseen.
SHORT = 8
EMBEDDED = re.compile(r'<script type="application/json" id="records">(.*?)</script>', re.DOTALL)
LARGEST = 1_000_000_000
READ = (".html", ".json")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run: what decides its answers, and what they were.

    *gold* and *snapshot* are the digests of the gold set and of all that was searched; *where* is
    what :class:`karat.app.where.Where` takes. *answers* holds the digest of each answer, cut short,
    in the order of the gold set; blanks where there is none. *versions* are those that it was made
    with, of Karat and of what it is built on.
    """

    name: str
    engine: Spec
    k: int
    threshold: float
    seed: int
    match: str
    root: str
    gold: str
    snapshot: str
    where: Mapping[str, object]
    versions: Mapping[str, str]
    answers: str

    def to_json(self) -> dict[str, object]:
        """Return it as JSON can hold it."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        engine = {"name": self.engine.name, "options": dict(self.engine.params)}
        return fields | {"engine": engine, "where": dict(self.where)}


def record_of(
    experiment: Experiment, run: StoredRun, measured: Measured, gold: Dataset
) -> RunRecord:
    """Return what to keep of a *run* that the store holds."""
    config, metadata = experiment.config, run.metadata
    where = config.get("where")
    k, threshold = metadata.get("k"), metadata.get("threshold")
    return RunRecord(
        name=measured.name,
        engine=run.engine,
        k=k if isinstance(k, int) else 0,
        threshold=threshold if isinstance(threshold, float) else 0.0,
        seed=experiment.seed,
        match=str(config.get("match", gold.match)),
        root=str(config.get("root", "")),
        gold=experiment.dataset,
        snapshot=run.snapshot,
        where=where if isinstance(where, Mapping) else {},
        versions=versions_of(experiment),
        answers=short_digests(measured, gold),
    )


def versions_of(experiment: Experiment) -> dict[str, str]:
    """Return the versions of Karat, of Python and of the packages that *experiment* ran with."""
    packages = experiment.environment.get("packages")
    return {
        "karat": experiment.version,
        "python": str(experiment.environment.get("python", "")),
        **(packages if isinstance(packages, Mapping) else {}),
    }


def short_digests(measured: Measured, gold: Dataset) -> str:
    """Return the digests of all answers, cut short, in the order of *gold*."""
    found = answer_digests(measured.run)
    return "".join(found.get(query_id, " " * SHORT)[:SHORT] for query_id in gold.query_ids)


def differing(before: str, now: str, gold: Dataset) -> list[str]:
    """Return the queries whose answers differ between two such texts."""
    return [
        query_id
        for place, query_id in enumerate(gold.query_ids)
        if before[place * SHORT : (place + 1) * SHORT] != now[place * SHORT : (place + 1) * SHORT]
    ]


def read_records(path: str | os.PathLike[str]) -> tuple[RunRecord, ...]:
    """Return what the report at *path*, HTML or JSON, keeps of its runs.

    InputError where it keeps nothing: its runs came from files, and nobody knows how to get them.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in READ:
        raise InputError(
            f"{os.fspath(path)}: only {' and '.join(READ)} reports keep what is needed to run them "
            "again"
        )
    text = read_text(path, limit=LARGEST, setting="json_bytes")
    place: Place = ()
    if suffix == ".html":
        embedded = EMBEDDED.search(text)
        text = embedded[1] if embedded else "[]"
        value = parse(text, os.fspath(path))
    else:
        report = parse(text, os.fspath(path))
        origin = report.get("origin") if isinstance(report, Mapping) else None
        value = origin.get("records", []) if isinstance(origin, Mapping) else []
        place = ("origin", "records")
    check = Checker(path, lambda: positions(text))
    rows = check.rows(value, place)
    found = tuple(_record(check, check.record(row, at), at) for at, row in rows)
    check.finish()
    if not found:
        raise InputError(
            f"{os.fspath(path)} keeps no record of its runs; only reports on what karat evaluate, "
            "compare or sweep have run can be run again"
        )
    return found


def _record(check: Checker, row: Record, place: Place) -> RunRecord:
    engine = check.record(row.get("engine"), (*place, "engine"))
    options = check.record(engine.get("options"), (*place, "engine", "options"))
    versions = check.record(row.get("versions"), (*place, "versions"))
    return RunRecord(
        name=check.text(row, "name", place),
        engine=Spec("engine", check.text(engine, "name", (*place, "engine")), dict(options)),
        k=check.whole(row, "k", place, default=0, low=1),
        threshold=check.number(row, "threshold", place, default=0.0, low=0, high=1),
        seed=check.whole(row, "seed", place, default=0),
        match=check.text(row, "match", place),
        root=check.text(row, "root", place) if row.get("root") else "",
        gold=check.text(row, "gold", place),
        snapshot=check.text(row, "snapshot", place),
        where=dict(check.record(row.get("where"), (*place, "where"))),
        versions={name: str(version) for name, version in versions.items()},
        answers=check.text(row, "answers", place),
    )
