"""The Karat run: every field of every answer and hit, as JSON lines or as one JSON object.

JSON lines begin with a header object; each further line is one answer. What has its default value
is left out.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from math import isnan, nan
from pathlib import Path

from karat.errors import FormatError, Problem
from karat.formats.base import EVERYTHING, Format, ReadOptions, as_run
from karat.formats.fields import Checker, Location, Record
from karat.formats.jsontext import dumps, parse_json, positions
from karat.formats.source import read_text
from karat.model import Answer, Dataset, Hit, Outcome, Run
from karat.system.files import replacing

MARK = "karat-run"
VERSION = 1
HEADER_KEYS = ("format", "version", "name", "metadata")
ANSWER_KEYS = ("query_id", "outcome", "latency_ns", "hits", "extra")
HIT_KEYS = ("path", "score", "start_line", "end_line", "symbol", "tokens")
OUTCOMES = {outcome.name.lower(): outcome for outcome in Outcome}


def detect(_path: str, head: bytes) -> bool:
    """Return whether the mark of a Karat run stands near the beginning."""
    return head.lstrip().startswith(b"{") and b'"karat-run"' in head[:1024]


def read(path: Path, options: ReadOptions) -> Run:
    """Return the run; unknown keys are errors."""
    text = read_text(path, limit=options.limits.json_bytes, setting="json_bytes")
    lines = _parts(text, path)
    value, check, location = next(lines)
    header = check.record(value, location)
    whole = "answers" in header
    check.known(header, (*HEADER_KEYS, "answers") if whole else HEADER_KEYS, location)
    if header.get("format") != MARK or header.get("version") != VERSION:
        check.add((), f"expected format {MARK!r}, version {VERSION}")
    name = check.text(header, "name", (), default=path.name)
    metadata = check.record(header.get("metadata") or {}, ("metadata",))
    answers: list[Answer] = []
    checks = [check]
    if whole:
        rows = check.rows(header["answers"], ("answers",))
        answers = [_answer(check, check.record(item, at), at) for at, item in rows]
        labels = ((("answers", i), answer.query_id) for i, answer in enumerate(answers))
        check.unique(labels, "query")
    seen: set[str] = set()
    for value, check, location in lines:
        answer = _answer(check, check.record(value, location), location)
        if answer.query_id in seen:
            check.add(location, f"query {answer.query_id!r} is answered twice")
        seen.add(answer.query_id)
        answers.append(answer)
        checks.append(check)
    _finish(checks)
    return Run.of(answers, name=name, metadata=metadata)


def write(data: Dataset | Run, path: Path) -> None:
    """Write JSON lines, or one object where the name ends in ``.json``."""
    run = as_run(data)
    header = {"format": MARK, "version": VERSION, "name": run.name, "metadata": dict(run.metadata)}
    with replacing(path) as stream:
        if path.name.removesuffix(".gz").endswith(".json"):
            answers = [_answer_row(answer) for answer in run.answers()]
            stream.write(f"{dumps(header | {'answers': answers})}\n".encode())
            return
        stream.write(f"{dumps(header, indent=None)}\n".encode())
        for answer in run.answers():
            stream.write(f"{dumps(_answer_row(answer), indent=None)}\n".encode())


def answer_digests(run: Run) -> dict[str, str]:
    """Return the SHA-256 of the answer to each query: its outcome, and its hits in order.

    Latency and metadata are ignored.
    """
    return {
        answer.query_id: sha256(
            dumps(_answer_row(answer._replace(latency_ns=-1, extra={})), indent=None).encode()
        ).hexdigest()
        for answer in run.answers()
    }


def run_digest(run: Run) -> str:
    """Return the SHA-256 of all answers, independent of their order.

    >>> first, second = Answer("q1", (Hit("a.py", 0.5),)), Answer("q2", latency_ns=7)
    >>> run_digest(Run.of([first, second])) == run_digest(Run.of([second, first], name="other"))
    True
    """
    digests = answer_digests(run)
    return sha256("".join(digests[query] for query in sorted(digests)).encode()).hexdigest()


def _parts(text: str, path: Path) -> Iterator[tuple[object, Checker, Location]]:
    """Yield the one value of a JSON file, or that of each line, each with its own checker."""
    first, _, rest = text.partition("\n")
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        yield parse_json(text, str(path)), Checker(path, lambda: positions(text)), ()
        return
    yield (
        parse_json(first, str(path)),
        Checker(path, lambda: dict.fromkeys(positions(first), 1)),
        (),
    )
    bad: list[Problem] = []
    for number, line in enumerate(rest.split("\n"), 2):
        if not line.strip():
            continue
        try:
            value = parse_json(line, str(path), line=number)
        except FormatError as error:
            bad.extend(error.problems)
            continue
        yield value, Checker(path, _LineFields(number)), ()
    if bad:
        raise FormatError(bad)


class _LineFields:
    """Every location of a value that stands on one line."""

    def __init__(self, line: int) -> None:
        self.line = line

    def __call__(self) -> Mapping[Location, int]:
        return {(): self.line}


def _finish(checks: list[Checker]) -> None:
    problems: list[Problem] = []
    for check in checks:
        try:
            check.finish()
        except FormatError as error:
            problems.extend(error.problems)
    if problems:
        raise FormatError(problems)


def _answer(check: Checker, row: Record, location: Location) -> Answer:
    check.known(row, ANSWER_KEYS, location)
    outcome = check.text(row, "outcome", location, default="answered")
    if outcome not in OUTCOMES:
        check.add(
            (*location, "outcome"), f"{outcome!r} is not valid; expected {', '.join(OUTCOMES)}"
        )
    hits = [
        _hit(check, check.record(item, at), at) for at, item in check.listed(row, "hits", location)
    ]
    return Answer(
        check.text(row, "query_id", location),
        tuple(hits),
        OUTCOMES.get(outcome, Outcome.ERROR),
        check.whole(row, "latency_ns", location, default=-1),
        dict(check.record(row.get("extra") or {}, (*location, "extra"))),
    )


def _hit(check: Checker, row: Record, location: Location) -> Hit:
    check.known(row, HIT_KEYS, location)
    # A range that makes no sense is kept: judging counts it as an invalid hit.
    start = check.whole(row, "start_line", location, default=0, below=2**31)
    end = check.whole(row, "end_line", location, default=0, below=2**31)
    return Hit(
        check.text(row, "path", location),
        check.number(row, "score", location, default=nan),
        start,
        end,
        check.text(row, "symbol", location, default=""),
        check.whole(row, "tokens", location, default=-1),
    )


def _answer_row(answer: Answer) -> dict[str, object]:
    row: dict[str, object] = {"query_id": answer.query_id}
    if answer.outcome != Outcome.ANSWERED:
        row["outcome"] = answer.outcome.name.lower()
    if answer.latency_ns >= 0:
        row["latency_ns"] = answer.latency_ns
    row["hits"] = [_hit_row(hit) for hit in answer.hits]
    return row | ({"extra": dict(answer.extra)} if answer.extra else {})


def _hit_row(hit: Hit) -> dict[str, object]:
    blank = Hit("")
    row = {key: value for key, value in hit._asdict().items() if value != getattr(blank, key)}
    if isnan(hit.score):
        del row["score"]
    return row


FORMAT = Format(
    "karat-run",
    "run",
    "Karat run: every field of every answer and hit, JSON lines or JSON",
    (".jsonl", ".json"),
    detect,
    read,
    write,
    EVERYTHING,
)
