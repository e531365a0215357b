"""Task results of MTEB: ``results/<organisation>__<model>/<revision>/<task>.json``.

They have one score for each task, so the tasks are the sample. Scores of single queries are in the
files of predictions, which are runs.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from karat.extensions.eval_tools.documents import (
    files_below,
    has_file,
    keys_in,
    no_scores,
    number,
    read_json,
    record,
    records,
    text,
)
from karat.extensions.scores.readers import ScoreFile, ScoreOptions, ScoreReader
from karat.extensions.scores.record import ScoreRow
from karat.system.words import counted

ABOUT = "model_meta.json"
SCORE = "main_score"
# Revisions of results that nobody can repeat: reported by the authors of the model.
UNVERIFIED = ("external", "no_revision_available", "no_revision")


class TaskFile(NamedTuple):
    """A file of the result of a model on a task; *rank* orders the revisions of a model."""

    model: str
    task: str
    score: float
    rank: tuple[bool, tuple[int, ...], str]


def detect(path: str, head: bytes) -> bool:
    """Return whether a task result begins here, or a folder has models."""
    if not head:
        return has_file(path, ABOUT)
    return {"task_name", "dataset_revision", "scores"} <= keys_in(head)


def read(path: Path, options: ScoreOptions) -> ScoreFile:
    """Return the main score of each model and task, of the best known revision of the model."""
    results = _results(path)
    files = [file for each in results if (file := _task_file(each, options))]
    if not files:
        raise no_scores(path, "task results of MTEB with scores.<split>[].main_score")
    best: dict[tuple[str, str], TaskFile] = {}
    for file in sorted(files, key=lambda each: each.rank):
        best[file.model, file.task] = file
    rows = [
        ScoreRow(file.task, file.model, {SCORE: file.score}, tags={"task": file.task})
        for file in sorted(best.values())
    ]
    remarks = _remarks(path, files, best.values(), without=len(results) - len(files))
    fields = {"system": "folder of the model", "query": "task_name"}
    return ScoreFile(rows, fields, remarks=remarks)


def _results(path: Path) -> list[Path]:
    return [each for each in files_below(path, "*.json") if each.name != ABOUT]


def _task_file(path: Path, options: ScoreOptions) -> TaskFile | None:
    """Return a result: the mean of the main score over splits and subsets, as MTEB averages it."""
    result = record(read_json(path, options.limits))
    splits = record(result.get("scores"))
    chosen = [splits["test"]] if "test" in splits else list(splits.values())
    scores = [number(subset.get(SCORE)) for split in chosen for subset in records(split)]
    known = [score for score in scores if score is not None]
    task = text(result.get("task_name"))
    if not known or not task:
        return None
    revision, model = path.absolute().parent.name, path.absolute().parent.parent.name
    version = text(result.get("mteb_version"))
    numbers = tuple(int(part) for part in version.split(".") if part.isdigit())
    rank = revision not in UNVERIFIED, numbers, revision
    return TaskFile(model.replace("__", "/", 1), task, sum(known) / len(known), rank)


def _remarks(
    path: Path, files: list[TaskFile], best: Iterable[TaskFile], *, without: int
) -> tuple[str, ...]:
    chosen = list(best)
    models = {file.model for file in chosen}
    tasks = {file.task for file in chosen}
    remarks = []
    if without:
        remarks.append(f"{path.name}: {counted(without, 'file')} without {SCORE} left out")
    if older := len(files) - len(chosen):
        remarks.append(f"{path.name}: {older} results of further revisions of a model are left out")
    if gone := len(models) * len(tasks) - len(chosen):
        remarks.append(
            f"{path.name}: {counted(gone, 'result')} of a model and task missing; pairs are "
            "compared on the tasks that both have"
        )
    return tuple(remarks)


READER = ScoreReader(
    "mteb",
    "task results of MTEB (a folder of models, or one .json): main_score by task",
    detect,
    read,
)
