"""karat evaluate judges on the tree before each change, and says what it searched."""

import json
import subprocess
from pathlib import Path

import pytest

from karat.cli.main import main
from karat.formats import read_run, write
from karat.model import Dataset, Query, Target


def git(place: Path, *arguments: str) -> str:
    words = ("git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments)
    done = subprocess.run(words, cwd=place, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: a repository whose file was changed, then moved, and gold.json."""
    monkeypatch.chdir(tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "--quiet")
    (project / "auth.py").write_text("def login(user): ...\n")
    (project / "mail.py").write_text("def send(): ...\n")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "one")
    (project / "auth.py").write_text("def login(user, password): ...\n")
    (project / "mail.py").write_text("def send(twice): ...\n")
    git(project, "commit", "--quiet", "-am", "ask for a password at login")
    extra = {
        "commit_hash": git(project, "rev-parse", "HEAD"),
        "base_commit": git(project, "rev-parse", "HEAD~1"),
    }
    git(project, "mv", "auth.py", "login.py")
    git(project, "commit", "--quiet", "-m", "move")
    queries = [
        Query("login", "ask for a password at login", (Target("auth.py"),), {"kind": "a"}, extra),
        Query("mail", "send mail twice", (Target("mail.py"),), {"kind": "b"}, extra),
    ]
    gold = Dataset.of(queries, name="gold", metadata={"repository": str(project)})
    write(gold, tmp_path / "gold.json", format="gold")
    return tmp_path


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["evaluate", "gold.json", *arguments])
    return int(caught.value.code or 0)


def test_the_tree_before_the_change(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("-m", "hit@1") == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("bm25, 2 queries\n")
    assert "hit@1    1.0000" in shown.out
    assert "(parent), 1 tree of 2 documents\ncandidates: production, tests left out\n" in shown.out
    assert "targets: all 2 are in the trees searched\n" in shown.out
    assert "work: bm25 indexed 2 rows for 1 tree\n" in shown.out
    assert shown.err == ""


def test_head_warns_and_shows_both_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("-m", "hit@1", "--snapshot", "head", "--by", "kind") == 0
    shown = capsys.readouterr()
    assert shown.err.startswith(
        "warning: HEAD is not the tree that the queries were asked on: 1 of"
    )
    title = "bm25, 2 queries, without the targets that are not in the tree searched\n"
    before, _, rest = shown.out.partition("bm25, 2 queries\n")
    assert "kind = a" in before
    overall, _, resolved = rest.partition(title)
    assert "hit@1    1.0000" in resolved
    assert "hit@1    0.5000" in overall
    assert "(1 query with no other) and count as\n  missed;" in overall


def test_a_carried_set(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["carry", "gold.json", "--to", "HEAD", "--repo", "project", "-o", "carried.json"])
    head = git(Path("project"), "rev-parse", "HEAD")
    Path("carried.json").replace("gold.json")
    capsys.readouterr()
    for snapshot in ((), ("--snapshot", "base")):
        assert run("-m", "hit@1", *snapshot) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert f"each query on the tree that the set was carried to, {head[:12]}, 1 tree" in shown
        assert "targets: all 2 are in the trees searched" in shown
    assert run("--snapshot", "child") == 2
    assert f"gold was carried to {head[:12]}, and none of its changes" in capsys.readouterr().err


def test_child_warns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--snapshot", "child") == 0
    assert "warning: the tree after a change holds its answer" in capsys.readouterr().err


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("-m", "hit@1", "--snapshot", "head", "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert value["searched"] == {
        "snapshot": "head",
        "place": str(Path("project").resolve()),
        "candidates": "production",
        "trees": 1,
        "fewest": 2,
        "most": 2,
        "targets": 2,
        "unresolved": 1,
        "lost_queries": 1,
        "revision": "",
    }
    assert value["run"]["metrics"]["hit@1"]["mean"] == 0.5
    assert value["resolved"]["run"]["metrics"]["hit@1"]["mean"] == 1.0
    assert value["work"]["bm25"]["counts"] == {"rows": 2}
    assert len(value["warnings"]) == 1
    assert run("-e", "bm25", "-e", "keyword", "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in value["runs"]] == ["bm25", "keyword"]
    assert (value["resolved"], value["warnings"]) == (None, [])


def test_several_engines_and_their_runs(capsys: pytest.CaptureFixture[str]) -> None:
    engines = ("-e", "bm25(k1=1.2)", "-e", "keyword", "-m", "mrr")
    assert run(*engines, "--run-out", "{engine}.jsonl") == 0
    shown = capsys.readouterr()
    assert "keyword against bm25(k1=1.2), 2 queries" in shown.out
    assert "candidates: production" in shown.out
    assert shown.err == "wrote bm25_k1=1.2.jsonl\nwrote keyword.jsonl\n"
    kept = read_run("keyword.jsonl")
    assert kept.metadata["snapshot"] == "parent"
    assert set(kept.query_ids) == {"login", "mail"}
    # What was kept scores as it did.
    with pytest.raises(SystemExit):
        main(["score", "gold.json", "keyword.jsonl", "-m", "mrr", "--json"])
    again = json.loads(capsys.readouterr().out)["run"]["metrics"]["mrr"]["mean"]
    assert f"b keyword       {again:.3f}" in shown.out


def test_csv_and_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    for engines in (("-e", "bm25"), ("-e", "bm25", "-e", "keyword")):
        assert run(*engines, "-m", "mrr", "--csv") == 0
        shown = capsys.readouterr()
        assert ",mrr," in shown.out
        assert "candidates: production, tests left out\n" in shown.err
        assert run(*engines, "-m", "mrr", "--markdown") == 0
        assert "candidates: production, tests left out" in capsys.readouterr().out


def test_any_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--corpus", "project", "--rev", "HEAD~1", "-m", "hit@1") == 0
    shown = capsys.readouterr().out
    assert "hit@1    1.0000" in shown
    assert "searched: all queries on the same documents, 1 tree of 2 documents" in shown
    assert "candidates: all, tests among them" in shown


def test_a_repository_that_has_moved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "project").rename(folder / "a=b")
    assert run() == 2
    assert "which is not here; name it (--repo)" in capsys.readouterr().err
    assert run("--repo", "a=b") == 0
    assert run("--repo", "gold=a=b") == 2
    assert "no repository 'gold=a'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rev", "HEAD"], "--rev belongs to --corpus"),
        (["--corpus", "project", "--snapshot", "head"], "--corpus is searched in place of"),
        (["--corpus", "project", "--repo", "project"], "--corpus is searched in place of"),
        (["-e", "bm25", "-e", "keyword", "--run-out", "x"], "expected {engine} in it"),
        (["-k", "5"], "looks deeper than the 5 hits asked for"),
        (["-e", "bm52"], "did you mean 'bm25'"),
        (["--repo", "."], "not a git repository"),
    ],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == 2
    assert message in capsys.readouterr().err


def test_an_engine_that_never_answers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = folder / "broken.yaml"
    engine.write_text("engine: command\ncommand: [sh, -c, 'echo no index >&2; exit 9']\n")
    assert run("-e", str(engine)) == 3
    assert "no query was answered; the first error: sh: exit code 9: 'no index'" in (
        capsys.readouterr().err
    )
