"""SWE-bench instances, and what agents located for them."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.cli.main import main
from karat.errors import FormatError
from karat.extensions.neighbours.swebench import ChangedFile, changed_files
from karat.formats import detect, read_dataset, read_run
from karat.model import Hit, Target

Git = Callable[..., str]
OLD = "".join(f"line {number}\n" for number in range(1, 31))
NEW = (
    OLD.replace("line 3\nline 4\n", "three\n")
    .replace("line 10\n", "line 10\nnew\n")
    .replace("line 20\n", "")
    + "line 31\n"
)


def diff(folder: Path, git: Git) -> str:
    """Return a diff that Git made, with every kind of change."""
    git(folder, "init", "--quiet")
    for name in ("changed.py", "gone.py", "with blank.py"):
        (folder / name).write_text(OLD)
    (folder / "moved.py").write_text("a moved line\n" * 9)
    (folder / "picture.png").write_bytes(b"\0\1\2")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    (folder / "changed.py").write_text(NEW)
    (folder / "with blank.py").write_text("first\n" + OLD)
    (folder / "new.py").write_text("-- a comment\n")
    (folder / "picture.png").write_bytes(b"\0\3")
    git(folder, "rm", "--quiet", "gone.py")
    git(folder, "mv", "moved.py", "there.py")
    git(folder, "add", ".")
    return subprocess.run(
        ["git", "-C", str(folder), "diff", "--cached", "-M"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_patch_of_git(tmp_path: Path, git: Git) -> None:
    assert sorted(changed_files(diff(tmp_path, git))) == [
        ChangedFile("", "new.py"),
        ChangedFile("changed.py", "changed.py", ((3, 4), (10, 11), (20, 20), (30, 30))),
        ChangedFile("gone.py", ""),
        ChangedFile("moved.py", "there.py"),
        ChangedFile("picture.png", "picture.png"),
        ChangedFile("with blank.py", "with blank.py", ((1, 1),)),
    ]


def test_a_patch_without_headers_of_git() -> None:
    patch = (
        "--- old/a.sql\t2020-01-01\n+++ b/a.sql\n@@ -1,2 +1,1 @@\n--- a comment\n x\n"
        "\\ No newline at end of file\n--- a/b.sql\n+++ b/b.sql\n@@ -5 +5 @@\n-x\n+y\n"
    )
    assert changed_files(patch) == [
        ChangedFile("old/a.sql", "a.sql", ((1, 1),)),
        ChangedFile("b.sql", "b.sql", ((5, 5),)),
    ]


def row(**cells: object) -> dict[str, object]:
    patch = (
        "--- a/x.py\n+++ b/x.py\n@@ -1,1 +1,1 @@\n-a\n+b\n"
        "--- /dev/null\n+++ b/y.py\n@@ -0,0 +1 @@\n+a\n"
    )
    return {
        "repo": "owner/name",
        "instance_id": "owner__name-1",
        "base_commit": "abc",
        "patch": patch,
        "test_patch": patch.replace("x.py", "test.py"),
        "problem_statement": "it fails",
        **cells,
    }


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet"])
def test_every_container(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"x.{kind}"
    rows = [row(version="2.0"), row(instance_id="owner__name-2", repo="owner/other")]
    if kind == "parquet":
        pytest.importorskip("polars").DataFrame(rows).write_parquet(path)
    else:
        text = json.dumps(rows) if kind == "json" else "\n".join(map(json.dumps, rows))
        path.write_text(text)
    assert detect(path).name == "swe-bench"
    data = read_dataset(path)
    assert data.targets(0) == [Target("x.py", 1, 1, 1)]
    assert data.tags == {"repository": ("owner__name", "owner__other")}
    assert data.extras[0] == {"base_commit": "abc", "version": "2.0", "new_files": ["y.py"]}
    assert data.metadata == {"new_files": 2}


def test_problems(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{json.dumps(row())}\n{json.dumps(row(patch=''))}\n")
    with pytest.raises(FormatError) as caught:
        read_dataset(path)
    assert [problem.message for problem in caught.value.problems] == [
        "'patch' is missing or empty",
        "instance 'owner__name-1' appears twice",
    ]
    path.write_text('{"instance_id": "1", "base_commit": "x", "patch": "y"}\n')
    with pytest.raises(FormatError, match="no column 'repo'"):
        read_dataset(path)


def test_each_instance_is_searched_at_its_commit(
    tmp_path: Path, git: Git, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    patch = diff(project, git)
    commit = git(project, "rev-parse", "HEAD")
    git(project, "commit", "--quiet", "-m", "two")
    path = tmp_path / "swe.jsonl"
    path.write_text(json.dumps(row(patch=patch, base_commit=commit, problem_statement="line 20")))
    monkeypatch.chdir(tmp_path)
    options = ["evaluate", "swe.jsonl", "-m", "recall@10", "--match", "exact", "--timed", "none"]
    with pytest.raises(SystemExit) as caught:
        main(options)
    assert caught.value.code == 2
    assert "give it with --repo owner__name=DIR" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        main([*options, "--repo", "owner__name=project"])
    assert not caught.value.code
    assert "bm25 has recall@10 0.800 " in capsys.readouterr().out  # all but the picture


ROWS = [
    {
        "instance_id": "1",
        "found_files": [["a.py", "b.py"], ["c.py", "a.py"]],
        "found_modules": [["a.py:A"]],
        "found_entities": [["b.py:B.f"], ["a.py:g"]],
    },
    {
        "instance_id": "2",
        "found_files": ["a.py", "b.py", "c.py"],
        "found_related_locs": [["class: A\nfunction: f"], [""]],
        "found_edit_locs": [[["line: 3\nline: 9"], ["function: g"]], [["line: 3"], [""]]],
    },
    {"instance_id": "3", "found_files": ["a.py"], "found_edit_locs": {"b.py": ["method: B.f"]}},
    {"instance_id": "4", "found_files": [], "found_edit_locs": [{"b.py": ["line: x"]}, {}]},
]


def test_what_agents_located(tmp_path: Path) -> None:
    path = tmp_path / "loc_outputs.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    assert detect(path).name == "localization"
    run = read_run(path)
    assert run.name == "loc_outputs"
    assert [answer.hits for answer in run.answers()] == [
        (
            Hit("a.py", symbol="g"),
            Hit("a.py", symbol="A"),
            Hit("b.py", symbol="B.f"),
            Hit("c.py"),
        ),
        (
            Hit("a.py", start_line=3, end_line=3),
            Hit("a.py", start_line=9, end_line=9),
            Hit("a.py", symbol="A"),
            Hit("a.py", symbol="f"),
            Hit("b.py", symbol="g"),
            Hit("c.py"),
        ),
        (Hit("a.py"), Hit("b.py", symbol="B.f")),
        (),
    ]
    path.write_text('{"instance_id": "", "found_files": []}\n')
    with pytest.raises(FormatError, match="'instance_id' is missing or empty"):
        read_run(path)
