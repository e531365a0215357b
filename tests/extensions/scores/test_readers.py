"""Readers of other tools: an extension adds one, and every command uses it."""

import json
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.extension import Extension
from karat.extensions.scores.readers import (
    ScoreFile,
    ScoreOptions,
    ScoreReader,
    read_scores,
    reader_of,
)
from karat.extensions.scores.record import ScoreMeasure, ScoreRow
from tests.command_line import Karat
from tests.extension_kit import install

MARK = '{"tool": "judge-o-matic"'


def detect(_path: str, head: bytes) -> bool:
    return head.startswith(MARK.encode())


def read(path: Path, _options: ScoreOptions) -> ScoreFile:
    data = json.loads(path.read_text())
    rows = [
        ScoreRow(case, data["model"], {"points": points}, failed=points is None)
        for case, points in data["cases"].items()
    ]
    points = ScoreMeasure("points", "bounded", 0.0, 10.0)
    return ScoreFile(rows, measures=(points,), remarks=(f"{len(rows)} cases of a test",))


READER = ScoreReader("judge-o-matic", "A tool of a test.", detect, read)


@pytest.fixture
def files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Add a reader, and return two files of its tool; the second model gains two points."""
    adds = {"score_reader": {"judge-o-matic": f"{__name__}:READER"}}
    install(monkeypatch, Extension("judging", "For a test.", adds=adds))
    for name, more in (("first", 0), ("second", 2)):
        cases = {f"case {n}": None if n == 0 and more else n % 5 + more for n in range(12)}
        document = {"tool": "judge-o-matic", "model": name, "cases": cases}
        (folder / f"{name}.json").write_text(json.dumps(document))
    return ["first.json", "second.json"]


def test_commands_use_a_reader_of_an_extension(karat: Karat, files: list[str]) -> None:
    done = karat("compare", *files)
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        "2 files: judge-o-matic, 1 measure: points; 2 systems, 12 queries\n"
        "warning: 12 cases of a test\n"
    )
    # Eleven cases gain 2, and the failed one loses its 0 points.
    assert "second" in done.stdout
    document = json.loads(karat("compare", *files, "--json").stdout)
    (entry,) = document["comparison"]["differences"]
    assert (entry["difference"], entry["wins"], entry["ties"]) == (22 / 12, 11, 1)
    assert document["runs"][1]["queries"][0]["status"] == "error"


def test_a_reader_is_named_or_detected(files: list[str], folder: Path) -> None:
    found = reader_of(files[0])
    assert found is not None
    assert found.name == "judge-o-matic"
    (folder / "table.csv").write_text("query,system,score\nq,a,1\n")
    table = reader_of("table.csv")
    assert table is not None
    assert table.name == "score-table"
    assert read_scores(files[:1], reader="judge-o-matic").scores.systems == ("first",)
    (folder / "one.txt").write_text("nothing here")
    with pytest.raises(InputError, match="no reader knows these scores"):
        read_scores(["one.txt"])
