"""karat evaluate judges on the tree before each change, and says what it searched."""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from karat.cli.main import main
from karat.cli.options import experiment
from karat.cli.output import progress
from karat.errors import InputError
from karat.experiments import store
from karat.experiments.workers import RunEvent, announce
from karat.formats import read_dataset, read_run, write
from karat.model import Dataset, Query, Target
from tests.extension_kit import EmptyGold, install_gold_source

Git = Callable[..., str]
# A run that is timed as well takes a second process of each engine.
UNTIMED = ("--timed", "none")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, git: Git) -> Path:
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


def no_executor(_url: str, *, workers: int) -> NoReturn:
    """Stop an experiment that is planned, before its first process."""
    raise InputError(f"{workers} workers")


def test_the_tree_before_the_change(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("-m", "hit@1", "--details") == 0
    printed = capsys.readouterr()
    scores, _, times = printed.out.partition("\nLatency\n")
    assert scores.startswith("bm25 has hit@1 1.000 [")
    assert "\nbm25, 2 queries\n" in scores
    assert "hit@1    1.0000" in scores
    assert "3 repetitions, 3 warm-up" in times
    assert (
        "(parent), 1 version of 2 documents\ncandidates: all files, without tests\n" in printed.out
    )
    assert "all 2 targets exist in the searched versions\n" in printed.out
    assert "work: bm25 indexed 2 rows for 1 version\n" in printed.out
    assert re.fullmatch(
        r"stored as (\w{10}) in .karat/karat.db; karat report \1 -o report.html\n", printed.err
    )


def test_head_warns_and_shows_both_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("-m", "hit@1", "--snapshot", "head", "--by", "kind", *UNTIMED)
    assert run(*options) == 0
    short = capsys.readouterr().out
    assert "\n1 of 2 targets does not exist in the searched version: " in short
    assert "; it counts as missed\n" in short
    assert run(*options, "--details") == 0
    printed = capsys.readouterr()
    assert printed.err.startswith(
        "warning: HEAD is not the version that the queries refer to: 1 of"
    )
    assert "use --snapshot parent; if the engine has one fixed index" in printed.err
    assert "karat carry gold.json --to HEAD -o gold-head.json\n" in printed.err
    title = "bm25, 2 queries, without the targets that do not exist in the searched version\n"
    rest = printed.out.partition("bm25, 2 queries\n")[2]
    assert "kind = a" in rest
    overall, _, resolved = rest.partition(title)
    assert "hit@1    1.0000" in resolved
    assert "hit@1    0.5000" in overall
    assert "(1 query with no other) and\n  counts as missed;" in overall


@pytest.mark.parametrize("gold", [("my gold.json",), ("--gold-set", "my gold.json")])
def test_the_advice_of_a_comparison_names_the_typed_gold_set(
    gold: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gold.json").rename("my gold.json")
    with pytest.raises(SystemExit) as caught:
        main(["compare", *gold, "--agents", "bm25", "keyword", "--snapshot", "head", *UNTIMED])
    assert not caught.value.code
    told = capsys.readouterr().err
    assert "karat carry 'my gold.json' --to HEAD -o gold-head.json" in told


def test_a_carried_set(capsys: pytest.CaptureFixture[str], git: Git) -> None:
    head = git(Path("project"), "rev-parse", "HEAD")
    gold = read_dataset("gold.json", format="gold")
    moved = {"auth.py": "login.py"}
    queries = [
        query._replace(
            targets=tuple(Target(moved.get(each.path, each.path)) for each in query.targets),
            extra={**query.extra, "base_commit": head},
        )
        for query in gold.queries()
    ]
    carried = Dataset.of(queries, name="gold", metadata={**gold.metadata, "carried_to": head})
    write(carried, "gold.json", format="gold")
    for snapshot in ((), ("--snapshot", "base"), ("--snapshot", "head")):
        assert run("-m", "hit@1", *snapshot, *UNTIMED, "--details") == 0
        printed = capsys.readouterr()
        output = " ".join(printed.out.split())
        assert "warning: " not in printed.err
        assert (
            f"each query on the version that the gold set was updated to, {head[:12]}, 1 version"
            in output
        )
        assert "all 2 targets exist in the searched versions" in output
    assert run("--snapshot", "child") == 2
    assert (
        f"gold was updated to {head[:12]} (karat carry), so its changes" in capsys.readouterr().err
    )
    git(Path("project"), "commit", "--quiet", "--allow-empty", "-m", "later")
    assert run("-m", "hit@1", "--snapshot", "head", *UNTIMED) == 0
    assert "warning: HEAD is not the version" in capsys.readouterr().err


def test_child_warns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--snapshot", "child", *UNTIMED) == 0
    assert "warning: the version after a change contains its answer" in capsys.readouterr().err


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
        "kind": "all",
        "kind_from": "",
        "suggested_kind": "",
        "other_kind": 0,
        "include": [],
        "exclude": [],
        "skipped": "",
        "skipped_files": {},
        "skipped_targets": {},
        "missing": ["auth.py"],
        "masked": False,
        "hint": "",
        "suggestions": {},
        "left_out": 0,
    }
    assert value["run"]["metrics"]["hit@1"]["mean"] == 0.5
    assert value["resolved"]["run"]["metrics"]["hit@1"]["mean"] == 1.0
    assert value["work"]["bm25"] == {"rows": 2}
    assert len(value["timings"]["bm25"]["samples"]) == 2
    assert len(value["warnings"]) == 1
    assert run("-e", "bm25", "-e", "keyword", "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in value["runs"]] == ["bm25", "keyword"]
    assert value["resolved"] is None
    assert value["warnings"] == ["2 configurations gave the same rankings: bm25; keyword"]


def test_several_engines_and_their_runs(capsys: pytest.CaptureFixture[str]) -> None:
    engines = ("-e", "bm25(k1=1.2)", "-e", "keyword", "-m", "mrr")
    assert run(*engines, "--run-out", "{engine}.jsonl", "--details") == 0
    printed = capsys.readouterr()
    assert "keyword against bm25(k1=1.2), 2 queries" in printed.out
    assert "candidates: all files, without tests" in printed.out
    scores, latency = printed.out.index("\nmeasure"), printed.out.index("\nLatency\n")
    assert scores < latency
    assert printed.out.startswith("bm25(k1=1.2) and keyword have the same mrr on every query.\n\n")
    plan, first, second, _ = printed.err.splitlines()
    assert plan == "plan: 2 runs of 2 queries, all of them timed"
    assert (first, second) == ("wrote bm25_k1=1.2.jsonl", "wrote keyword.jsonl")
    written = read_run("keyword.jsonl")
    assert written.metadata["snapshot"] == "parent"
    assert set(written.query_ids) == {"login", "mail"}
    assert min(written.latencies_ns) > 0
    # What was kept scores as it did.
    with pytest.raises(SystemExit):
        main(["score", "gold.json", "keyword.jsonl", "-m", "mrr", "--json"])
    again = json.loads(capsys.readouterr().out)["run"]["metrics"]["mrr"]["mean"]
    assert f"b keyword       {again:.3f}" in printed.out


def test_csv_and_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    for engines in (("-e", "bm25"), ("-e", "bm25", "-e", "keyword")):
        assert run(*engines, "-m", "mrr", "--csv", *UNTIMED) == 0
        printed = capsys.readouterr()
        assert ",mrr," in printed.out
        assert "candidates: all files, without tests\n" in printed.err
        assert run(*engines, "-m", "mrr", "--markdown", *UNTIMED) == 0
        assert "| run | mrr |" in capsys.readouterr().out
        assert run(*engines, "-m", "mrr", "--markdown", "--details", *UNTIMED) == 0
        assert "candidates: all files, without tests" in capsys.readouterr().out


def test_any_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--corpus", "project", "--rev", "HEAD~1", "-m", "hit@1", *UNTIMED, "--details") == 0
    output = capsys.readouterr().out
    assert "hit@1    1.0000" in output
    assert "searched: 2 documents in project\n" in output
    assert "targets exist in project\n" in output
    # Nothing is left out of a folder, and the rows of an index depend on the number of workers.
    assert "candidates" not in output
    assert "work" not in output


def test_a_repository_that_has_moved(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "project").rename(folder / "a=b")
    assert run() == 2
    assert (
        "which does not exist here, and the current folder does not have its commits"
        in capsys.readouterr().err
    )
    assert run("--repo", "a=b", *UNTIMED) == 0
    monkeypatch.chdir("a=b")
    (folder / "a=b" / "sub").mkdir()
    for directory in (folder / "a=b", folder / "a=b" / "sub"):
        monkeypatch.chdir(directory)
        capsys.readouterr()
        gold = str(folder / "gold.json")
        with pytest.raises(SystemExit) as caught:
            main(["evaluate", gold, "-m", "hit@1", "--store", str(folder / "x.db"), *UNTIMED])
        assert not caught.value.code
        printed = capsys.readouterr()
        assert (
            "note: the repository of the gold set is found by its commits in the cur" in printed.err
        )
        assert f"{folder / 'a=b'}" in printed.err
        assert printed.out.startswith("bm25 has hit@1 1.000 ")
    monkeypatch.chdir(folder)
    assert run("--repo", "gold=a=b") == 2
    assert "no repository 'gold=a'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rev", "HEAD"], "--rev needs --corpus"),
        (["--corpus", "project", "--snapshot", "head"], "--corpus cannot be combined with"),
        (["--corpus", "project", "--repo", "project"], "--corpus cannot be combined with"),
        (["-e", "bm25", "-e", "keyword", "--run-out", "x"], "put {engine} into the name"),
        (["-k", "5"], "use -k"),
        (["-e", "bm52"], "did you mean 'bm25'"),
        (["-o", "report.pdf"], "report.pdf: expected a report, such as report.html, or a folder"),
        (["-o", "results"], "results: expected a report"),
        (
            ["-o", "nowhere/report.html"],
            "report.html: cannot be written: the folder does not exist",
        ),
        (
            ["--run-out", "nowhere/bm25.run"],
            "bm25.run: cannot be written: the folder does not exist",
        ),
        (["--repo", "."], "is not a Git repository"),
    ],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == 2
    assert message in capsys.readouterr().err


