"""karat judge asks, saves, undoes, stops and goes on; a terminal and a pipe are the same to it."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.formats import read_dataset, write
from karat.model import Answer, Dataset, Hit, Query, Run, Target

Karat = Callable[..., CompletedProcess[str]]
Ask = Callable[..., CompletedProcess[str]]

JUDGE = ("judge", "set.json", "one.jsonl", "two.jsonl", "--judge", "ann")
CODE = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.fixture(autouse=True)
def files(folder: Path) -> Path:
    queries = [Query("q", "who \x1b[31m", (Target("a.py", 1, 1, 5),)), Query("r", "where")]
    write(Dataset.of(queries, match="lines"), folder / "set.json")
    one = [Answer("q", (Hit("a.py", 2, 1, 9), Hit("a.py", 1, 20, 22))), Answer("r", (Hit("b"),))]
    two = [Answer("q", (Hit("a.py", 2, 20, 22, "f"), Hit("a.py", 1, 22, 24)))]
    write(Run.of(one), folder / "one.jsonl")
    write(Run.of(two), folder / "two.jsonl")
    (folder / "a.py").write_text(CODE)
    return folder


@pytest.fixture
def ask(karat: Karat, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a function that runs karat judge with *answers* typed in."""

    def run(*answers: str, arguments: tuple[str, ...] = JUDGE) -> CompletedProcess[str]:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in answers)))
        return karat(*arguments)

    return run


def judged(folder: Path, name: str = "set.json") -> list[tuple[str, float, int, int]]:
    data = read_dataset(folder / name)
    targets = [target for query in data.queries() for target in query.targets]
    return [(t.path, t.grade, t.start_line, t.end_line) for t in targets[1:]]


def test_a_session(ask: Ask, folder: Path) -> None:
    done = ask("2 it calls the server", "0")
    assert (done.returncode, done.stderr) == (0, "")
    assert "[1 of 3] q: who \\x1b[31m\na.py:20-22\n" in done.stdout
    assert "   19   line 19\n   20 > line 20\n" in done.stdout
    assert "\x1b" not in done.stdout
    # Lines 22 to 24 share one with what has just been judged relevant: they are not asked for.
    assert "[2 of 3]" not in done.stdout
    assert "[3 of 3] r: where\nb\n  (nothing to show: no such file in .)\n" in done.stdout
    assert done.stdout.endswith("2 judged, 0 left, saved in set.json\n")
    assert judged(folder) == [("a.py", 2, 20, 22), ("b", 0, 0, 0)]
    first = json.loads((folder / "set.json").read_text())["test_cases"][0]["extra"]["judgments"]
    assert (first[0]["judge"], first[0]["note"]) == ("ann", "it calls the server")
    assert "[" not in ask().stdout


def test_it_goes_on_where_it_stopped(ask: Ask, folder: Path) -> None:
    assert "1 judged, 2 left" in ask("0", "q", "3").stdout
    assert judged(folder) == [("a.py", 0, 20, 22)]
    # Not relevant were lines 20 to 22 only.
    again = ask("s", "1")
    assert "[1 of 2] q: who" in again.stdout
    assert "a.py:22-24" in again.stdout
    assert judged(folder) == [("a.py", 0, 20, 22), ("b", 1, 0, 0)]
    assert "[1 of 1] q: who" in ask("q").stdout


def test_undo(ask: Ask, folder: Path) -> None:
    done = ask("u", "3", "u", "s", "u", "", "9", "q")
    assert done.stdout.count("nothing to undo") == 1
    assert done.stdout.count("expected 0, 1, 2, 3, s, u or q") == 2
    assert done.stdout.count("[1 of 3]") == 3
    assert done.stdout.endswith("0 judged, 3 left\n")
    assert judged(folder) == []
    ask("0", "1", "u", "2 why", "q")
    assert judged(folder) == [("a.py", 0, 20, 22), ("a.py", 2, 22, 24)]


