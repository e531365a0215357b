"""Jobs of Harbor: ``jobs/<job>/<trial>/result.json``. Several trials of a task are its trials.

A trial with an exception and without a reward is a failure. One that ran out of time and was
verified has the reward of its verifier.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path

from karat.extensions.eval_tools.documents import (
    Record,
    first_files,
    keys_in,
    no_scores,
    number,
    read_json,
    record,
    records,
    text,
)
from karat.extensions.scores.readers import ScoreFile, ScoreOptions, ScoreReader
from karat.extensions.scores.record import ScoreMeasure, ScoreRow
from karat.system.words import counted

RESULT = "result.json"
# Results of jobs come before those of their trials.
MOST_OPENED = 8
COSTS = ("cost", "seconds")


def detect(path: str, head: bytes) -> bool:
    """Return whether a result of a trial or job begins here, or a folder has results of trials."""
    if not head:
        return any(_is_trial(file) for file in islice(first_files(path, RESULT), MOST_OPENED))
    return "n_total_trials" in keys_in(head) or _has_trial(head)


def _is_trial(path: str) -> bool:
    with open(path, "rb") as stream:  # noqa: PTH123 - one of os.walk
        return _has_trial(stream.read(65_536))


def _has_trial(head: bytes) -> bool:
    keys = keys_in(head)
    return {"task_name", "trial_name"} <= keys and bool(
        keys & {"agent_info", "verifier_result", "agent_result"}
    )


def read(path: Path, options: ScoreOptions) -> ScoreFile:
    """Return the rewards of all trials below a folder: of one job, or of several."""
    results = list(_trials(path, options))
    jobs: dict[str, set[str]] = {}
    for job, result in results:
        jobs.setdefault(_agent(result), set()).add(job)
    rows = []
    for job, result in results:
        agent = _agent(result)
        # One agent in two jobs is two systems: they may have other settings.
        system = f"{agent} ({job})" if len(jobs[agent]) > 1 else agent
        rows.append(_row(result, system))
    if not any(row.scores or row.failed for row in rows):
        raise no_scores(path, "trials of Harbor: <job>/<trial>/result.json")
    names = {name for row in rows for name in row.scores}
    measures = [
        ScoreMeasure(name, low=0.0, lower_is_better=True) for name in COSTS if name in names
    ]
    fields = {"system": "agent and model", "query": "task_name", "trial": "trial_name"}
    remarks = tuple(_remarks(path, results, rows))
    return ScoreFile(rows, fields, measures, remarks=remarks)


def _trials(path: Path, options: ScoreOptions) -> Iterator[tuple[str, Record]]:
    """Yield the job of each trial and its result; a job may hold its trials as well."""
    files = sorted(path.rglob(RESULT)) if path.is_dir() else [path]
    seen: set[str] = set()
    inside = []
    for file in files:
        result = record(read_json(file, options.limits))
        folder = file.absolute().parent
        if "trial_name" in result:
            seen.add(f"{folder.parent.name}/{text(result['trial_name'])}")
            yield folder.parent.name, result
        else:
            inside += [(folder.name, each) for each in records(result.get("trial_results"))]
            if file == path and not inside:
                yield from _trials(folder, options)
    for job, result in inside:
        if f"{job}/{text(result.get('trial_name'))}" not in seen:
            yield job, result


def _agent(result: Record) -> str:
    about = record(result.get("agent_info"))
    model = record(about.get("model_info"))
    return " ".join(filter(None, (text(about.get("name")), text(model.get("name"))))) or "agent"


def _row(result: Record, system: str) -> ScoreRow:
    rewards = record(record(result.get("verifier_result")).get("rewards"))
    scores = {name: number(value) for name, value in rewards.items()}
    known = {name: score for name, score in scores.items() if score is not None}
    failed = bool(result.get("exception_info")) and not known
    return ScoreRow(
        text(result.get("task_name")),
        system,
        {} if failed else {**known, **_costs(result)},
        trial=text(result.get("trial_name")),
        failed=failed,
    )


def _costs(result: Record) -> Mapping[str, float]:
    cost = number(record(result.get("agent_result")).get("cost_usd"))
    span = record(result.get("agent_execution"))
    seconds = _seconds(span.get("started_at"), span.get("finished_at"))
    return ({} if cost is None else {"cost": cost}) | (
        {} if seconds is None else {"seconds": seconds}
    )


def _seconds(start: object, end: object) -> float | None:
    """Return the seconds between two times in ISO 8601.

    >>> _seconds("2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z"), _seconds(None, "x")
    (90.0, None)
    """
    try:
        return (
            datetime.fromisoformat(text(end)) - datetime.fromisoformat(text(start))
        ).total_seconds()
    except (ValueError, TypeError):
        return None


def _remarks(path: Path, results: list[tuple[str, Record]], rows: list[ScoreRow]) -> Iterator[str]:
    kinds = Counter(
        text(record(result.get("exception_info")).get("exception_type")) or "exception"
        for _, result in results
        if result.get("exception_info")
    )
    if kinds:
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(3))
        failed = sum(row.failed for row in rows)
        yield (
            f"{path.name}: {counted(kinds.total(), 'trial')} with an exception ({listed}), "
            f"{failed} of them without a reward"
        )


READER = ScoreReader(
    "harbor",
    "jobs of Harbor (a folder of jobs, a job, or its result.json): rewards of tasks, in trials",
    detect,
    read,
)
