"""Jobs of Harbor: a folder for each trial, with its result and its ATIF trajectory."""

from collections.abc import Mapping
from pathlib import Path

from karat.errors import FormatError, Problem
from karat.extensions.trace import reading
from karat.extensions.trace.readers import atif
from karat.extensions.trace.reading import TranscriptReader
from karat.extensions.trace.record import Transcript, amount, first_known, seconds_of, total

TRAJECTORY = "agent/trajectory.json"


def detect(path: Path, head: bytes) -> bool:
    """Return whether the file is the result of a trial."""
    return path.name == "result.json" and b'"trial_name"' in head and b'"task_name"' in head


def read(path: Path) -> list[Transcript]:
    """Return the transcript of the trial whose result is *path*."""
    result = reading.document(path)
    if not isinstance(result, Mapping) or "trial_name" not in result:
        return []  # the result of a job lists its trials, which have files of their own
    file = path.parent / TRAJECTORY
    if not file.is_file():
        message = f"no transcript of this trial; expected {TRAJECTORY}"
        raise FormatError([Problem(str(path), 0, message)])
    (trace,) = atif.read(file)
    spent = result.get("agent_result") or {}
    ran = result.get("agent_execution") or {}
    reported = total(spent.get("n_input_tokens"), spent.get("n_output_tokens"))
    seconds = seconds_of(ran.get("finished_at")) - seconds_of(ran.get("started_at"))
    task = result.get("task_id")
    ids = [result["task_name"], task if isinstance(task, str) else "", result["trial_name"]]
    # The session that the agent itself has stored is the same work once more.
    below = (each for each in path.parent.rglob("*") if each.is_file() and each != path)
    # Totals of the trial include calls of models that its trajectory may lack.
    return [
        trace._replace(
            source=path,
            ids=tuple(dict.fromkeys([*(str(each) for each in ids if each), *trace.ids])),
            agent=str((result.get("agent_info") or {}).get("name") or trace.agent),
            tokens=first_known(reported, trace.tokens),
            cost=first_known(amount(spent.get("cost_usd")), trace.cost),
            seconds=first_known(seconds, trace.seconds),
            parts=(*trace.parts, *below),
        )
    ]


READER = TranscriptReader(
    "harbor", "trials of a Harbor job: result.json and trajectory", detect, read
)