def test_the_end_of_the_input_is_the_end(ask: Ask, folder: Path) -> None:
    done = ask("1")
    assert (done.returncode, judged(folder)) == (0, [("a.py", 1, 20, 22)])


def test_another_file(ask: Ask, folder: Path) -> None:
    (folder / "set.csv").write_text("id,query,result1\nq,who,a.py:1-5:1\nr,where,c:1-1:1\n")
    arguments = ("judge", "set.csv", "one.jsonl", "--judge", "ann", "-k", "2")
    refused = ask("1", arguments=arguments)
    assert refused.returncode == 2
    assert "-o FILE.json" in refused.stderr
    assert ask("3", "q", arguments=(*arguments, "-o", "new.json")).returncode == 0
    assert "[1 of 1] r: where" in ask("2", arguments=(*arguments, "-o", "new.json")).stdout
    grades = [
        target.grade for query in read_dataset("new.json").queries() for target in query.targets
    ]
    assert grades == [1, 3, 1, 2]


def test_what_is_unjudged_without_a_question(ask: Ask, folder: Path) -> None:
    before = (folder / "set.json").read_bytes()
    listed = ask("1", arguments=(*JUDGE[:4], "--list"))
    assert listed.stdout.splitlines() == [
        "q  a.py:20-22  (one 2, two 1)",
        "q  a.py:22-24  (two 2)",
        "r  b  (one 1)",
    ]
    assert listed.stderr == "3 hits of 2 queries are unjudged\n"
    value = json.loads(ask("1", arguments=(*JUDGE[:4], "--json", "-k", "1")).stdout)
    assert [(row["query_id"], row["ranks"]) for row in value["unjudged"]] == [
        ("q", {"two": 1}),
        ("r", {"one": 1}),
    ]
    assert (folder / "set.json").read_bytes() == before


