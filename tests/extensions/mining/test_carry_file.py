"""A gold set is written anew for a newer commit, in its own format."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.extensions.mining.carry_file import carry_file
from karat.formats import read_dataset, write
from karat.model import Dataset, Query, Target

CSV = "query,result1,result2\nwhere,b.py:1-1:1,\nwho,a.py:1-2:2,b.py:1-1:1\n"


@pytest.fixture
def project(tmp_path: Path, git: Callable[..., str]) -> Path:
    folder_path = tmp_path / "project"
    folder_path.mkdir()
    git(folder_path, "init", "--quiet")
    (folder_path / "a.py").write_text("def f():\n    pass\n")
    (folder_path / "b.py").write_text("gone\n")
    git(folder_path, "add", ".")
    git(folder_path, "commit", "--quiet", "-m", "one")
    (folder_path / "a.py").write_text("import os\n\n\ndef f():\n    pass\n")
    (folder_path / "b.py").unlink()
    git(folder_path, "commit", "--quiet", "-am", "two")
    return folder_path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    gold_path = tmp_path / "code.csv"
    gold_path.write_text(CSV)
    return gold_path


def test_the_format_stays(project: Path, gold: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    done = carry_file(gold, new, repositories={"": str(project)}, to="HEAD", base="HEAD~1")
    assert (done.queries, done.targets, done.target, done.warnings) == (2, 3, str(new), ())
    # The second query keeps its id, now that the first is gone.
    assert new.read_text() == "id,query,result1,result2,result3\n2,who,a.py:4-5:2,,\n"
    assert [loss.query_id for loss in done.carried.lost] == ["1", "2"]
    assert done.carried.dropped == ("1",)


def test_another_name_is_another_format(project: Path, gold: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.json"
    done = carry_file(gold, new, repositories={"": str(project)}, to="HEAD", base="HEAD~1")
    again = read_dataset(new, format="gold")
    assert again.extras == ({"base_commit": done.carried.commit},)
    # Now it knows where it comes from.
    done = carry_file(new, tmp_path / "back.json", repositories={"": str(project)}, to="HEAD~1")
    assert done.carried.data.targets(0)[0][2:4] == (1, 2)


def test_what_the_new_format_cannot_hold_is_told(project: Path, gold: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.qrels"
    done = carry_file(gold, new, repositories={"": str(project)}, to="HEAD", base="HEAD~1")
    assert "line ranges" in done.warnings


def test_nothing_is_overwritten_or_written_empty(project: Path, gold: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.csv"
    there.write_text("precious")
    carry = partial(carry_file, repositories={"": str(project)}, to="HEAD", base="HEAD~1")
    with pytest.raises(InputError, match="exists already"):
        carry(gold, there)
    with pytest.raises(InputError, match="is the input"):
        carry(gold, gold)
    assert there.read_text() == "precious"
    gold.write_text("query,result1\nwhere,b.py:1-1:1\n")
    with pytest.raises(InputError, match=r"no target exists at .*: the file was deleted"):
        carry(gold, tmp_path / "empty.csv")
    assert not (tmp_path / "empty.csv").exists()
    # Without a file to write, it is only told.
    assert len(carry(gold, None).carried.lost) == 1


def test_the_repository_that_a_set_names(project: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    queries = [Query("q", "who", (Target("a.py"),))]
    write(Dataset.of(queries, name="gold", metadata={"repository": str(project)}), gold)
    done = carry_file(gold, None, to="HEAD", base="HEAD~1")
    assert (done.carried.lost, done.carried.data.metadata["carried_to"]) == (
        (),
        done.carried.commit,
    )
    write(Dataset.of(queries, name="gold", metadata={"repository": "/nowhere"}), gold)
    with pytest.raises(InputError, match="gold was mined from /nowhere, which does not exist here"):
        carry_file(gold, None, to="HEAD", base="HEAD~1")
