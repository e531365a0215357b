"""Judgments are saved one by one, with who, when and why."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from karat.app.pooling import PooledHit
from karat.errors import InputError
from karat.extensions.judges.by_hand import Judging
from karat.extensions.judges.gold_file import begun, save_path
from karat.extensions.judges.sources import folder_code, repository_code
from karat.formats import read_dataset, write
from karat.model import Dataset, Hit, Query, Target
from karat.model.judgments import JudgmentRecord, judgments_of

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    gold_path = tmp_path / "gold.json"
    data = Dataset.of(
        [Query("q", "who", (Target("a.py", 1, 1, 2),), {"category": "bug"}, {"commit_hash": "c"})],
        match="lines",
        metadata={"repository": "r"},
    )
    write(data, gold_path)
    return gold_path


def judging(path: Path) -> Judging:
    return Judging(read_dataset(path), path, judge="ann", clock=lambda: NOON)


def hit(name: str, start: int, end: int) -> PooledHit:
    return PooledHit(0, Hit(name, 0.0, start, end), {"run": 1})


def test_every_answer_is_in_the_file_at_once(path: Path) -> None:
    session = judging(path)
    session.grade(hit("b.py", 3, 9), 3, "it is there")
    session.grade(hit("c.py", 1, 2), 0)
    data = read_dataset(path)
    (query,) = data.queries()
    assert query.targets[1:] == (Target("b.py", 3, 3, 9), Target("c.py", 0, 1, 2))
    assert judgments_of(query) == (
        JudgmentRecord(query.targets[1], "ann", "2024-05-01T12:00:00Z", "it is there"),
        JudgmentRecord(query.targets[2], "ann", "2024-05-01T12:00:00Z"),
    )
    assert (query.tags, query.extra["commit_hash"]) == ({"category": "bug"}, "c")
    assert (data.match, data.metadata) == ("lines", {"repository": "r"})
    # Plain readers see relevant files only.
    case = json.loads(path.read_text())["test_cases"][0]
    assert case["ground_truth_files"] == ["a.py", "b.py"]


def test_undoing_leaves_the_file_as_it_was(path: Path) -> None:
    session = judging(path)
    session.grade(hit("b.py", 3, 9), 3)
    before = path.read_bytes()
    session.grade(hit("c.py", 1, 2), 0)
    assert not session.is_open(hit("c.py", 1, 2))
    session.undo()
    assert path.read_bytes() == before
    assert session.is_open(hit("c.py", 1, 2))
    with pytest.raises(InputError, match="grade 4"):
        session.grade(hit("c.py", 1, 2), 4)


def test_an_answer_can_settle_another_hit(path: Path) -> None:
    session = judging(path)
    session.grade(hit("b.py", 3, 9), 2)
    assert not session.is_open(hit("b.py", 8, 20))
    assert session.is_open(hit("b.py", 10, 20))


def test_where_judgments_are_saved(path: Path, tmp_path: Path) -> None:
    assert save_path(path) == path
    table = tmp_path / "code.csv"
    table.write_text("query,result1\nwho,a.py:1-2:1\n")
    with pytest.raises(InputError, match="'octocode' cannot store who judged a hit"):
        save_path(table)
    new = tmp_path / "new.json"
    assert save_path(table, new) == new
    data = begun(table, new)
    Judging(data, new, judge="ann").grade(hit("b.py", 1, 1), 1)
    assert begun(table, new).targets(0)[1].path == "b.py"
    with pytest.raises(InputError, match="exists already with other queries"):
        begun(path, new)


def test_code_of_a_folder_stays_in_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.py").write_text("inside\n")
    (tmp_path / "secret").write_text("outside\n")
    code = folder_code(str(tmp_path / "in"))
    assert code(0, "./a.py").text == "inside\n"
    for path in ("../secret", str(tmp_path / "secret"), "none.py"):
        assert code(0, path).text == ""
        assert "no such file" in code(0, path).reason


def test_code_of_a_repository_is_that_of_the_case(tmp_path: Path, git: Callable[..., str]) -> None:
    folder_path = tmp_path / "project"
    folder_path.mkdir()
    git(folder_path, "init", "--quiet")
    ids = []
    for text in ("old\n", "new\n"):
        (folder_path / "a.py").write_text(text)
        git(folder_path, "add", ".")
        git(folder_path, "commit", "--quiet", "-m", "x")
        ids.append(git(folder_path, "rev-parse", "HEAD"))
    queries = [
        Query("old", "", extra={"base_commit": ids[0]}),
        Query("new", ""),
        Query("lost", "", extra={"base_commit": "4711"}),
    ]
    with repository_code(Dataset.of(queries), {"": str(folder_path)}) as code:
        assert [code(row, "a.py").text for row in range(3)] == ["old\n", "new\n", ""]
        assert code(2, "a.py").reason == "no commit '4711'"
        assert code(0, "b.py").reason == f"no such file at {ids[0][:12]}"