def test_who_judges(ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise OSError("no username set in the environment")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert ask("1", arguments=JUDGE[:4]).returncode == 2
    # The system knows a user without any variable of the environment.
    monkeypatch.setattr("getpass.getuser", lambda: "bob")
    assert ask("1", arguments=JUDGE[:4]).returncode == 0
    assert '"judge": "bob"' in (folder / "set.json").read_text()


def test_a_whole_file_is_said_to_be_graded(ask: Ask, folder: Path) -> None:
    assert "the whole file" not in ask("q").stdout
    write(Dataset.of([Query("q", "who", (Target("b.py"),))]), folder / "set.json")
    assert "\na.py:1-9  (the whole file is graded)\n" in ask("q").stdout
    mixed = [Query("q", "who", (Target("b.py"),)), Query("r", "where", (Target("c.py", 1, 2, 3),))]
    write(Dataset.of(mixed, match="lines"), folder / "set.json")
    assert "\na.py:1-9  (the whole file is graded)\n" in ask("q").stdout


def test_code_of_a_revision(ask: Ask, folder: Path, git: Callable[..., str]) -> None:
    for step in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "one")):
        git(folder, *step)
    (folder / "a.py").write_text(CODE.replace("line", "later"))
    assert "> later 20" in ask("q").stdout
    assert "> line 20" in ask("q", arguments=(*JUDGE, "--repo", ".")).stdout
    assert ask("q", arguments=(*JUDGE, "--repo", ".", "--rev", "v9")).returncode == 2
    assert ask("q", arguments=(*JUDGE, "--repo", ".", "--folder", ".")).returncode == 2


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX systems")
def test_an_interrupt_keeps_what_was_answered(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "karat", *JUDGE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write("2 found\n")
    process.stdin.flush()
    # It asks for the next one, so the first is saved.
    for line in process.stdout:
        if "[3 of 3]" in line:
            break
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate()
    assert process.returncode == 130
    assert "1 judged, 1 left, saved in set.json" in rest
    assert judged(folder) == [("a.py", 2, 20, 22)]


def test_next_lists_or_asks_for_the_hits_of_so_many_queries(
    karat: Karat, ask: Ask, folder: Path
) -> None:
    listed = [
        {each["query_id"] for each in json.loads(karat(*JUDGE, "--json", *more).stdout)["unjudged"]}
        for more in ((), ("--next", "1"), ("--next",))
    ]
    assert listed[0] == listed[2] == {"q", "r"}
    assert len(listed[1]) == 1
    assert listed[1] < listed[0]
    # The session ends after the hits of this query; the next one continues with the other.
    done = ask(*"000", arguments=(*JUDGE, "--next", "1"))
    assert done.returncode == 0
    rest = json.loads(karat(*JUDGE, "--json", "--next", "1").stdout)["unjudged"]
    assert {each["query_id"] for each in rest} == listed[0] - listed[1]
    # The drawn query is recorded, also by a session that ends before the first grade; a list of
    # hits records nothing.
    assert (
        set(json.loads((folder / "set.json").read_text())["metadata"]["human_sample"]) == listed[1]
    )
    ask("q", arguments=(*JUDGE, "--next", "1"))
    assert set(json.loads((folder / "set.json").read_text())["metadata"]["human_sample"]) == {
        "q",
        "r",
    }
    assert karat(*JUDGE, "--next", "0").returncode == 2


def test_judging_stops_before_the_first_question(
    karat: Karat, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n1\n1\n"))
    done = karat("judge", "gold.qrels", "old.run", "-o", "judged.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "add the texts with --topics FILE" in done.stderr
    (folder / "topics.tsv").write_text("".join(f"q{n}\twhere is {n}\n" for n in range(1, 5)))
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n"))
    command = ("judge", "gold.qrels", "old.run", "-o", "judged.json", "--judge", "ann")
    done = karat(*command, "--topics", "topics.tsv")
    assert done.returncode == 0, done.stderr
    assert "1 judged, 0 left, saved in judged.json" in done.stdout


def test_judging_needs_a_folder_to_save_to(karat: Karat, folder: Path) -> None:
    (folder / "topics.tsv").write_text("".join(f"q{n}\twhere is {n}\n" for n in range(1, 5)))
    words = ("judge", "gold.qrels", "old.run", "--topics", "topics.tsv", "--judge", "ann")
    done = karat(*words, "-o", f"none{os.sep}judged.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be written: the folder does not exist" in done.stderr


@pytest.mark.parametrize(
    ("output", "problem"),
    [("lacks/out.json", "does not exist"), ("gold.qrels/out.json", "does not exist")],
)
def test_an_output_that_cannot_be_written_is_named_at_once(
    karat: Karat, output: str, problem: str
) -> None:
    done = karat("judge", "gold.qrels", "-o", output)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"error: {output}: ")
    assert problem in line


def test_code_is_shown_from_the_repository_of_each_case(
    ask: Ask, folder: Path, git: Callable[..., str]
) -> None:
    queries, answers = [], []
    for name in ("click", "gin"):
        repository = folder / "elsewhere" / name
        repository.mkdir(parents=True)
        git(repository, "init", "--quiet")
        (repository / "app.py").write_text(f"def {name}(value):\n    return value\n")
        git(repository, "add", ".")
        git(repository, "commit", "--quiet", "-m", "start")
        commit = git(repository, "rev-parse", "HEAD")
        extra = {"base_commit": commit, "repository": f"/gone/{name}"}
        queries.append(Query(name, "who", tags={"repository": name}, extra=extra))
        answers.append(Answer(name, (Hit("app.py", 1, 1, 2),)))
    write(Dataset.of(queries, match="lines"), folder / "two.json")
    write(Run.of(answers), folder / "both.jsonl")
    moved = ("--repo", "click=elsewhere/click", "--repo", "gin=elsewhere/gin")
    done = ask("s", "s", arguments=("judge", "two.json", "both.jsonl", "--judge", "ada", *moved))
    assert done.returncode == 0, done.stderr
    assert "nothing to show" not in done.stdout
    assert "def click(value):" in done.stdout
    assert "def gin(value):" in done.stdout
