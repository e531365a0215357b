"""karat gate and karat baseline: the exit code, whatever the output."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from xml.etree import ElementTree as ET

import pytest

Karat = Callable[..., CompletedProcess[str]]

QUERIES = 20
QUICK = ("--draws", "199")


@pytest.fixture(autouse=True)
def runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a gold set with a good run, one that slipped once and one that is broken."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    ids = [f"q{number}" for number in range(QUERIES)]
    write(folder / "g.qrels", (f"{query} 0 right 1" for query in ids))
    write(folder / "good.run", (f"{query} Q0 right 1 1 t" for query in ids))
    slipped = ("wrong" if query == "q0" else "right" for query in ids)
    write(folder / "slip.run", (f"{q} Q0 {doc} 1 1 t" for q, doc in zip(ids, slipped, strict=True)))
    write(folder / "bad.run", (f"{query} Q0 wrong 1 1 t" for query in ids))


def write(path: Path, lines: object) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")  # type: ignore[attr-defined]


@pytest.fixture
def baseline(karat: Karat) -> tuple[str, ...]:
    """Return the options of a gate against good.run."""
    assert karat("baseline", "update", "g.qrels", "good.run", "-m", "mrr").returncode == 0
    return ("--baseline", "baseline.json", "--max-regression", "0.02", *QUICK)


CASES = [
    (("good.run",), 0, "passed"),
    (("good.run", "--strict"), 0, "passed"),
    (("slip.run",), 0, "inconclusive"),
    (("slip.run", "--strict"), 1, "inconclusive"),
    (("bad.run",), 1, "failed"),
    (("bad.run", "--strict"), 1, "failed"),
    (("bad.run", "--min-queries", "21"), 0, "inconclusive"),
    (("bad.run", "--min-queries", "21", "--strict"), 1, "inconclusive"),
]
OUTLETS: list[tuple[str, ...]] = [
    (),
    ("--json",),
    ("--junit", "gate.xml"),
    ("--summary", "gate.md"),
    ("--annotations",),
    ("--no-annotations",),
    ("--json", "--junit", "gate.xml", "--summary", "gate.md", "--annotations"),
]


@pytest.mark.parametrize(("arguments", "code", "decision"), CASES)
def test_the_exit_code_does_not_depend_on_the_output(
    karat: Karat,
    folder: Path,
    baseline: tuple[str, ...],
    arguments: tuple[str, ...],
    code: int,
    decision: str,
) -> None:
    for outlets in OUTLETS:
        done = karat("gate", "g.qrels", *arguments, *baseline, *outlets)
        assert done.returncode == code, outlets
        if "--json" in outlets:
            told = json.loads(done.stdout)
            assert (told["decision"], told["closed"]) == (decision, code == 1)
        else:
            assert f"Gate {decision}" in done.stdout
    failures = ET.parse(folder / "gate.xml").getroot().attrib["failures"]  # noqa: S314 - our own
    assert (failures == "0") is (code == 0)
    assert decision in (folder / "gate.md").read_text(encoding="utf-8").splitlines()[0]


def test_every_output_has_the_means_before_and_after(
    karat: Karat, folder: Path, baseline: tuple[str, ...]
) -> None:
    outlets = ("--junit", "gate.xml", "--summary", "gate.md", "--annotations")
    done = karat("gate", "g.qrels", "bad.run", *baseline, *outlets)
    why = "mrr fell from 1.000 to 0.000 (-1.000 [-1.000, -0.663], significant)"
    assert why in done.stdout
    assert why in done.stderr  # the annotation
    assert why in (folder / "gate.xml").read_text()
    assert "mrr fell from 1.000 to 0.000" in (folder / "gate.md").read_text()
    check, lost = json.loads(karat("gate", "g.qrels", "bad.run", *baseline, "--json").stdout)[
        "checks"
    ]
    assert (lost["rule"], lost["decision"]) == ("lost-hits", "passed")
    assert (check["before"], check["after"]) == (1.0, 0.0)


def test_a_minimum_alone(karat: Karat) -> None:
    assert karat("gate", "g.qrels", "slip.run", "--min", "hit@5=0.95", *QUICK).returncode == 0
    assert karat("gate", "g.qrels", "slip.run", "--min", "hit@5=0.96", *QUICK).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Expected GOLD and RUN"),
        (("g.qrels", "good.run"), "nothing to check"),
        (("g.qrels", "good.run", "--min", "hit@5"), "expected a rule such as"),
        (("g.qrels", "good.run", "--max-regression", "0.1"), "--baseline"),
        (("g.qrels", "good.run", "--max-latency", "p90=1s"), "no latencies"),
        (
            ("g.qrels", "good.run", "--min", "mrr=1", "--baseline", "good.run"),
            "good.run: this is a run (trec-run), not",
        ),
        (
            ("g.qrels", "my search.yaml", "--min", "mrr=1"),
            "karat evaluate g.qrels -e 'my search.yaml' --run-out run.jsonl",
        ),
        (("g.qrels", "bm25", "--min", "mrr=1"), "bm25 is an engine; expected a run"),
    ],
)
def test_wrong_use_is_2(karat: Karat, arguments: tuple[str, ...], message: str) -> None:
    done = karat("gate", *arguments)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_a_karat_run_has_the_name_in_its_header(karat: Karat, folder: Path) -> None:
    header = '{"format": "karat-run", "version": 1, "name": "mysearch"}'
    hit = '{"query_id": "q0", "hits": [{"path": "right", "score": 1}]}'
    for name in ("old.jsonl", "new.jsonl"):
        (folder / name).write_text(f"{header}\n{hit}\n")
    made = karat("baseline", "update", "g.qrels", "old.jsonl", "-o", "own.json", "-m", "mrr")
    assert "wrote own.json: mysearch, " in made.stderr + made.stdout
    done = karat("gate", "g.qrels", "new.jsonl", "--baseline", "own.json", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "Gate passed: mysearch against its baseline, 2 passed." in done.stdout
    (folder / "new.jsonl").write_text(f"{header.replace('mysearch', 'new.jsonl')}\n{hit}\n")
    assert "Gate passed: new," in karat("gate", "g.qrels", "new.jsonl", "--min", "mrr=0").stdout


def test_another_gold_set_is_2_unless_allowed(
    karat: Karat, folder: Path, baseline: tuple[str, ...]
) -> None:
    text = (folder / "g.qrels").read_text()
    (folder / "g.qrels").write_text(text.replace("q0 0 right 1\n", ""))
    refused = karat("gate", "g.qrels", "good.run", *baseline)
    assert (refused.returncode, "1 gone, 19 the same" in refused.stderr) == (2, True)
    allowed = karat("gate", "g.qrels", "good.run", *baseline, "--allow-changed-dataset")
    assert (allowed.returncode, "19 the same" in allowed.stdout) == (0, True)


def test_the_summary_is_added_to_that_of_the_step(
    karat: Karat, folder: Path, baseline: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = folder / "step.md"
    step.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = karat("gate", "g.qrels", "bad.run", *baseline)
    assert step.read_text(encoding="utf-8").startswith("before\n## ❌ Gate failed")
    assert done.stderr.startswith("::error title=mrr may lose at most 0.02::")
    karat("gate", "g.qrels", "bad.run", *baseline, "--summary", "own.md")
    assert step.read_text(encoding="utf-8").count("Gate failed") == 1


def test_a_summary_out_of_reach_changes_no_exit_code(
    karat: Karat, folder: Path, baseline: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "nowhere" / "step.md"))
    done = karat("gate", "g.qrels", "good.run", *baseline)
    assert (done.returncode, "warning: cannot write $GITHUB_STEP_SUMMARY" in done.stderr) == (
        0,
        True,
    )


def test_an_update_tells_what_was_there_before(karat: Karat) -> None:
    first = karat("baseline", "update", "g.qrels", "good.run", "-m", "mrr")
    assert first.stdout == "wrote baseline.json: good, 20 queries\n  mrr: 1.0000\n"
    again = karat("baseline", "update", "g.qrels", "slip.run", "-m", "mrr")
    assert again.stdout.endswith("  mrr: 0.9500, before 1.0000\n")
    machine = karat("baseline", "update", "g.qrels", "good.run", "-m", "mrr", "--json")
    assert json.loads(machine.stdout) == {
        "written": "baseline.json",
        "name": "good",
        "queries": 20,
        "sample_of": 0,
        "missing": 0,
        "deterministic": None,
        "means": {"mrr": 1.0},
        "before": {"mrr": 0.95},
    }


def test_an_update_replaces_nothing_but_a_baseline(karat: Karat, folder: Path) -> None:
    before = (folder / "code.csv").read_text()
    done = karat("baseline", "update", "g.qrels", "good.run", "-o", "code.csv")
    assert (done.returncode, (folder / "code.csv").read_text()) == (2, before)


def test_a_kept_run_is_held_to_its_rules(karat: Karat, experiment_id: str) -> None:
    good = ("gate", "latest.2", "--min", "mrr=1.0", "--max-latency", "p50=3ms")
    assert karat(*good).returncode == 0
    assert karat(*good[:-1], "p50=2.9ms").returncode == 1
    assert karat("gate", f"{experiment_id}.1", "--min", "mrr=0.3").returncode == 1


def test_an_experiment_of_several_runs_is_no_run(karat: Karat, experiment_id: str) -> None:
    done = karat("gate", "latest", "--min", "mrr=1.0")
    assert done.returncode == 2
    assert "latest has 2 runs; expected one, such as latest.1" in done.stderr


def test_a_baseline_of_a_kept_run(karat: Karat, experiment_id: str) -> None:
    made = karat("baseline", "update", "latest.2", "-m", "mrr")
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("wrote baseline.json: bm25 (k1=1.2), 2 queries\n")
    held = karat("gate", "latest.2", "--baseline", "baseline.json", "--max-regression", "0.1")
    assert held.returncode == 0, held.stderr
    assert karat("baseline", "update").returncode == 2


def jsonl(path: Path, queries: int, **metadata: object) -> None:
    """Write a Karat run of the first *queries*, all of them right."""
    header = {"format": "karat-run", "version": 1, "name": "mine", "metadata": metadata}
    hits = [{"path": "right", "score": 1}]
    lines = [header, *({"query_id": f"q{row}", "hits": hits} for row in range(queries))]
    write(path, map(json.dumps, lines))


def test_a_baseline_of_a_sample_holds_the_sampled_queries(karat: Karat, folder: Path) -> None:
    jsonl(folder / "part.jsonl", 6, sample=6, sample_of=20)
    made = karat("baseline", "update", "g.qrels", "part.jsonl", "-m", "mrr")
    assert made.stdout == "wrote baseline.json: mine, 6 queries (a sample of 20)\n  mrr: 1.0000\n"
    assert made.stderr == ""
    done = karat("gate", "g.qrels", "part.jsonl", "--baseline", "baseline.json", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "a sample: 6 of 20 queries are compared" in done.stdout


def test_missing_queries_of_another_run_count_0_and_are_named(karat: Karat, folder: Path) -> None:
    jsonl(folder / "part.jsonl", 6)
    made = karat("baseline", "update", "g.qrels", "part.jsonl", "-m", "mrr")
    assert made.stdout == "wrote baseline.json: mine, 20 queries\n  mrr: 0.3000\n"
    assert "warning: 14 of 20 queries are missing in the run and count 0" in made.stderr


def test_every_output_shows_queries_that_lost_all_hits(karat: Karat, folder: Path) -> None:
    jsonl(folder / "old.jsonl", 20)
    jsonl(folder / "new.jsonl", 18)
    assert karat("baseline", "update", "g.qrels", "old.jsonl", "-m", "mrr").returncode == 0
    common = ("gate", "g.qrels", "new.jsonl", "--baseline", "baseline.json", *QUICK)
    outlets = ("--junit", "gate.xml", "--summary", "gate.md", "--annotations")
    done = karat(*common, *outlets)
    assert done.returncode == 1
    rule = "at most 0 queries may lose all hits"
    why = "2 of 20 queries with hits in the baseline have none now: q18, q19"
    texts = (done.stdout, (folder / "gate.xml").read_text(), (folder / "gate.md").read_text())
    assert all(rule in text and why in text for text in texts)
    assert f"::error title={rule}::{why}" in done.stderr
    told = json.loads(karat(*common, "--json").stdout)
    (lost,) = (check for check in told["checks"] if check["rule"] == "lost-hits")
    assert (lost["value"], lost["limit"], lost["decision"]) == (2, 0, "failed")
    assert karat(*common, "--max-lost-hits", "2").returncode == 0


def test_a_self_check_takes_several_runs(karat: Karat) -> None:
    done = karat("gate", "g.qrels", "--self-check", "good.run", "bad.run", "-m", "mrr", *QUICK)
    assert done.returncode == 1
    assert "1 of 2 gates between 2 runs of one unchanged engine fail" in done.stdout
    quiet = ("gate", "g.qrels", "--self-check", "good.run", "good.run", "-m", "mrr", "--json")
    same = karat(*quiet, *QUICK)
    assert same.returncode == 0
    told = json.loads(same.stdout)
    assert (told["pairs"], told["failed"], told["identical"]) == (2, 0, True)
    assert karat("gate", "g.qrels", "--self-check", "good.run").returncode == 2
    alone = karat("gate", "g.qrels", "--self-check", "a", "b", "--baseline", "good.run")
    assert "--self-check takes GOLD and runs" in alone.stderr


def test_a_sample_goes_from_evaluate_to_the_gate(karat: Karat, folder: Path) -> None:
    (folder / "docs").mkdir()
    rows = ["query,path"]
    for word in ("login", "logout", "reset", "search", "upload"):
        (folder / "docs" / f"{word}.md").write_text(f"How to {word}.\n")
        rows.append(f"{word},{word}.md")
    write(folder / "q.csv", rows)
    engine = {
        "engine": "command",
        "name": "mine",
        "command": [sys.executable, str(folder / "find.py"), "{query}"],
    }
    (folder / "find.py").write_text("import sys; print('[\"' + sys.argv[1] + '.md\"]')\n")
    run = ("--corpus", "docs", "-e", json.dumps(engine), "--timed", "none", "--sample", "3")
    made = karat("evaluate", "q.csv", *run, "--run-out", "part.jsonl")
    assert made.returncode == 0, made.stderr
    header = json.loads((folder / "part.jsonl").read_text().partition("\n")[0])["metadata"]
    assert (header["sample"], header["sample_of"]) == (3, 5)
    assert (header["deterministic"], header["repeated"]) == (True, 3)
    baseline = karat("baseline", "update", "q.csv", "part.jsonl", "-m", "mrr", "--json")
    told = json.loads(baseline.stdout)
    assert (told["queries"], told["sample_of"], told["means"]) == (3, 5, {"mrr": 1.0})
    assert (told["missing"], told["deterministic"]) == (0, True)
    done = karat("gate", "q.csv", "part.jsonl", "--baseline", "baseline.json", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "a sample: 3 of 5 queries are compared" in done.stdout
    details = karat(
        "gate", "q.csv", "part.jsonl", "--baseline", "baseline.json", *QUICK, "--details"
    )
    assert "the engines of both runs answer identically" in details.stdout
