"""Files of results, and the scores that a reader finds in them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.extensions.scores.readers import ReadScores, read_scores, reader_of
from karat.extensions.scores.record import ScoreSet
from tests.command_line import folder, karat

__all__ = ["folder", "karat", "read", "write"]

Write = Callable[[str, object], Path]
Read = Callable[..., ReadScores]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a file: text as it is, a list of rows as JSON lines."""

    def write(name: str, value: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(value, str):
            path.write_text(value)
        elif path.suffix == ".jsonl" and isinstance(value, list):
            path.write_text("\n".join(map(json.dumps, value)))
        else:
            path.write_text(json.dumps(value))
        return path

    return write


@pytest.fixture
def read() -> Read:
    """Return a function that reads files by the reader that is detected, which has this name."""

    def read(reader: str, *paths: Path) -> ReadScores:
        for path in paths:
            detected = reader_of(str(path))
            assert detected is not None
            assert detected.name == reader
        return read_scores(paths)

    return read


def columns(scores: ScoreSet, measure: str) -> dict[str, list[float]]:
    """Return the score of each query on *measure*, by system."""
    return {system: scores.column(system, measure) for system in scores.systems}


def statuses(scores: ScoreSet, system: str) -> list[str]:
    """Return the status of each query of *system*."""
    return [status.name for status in scores.query_statuses(system)]