def test_an_engine_that_never_answers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = folder / "broken.yaml"
    engine.write_text("engine: command\ncommand: [sh, -c, 'echo no index >&2; exit 9']\n")
    assert run("-e", str(engine), *UNTIMED) == 3
    assert "no query was answered; the first error: sh: exit code 9: no index\n" in (
        capsys.readouterr().err
    )


def test_one_of_several_engines_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = folder / "broken.yaml"
    engine.write_text("engine: command\nname: broken\ncommand: [sh, -c, 'exit 9']\n")
    assert run("-e", "bm25", "-e", str(engine), "-m", "mrr", "--timed", "none") == 3
    printed = capsys.readouterr()
    assert re.match(r"bm25 has mrr 1\.000 \[.*\] over 2 queries\.\n", printed.out)
    assert "failed: broken: no query was answered" in printed.err


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("raise ValueError('no licence')", "cannot create the engine: ValueError: no licence"),
        ("raise SystemExit(4)", "cannot create the engine: SystemExit: 4"),
    ],
)
def test_one_that_cannot_be_made_stops_no_other(
    line: str, reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = f"class Search:\n    def __init__(self):\n        {line}\n"
    (folder / "unlicensed.py").write_text(code, encoding="utf-8")
    (folder / "own.yaml").write_text("engine: unlicensed:Search\n", encoding="utf-8")
    ours = ("-e", "bm25", "-e", "unlicensed:Search", "-e", "own.yaml")
    try:
        assert run(*ours, "-m", "mrr", "--timed", "none", "-o", "report.md") == 3
    finally:
        sys.modules.pop("unlicensed", None)
    printed = capsys.readouterr()
    assert re.match(r"bm25 has mrr 1\.000 \[.*\] over 2 queries\.\n", printed.out)
    both = "unlicensed:Search-2 and unlicensed:Search-3"
    assert f"failed: {both}: Search: {reason}\n" in printed.err
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert f"failed and not included: {both}: Search: " in report
    with pytest.raises(SystemExit):
        main(["report", "latest", "-o", "again.md"])
    told = capsys.readouterr().err
    (identifier,) = {word.partition(".")[0] for word in re.findall(r"\((\w+\.\d)\)", told)}
    names = f"unlicensed:Search-2 ({identifier}.2) and unlicensed:Search-3 ({identifier}.3)"
    assert f"warning: {names}: failed, left out, with 0 of 2 answers: Search: {reason}\n" in told


def test_what_is_not_timed_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--timed", "none") == 0
    assert "p50 ms" not in capsys.readouterr().out
    assert run("--timed", "none", "--details") == 0
    assert "not measured" in capsys.readouterr().out
    capsys.readouterr()
    assert run("--timed", "some") == 2
    assert "expected a number, all or none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "timed"),
    [
        ((), "1 of them timed"),
        # Its result files have a latency for every query.
        (("-o", "results/"), "all of them timed"),
        (("-o", "results/", "--timed", "none"), "none of them timed"),
        (("-o", "report.md"), "1 of them timed"),
        (("--timed", "all"), "all of them timed"),
    ],
)
def test_how_many_are_timed(
    said: tuple[str, ...],
    timed: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(experiment, "TIMED", 1)
    assert run("-e", "bm25", "-e", "keyword", "-m", "mrr", "--draws", "99", *said) == 0
    assert f"plan: 2 runs of 2 queries, {timed}\n" in capsys.readouterr().err


@pytest.mark.parametrize(("said", "workers"), [((), 3), (("--workers", "2"), 2)])
def test_how_many_processes_search_at_once(
    said: tuple[str, ...],
    workers: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KARAT_WORKERS", "3")
    monkeypatch.setattr("karat.app.evaluate.open_executor", no_executor)
    assert run(*said) == 2
    assert f"error: {workers} workers" in capsys.readouterr().err


def test_latency_beside_another_run(capsys: pytest.CaptureFixture[str]) -> None:
    with announce("sweep"):
        # Without latency nothing is disturbed.
        assert run("--timed", "none") == 0
        assert "Latency is disturbed" not in capsys.readouterr().err
        assert run("--json") == 0
    printed = capsys.readouterr()
    assert "Waiting" not in printed.err
    notice = (
        f"Latency is disturbed: another karat run is active (pid {os.getpid()}: sweep); --wait "
        "measures when it has ended"
    )
    assert " ".join(printed.err.split()).count(notice) == 1
    assert json.loads(printed.out)["timings"]["bm25"]["alone"] is False
    # It is kept with the run, and the gate says it.
    with pytest.raises(SystemExit):
        main(["gate", "latest.1", "--max-latency", "p50=9s"])
    assert "disturbed by other karat runs" in capsys.readouterr().out


def test_latency_waits_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = ExitStack()
    seen: list[str] = []

    def waiting_text(holders: Sequence[Mapping[str, object]]) -> str:
        other.close()
        seen.extend(str(holder["command"]) for holder in holders)
        return "Waiting"

    monkeypatch.setattr(progress, "waiting_text", waiting_text)
    with other:
        other.enter_context(announce("sweep"))
        assert run("--wait", "--json") == 0
    printed = capsys.readouterr()
    assert seen == ["sweep"]
    assert "disturbed" not in printed.err
    assert json.loads(printed.out)["timings"]["bm25"]["alone"] is True


def test_the_hint_at_the_end_works_as_it_stands(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--timed", "none", "--store", "my store.db") == 0
    _, hint = capsys.readouterr().err.rstrip().split("; karat ")
    assert "--store 'my store.db' -o report.html" in hint
    with pytest.raises(SystemExit) as caught:
        main(shlex.split(hint))
    assert not caught.value.code
    assert (folder / "report.html").exists()


def test_the_hint_shows_no_password(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = store.open_store
    for module in ("evaluate", "changes"):
        monkeypatch.setattr(
            f"karat.app.{module}.open_store", lambda _url, **more: ours("own.db", **more)
        )
    assert run("--timed", "none", "--store", "postgresql://ann:secret@db/karat") == 0
    errors = capsys.readouterr().err
    assert "in postgresql://db/karat; karat report" in errors
    assert " --store ... -o report.html" in errors


def test_what_was_answered_is_not_asked_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def id_of(*arguments: str) -> str:
        assert run(*arguments, "--timed", "none") == 0
        return capsys.readouterr().err.split()[-3]  # stored as ... karat report ID -o report.html

    first = id_of()
    assert id_of() == id_of("-m", "mrr") == first
    newest = id_of("--again")
    assert newest != first
    assert id_of() == newest
    # Nobody knows whether a search that is not ours has changed in the meantime.
    script = folder / "search.sh"
    script.write_text("#!/bin/sh\necho '[\"auth.py\"]'\n")
    script.chmod(0o755)
    engine = folder / "own.yaml"
    engine.write_text(f"engine: command\ncommand: ['{script}']\n")
    external = ("-e", str(engine))
    first, newest = id_of(*external), id_of(*external)
    assert newest != first
    assert id_of(*external, "--kept") == newest


@contextmanager
def interrupted(_total: int) -> Iterator[Callable[[RunEvent], None]]:
    def hear(event: RunEvent) -> None:
        if event.kind == "answered":
            raise KeyboardInterrupt

    yield hear


def test_an_interruption_is_told_in_lines_that_fit_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(progress, "run_progress", interrupted)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert run() == 130
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) < 40
    assert "repeat the command to continue" in " ".join(lines)


def test_an_interruption_keeps_what_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(progress, "run_progress", interrupted)
        assert run() == 130
    printed = capsys.readouterr()
    assert re.search(r"interrupted: 1 of 2 query results stored as \w+; repeat", printed.err)
    assert run("--details") == 0
    assert "2 queries: 0 missing, 0 errors" in capsys.readouterr().out


def test_a_report_and_a_folder(
    folder: Path, capsys: pytest.CaptureFixture[str], embedded: Callable[[str], dict[str, Any]]
) -> None:
    assert run("-o", "report.html", "-m", "mrr") == 0
    assert "mrr" in capsys.readouterr().out
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    (details,) = (each for key, each in embedded(page).items() if key.endswith("/details"))
    method = {each["name"] for each in details["method"]}
    assert method >= {"Searched, SHA-256", "Order of the queries, seed", "Run with"}
    assert "Snapshot mode" in method
    assert run("-o", "results/") == 0
    assert sorted(path.name for path in (folder / "results").iterdir()) == [
        *("bm25.csv", "bm25.json", "report.html", "report.md"),
    ]
    document = json.loads((folder / "results" / "bm25.json").read_text(encoding="utf-8"))
    assert document["aggregate_metrics"]["p50_latency_ms"] > 0


def test_a_report_tells_where_targets_were_lost(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--snapshot", "head", "--timed", "none", "--losses", "-o", "report.json") == 0
    written = (folder / "report.json").read_text(encoding="utf-8")
    lost = {"run": "bm25", "query_id": "login", "target": 0, "by": "not_in_corpus"}
    assert json.loads(written)["lost"] == [lost]
    assert run("--losses") == 2
    assert "add -o report.html" in capsys.readouterr().err


def test_a_sample(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--sample", "1", "--timed", "none") == 0
    assert " over 1 query; " in capsys.readouterr().out


def test_a_wrong_name_is_told_before_anything_is_mined(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install_gold_source(monkeypatch)
    config = "dataset:\n  origin: project\nagents: []\n"
    (folder / "benchmark.yaml").write_text(config, encoding="utf-8")
    monkeypatch.setattr(EmptyGold, "make", lambda *_: pytest.fail("made"))
    with pytest.raises(SystemExit) as caught:
        main(["evaluate", "--config", "benchmark.yaml", "--agent", "nope"])
    assert caught.value.code == 2
    assert "no engine named 'nope'" in capsys.readouterr().err


def test_agents_by_the_names_of_another_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["evaluate", "--gold-set", "gold.json", "--agent", "keyword_search"])
    assert not caught.value.code
    assert capsys.readouterr().out.startswith("keyword_search has ndcg@10 1.000 ")
    assert run("--gold-set", "gold.json") == 2
    assert "both name the gold set" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        main(["evaluate"])
    assert caught.value.code == 2
    assert "Expected a gold set" in capsys.readouterr().err
