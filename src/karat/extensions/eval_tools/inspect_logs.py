"""Logs of Inspect: ``.eval`` (a zip, deflate or Zstandard) and ``.json``.

A sample with an error has no score and is a failure. One that was invalidated, or that its scorer
left unscored (NaN), has no score. One that a limit stopped has the score that Inspect gave it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from karat.errors import FormatError, Problem
from karat.extensions.eval_tools.documents import (
    Record,
    files_below,
    has_file,
    items,
    keys_in,
    no_scores,
    number,
    parse,
    read_json,
    record,
    records,
    text,
)
from karat.extensions.scores.readers import ScoreFile, ScoreOptions, ScoreReader, distinct_rows
from karat.extensions.scores.record import ScoreMeasure, ScoreRow
from karat.system.words import counted
from karat.system.zstd import member

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

# As Inspect itself turns letters and words into numbers.
VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
COSTS = ("tokens", "seconds")


def detect(path: str, head: bytes) -> bool:
    """Return whether *path* is a log, or a folder with some."""
    if not head:
        return has_file(path, "*.eval")
    if path.endswith(".eval"):
        return head.startswith(b"PK")
    return {"version", "status", "eval", "task_id", "model"} <= keys_in(head)


def read(path: Path, options: ScoreOptions) -> ScoreFile:
    """Return the scores of a log, or of all ``.eval`` logs in a folder."""
    files = []
    remarks: list[str] = []
    for log in files_below(path, "*.eval"):
        header, samples = _from_zip(log) if log.suffix == ".eval" else _from_json(log, options)
        of_log = list(_rows(header, samples))
        remarks += _remarks(log, header, samples, of_log)
        files.append((log, ScoreFile(of_log)))
    rows = distinct_rows(files)
    if not any(row.scores for row in rows):
        reasons = "; ".join([*remarks, "`inspect score` adds scores to a log"])
        raise no_scores(path, f"samples with scores; {reasons}")
    measures = [
        ScoreMeasure(name, low=0.0, lower_is_better=True)
        for name in COSTS
        if any(name in row.scores for row in rows)
    ]
    fields = {"system": "eval.model", "query": "task and sample id", "trial": "epoch"}
    return ScoreFile(rows, fields, measures, remarks=tuple(remarks))


def _from_json(path: Path, options: ScoreOptions) -> tuple[Record, list[Record]]:
    log = record(read_json(path, options.limits))
    return log, records(log.get("samples"))


def _from_zip(path: Path) -> tuple[Record, list[Record]]:
    """Return the header and the samples of a log.

    Summaries have all that is needed, unless a sample may be invalidated, which they do not say.
    """
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(path) as archive:
            names = archive.namelist()
            # A run that was killed has no header.
            first = "header.json" if "header.json" in names else "_journal/start.json"
            header = record(_member(archive, archive.getinfo(first), path))
            samples = []
            if header.get("invalidated") is False and "summaries.json" in names:
                summaries = archive.getinfo("summaries.json")
                samples = records(_member(archive, summaries, path))
            if not samples:
                samples = [
                    record(_member(archive, archive.getinfo(name), path))
                    for name in names
                    if name.startswith("samples/")
                ]
            return header, samples
    except (BadZipFile, KeyError, EOFError) as error:
        message = f"not a log of Inspect: {error}"
        raise FormatError([Problem(str(path), 0, message)]) from None


def _member(archive: "ZipFile", info: "ZipInfo", path: Path) -> object:
    """Return the JSON in a member of *archive*."""
    return parse(member(archive, info, path), f"{path}/{info.filename}")


def _rows(header: Record, samples: list[Record]) -> Iterator[ScoreRow]:
    about = record(header.get("eval"))
    task = text(about.get("task"))
    for sample in sorted(samples, key=_order):
        invalid = bool(sample.get("invalidation"))
        failed = bool(sample.get("error")) and not invalid
        scores = {} if invalid or failed else dict(_scores(sample))
        if any(score is not None for score in scores.values()):
            scores |= _costs(sample)
        yield ScoreRow(
            f"{task}/{text(sample.get('id'))}",
            text(about.get("model")),
            scores,
            trial=text(sample.get("epoch")),
            tags={"task": task} if task else {},
            text=_question(sample.get("input")),
            failed=failed,
        )


def _order(sample: Record) -> tuple[float, str, float]:
    """Return where a sample stands: a log has them in the order in which they ended."""
    label = sample.get("id")
    return number(label) or 0.0, text(label), number(sample.get("epoch")) or 0.0


def _scores(sample: Record) -> Iterator[tuple[str, float | None]]:
    """Yield each score of a sample; a scorer with several values gives several measures."""
    for scorer, score in record(sample.get("scores")).items():
        value = record(score).get("value")
        if isinstance(value, dict):
            for key, part in value.items():
                yield f"{scorer}.{key}", value_of(part)
        elif not isinstance(value, list):
            yield scorer, value_of(value)


def value_of(value: object) -> float | None:
    """Return the value of a score as a number, by the rules of Inspect; None if it is no number.

    >>> [value_of(value) for value in ("C", "P", "N", "yes", True, "0.25", "B", float("nan"))]
    [1.0, 0.5, 0.0, 1.0, 1.0, 0.25, None, None]
    """
    if not isinstance(value, str):
        return number(value)
    if value in VALUES or value.lower() in WORDS:
        return VALUES.get(value, WORDS.get(value.lower()))
    try:
        return number(float(value))
    except ValueError:
        return None


def _costs(sample: Record) -> Mapping[str, float]:
    usage = record(sample.get("model_usage")).values()
    tokens = [number(record(each).get("total_tokens")) for each in usage]
    time = number(sample.get("working_time"))
    time = number(sample.get("total_time")) if time is None else time
    known = [each for each in tokens if each is not None]
    return ({"tokens": sum(known)} if known else {}) | ({} if time is None else {"seconds": time})


def _question(value: object) -> str:
    """Return the input of a sample: a text, or the last message of the user."""
    messages = [item for item in records(value) if item.get("role") == "user"]
    content = messages[-1].get("content") if messages else value
    parts = [text(part.get("text")) for part in records(content)]
    return " ".join(filter(None, parts)) if items(content) else text(content)


def _remarks(
    log: Path, header: Record, samples: list[Record], rows: list[ScoreRow]
) -> Iterator[str]:
    """Yield what is unusual about a log: it did not end, or samples have no plain score."""
    status = text(header.get("status")) or "without a status"
    if status != "success":
        planned = record(record(header.get("eval")).get("dataset")).get("samples")
        of_all = f" of {text(planned)}" if text(planned) else ""
        yield f"{log.name}: the evaluation is {status}; it has {len(samples)}{of_all} samples"
    if samples and not any(sample.get("scores") for sample in samples):
        yield f"{log.name}: no sample is scored; `inspect score` does that"
    counts = Counter(
        reason for sample in samples for reason in ("error", "invalidation") if sample.get(reason)
    )
    if failed := counts["error"]:
        yield f"{log.name}: {counted(failed, 'sample')} failed with an error"
    if invalid := counts["invalidation"]:
        yield f"{log.name}: {counted(invalid, 'sample')} invalidated, without a score"
    if limits := Counter(map(_limit, samples)).most_common():
        stopped = [f"{count} by {limit}" for limit, count in limits if limit]
        if stopped:
            yield f"{log.name}: samples stopped at a limit keep their score: {', '.join(stopped)}"
    gone = Counter(name for row in rows for name, score in row.scores.items() if score is None)
    for name, count in gone.items():
        yield f"{log.name}: {counted(count, 'value')} of {name} without a number, left out"


def _limit(sample: Record) -> str:
    limit = sample.get("limit")
    return text(record(limit).get("type")) or text(limit)


READER = ScoreReader(
    "inspect",
    "logs of Inspect (.eval, .json, or a folder of .eval): a model's scores of samples, in epochs",
    detect,
    read,
)
