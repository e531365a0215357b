"""karat gate --preset octocode."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

QUICK = ("--draws", "199")


@pytest.fixture(autouse=True)
def outside_of_github(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gold.qrels", "new.run", "--min", "mrr=1", "--csv", "code.csv"), "--preset octocode"),
        (
            ("gold.qrels", "--engine", "bm25", "--min", "mrr=1"),
            "first: karat evaluate gold.qrels -e bm25 --run-out run.jsonl, then pass run.jsonl",
        ),
        (("gold.qrels", "new.run", "--preset", "octocode"), "instead of GOLD and RUN"),
        (
            ("--preset", "octocode"),
            "needs --csv FILE, because benchmark/code.csv is not in the curr",
        ),
        (("--preset", "octocode", "--csv", "code.csv", "-m", "mrr"), "sets matching and measures"),
        (
            ("--preset", "octocode", "--csv", "code.csv", "-e", "bm25", "--threshold", "0.5"),
            "cannot be combined with --engine",
        ),
        (("gold.qrels", "--self-check", "old.run", "new.run", "-e", "bm25"), "without --baseline"),
    ],
)
def test_wrong_use_is_2(karat: Karat, arguments: tuple[str, ...], message: str) -> None:
    done = karat("gate", *arguments)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


# Of three questions a search finds the first at rank 2, the second nowhere; the third breaks it.
SEARCH = """\
import json, sys
found = {"where is login": [("src/x.py", 1, 5), ("src/a.py", 12, 30)], "where is logout": []}
hits = found[sys.argv[1]]
print(json.dumps([{"path": p, "start_line": s, "end_line": e} for p, s, e in hits]))
"""


@pytest.fixture
def octocode(folder: Path) -> tuple[str, ...]:
    """Return a gate on code.csv, with a search that is a small program."""
    (folder / "src").mkdir()
    for name in ("a.py", "b.py", "c.rs", "d.py", "x.py"):
        (folder / "src" / name).write_text("line\n" * 40)
    (folder / "search.py").write_text(SEARCH)
    engine = {
        "engine": "command",
        "name": "toy",
        "command": [sys.executable, str(folder / "search.py"), "{query}"],
        "output": "octocode",
    }
    return (
        *("gate", "--preset", "octocode", "--csv", "code.csv", "--engine", json.dumps(engine)),
        *QUICK,
    )


def test_octocode_fails_below_70_percent(karat: Karat, octocode: tuple[str, ...]) -> None:
    done = karat(*octocode)
    assert (done.returncode, "Gate failed: toy" in done.stdout) == (1, True), done.stderr
    assert karat(*octocode, "--min", "hit@5=0.3").returncode == 0


def test_the_queries_of_its_repository_are_the_default(
    karat: Karat, octocode: tuple[str, ...], folder: Path
) -> None:
    own = folder / "benchmark"
    own.mkdir()
    position = octocode.index("--csv")
    command = (*octocode[:position], *octocode[position + 2 :])
    refused = karat(*command, "--mode", "docs")
    assert (refused.returncode, "benchmark/docs.csv is not in" in refused.stderr) == (2, True)
    (own / "code.csv").write_text((folder / "code.csv").read_text())
    assert karat(*command).stdout == karat(*octocode).stdout
    (folder / "guide.md").write_text("# Login\n")
    (own / "docs.csv").write_text("query,result1\nwhere is login,guide.md:1-1:2\n")
    done = karat(*command, "--mode", "docs")
    assert (done.returncode, "toy, 1 query" in done.stdout) == (1, True), done.stderr


def test_octocodes_results_are_written_and_change_no_exit_code(
    karat: Karat, octocode: tuple[str, ...], folder: Path
) -> None:
    done = karat(*octocode, "--json-out", "out.json", "--verbose")
    assert done.returncode == 1
    assert "where is reset" in done.stdout
    # One of two targets at rank 2: (1 hit, mrr 1/2, ndcg 2/log2(3) / (2 + 1/log2(3)), recall 1/2),
    # and two queries of 0, the one that broke included.
    assert json.loads((folder / "out.json").read_text()) == pytest.approx(
        {
            "queries": 3,
            "errors": 1,
            "hit_at_5": 1 / 3,
            "hit_at_10": 1 / 3,
            "mrr": 1 / 6,
            "ndcg_at_10": 0.4796 / 3,
            "recall_at_5": 1 / 6,
            "recall_at_10": 1 / 6,
        },
        abs=1e-4,
    )


def test_fewer_results_than_a_measure_needs_make_it_null(
    karat: Karat, octocode: tuple[str, ...], folder: Path
) -> None:
    karat(*octocode, "--max-results", "5", "--json-out", "out.json")
    told = json.loads((folder / "out.json").read_text())
    assert (told["hit_at_10"], told["recall_at_10"]) == (None, None)
    assert told["hit_at_5"] == pytest.approx(1 / 3)


def test_octocode_itself_is_asked_as_its_own_script_asks_it(
    karat: Karat, octocode: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = folder / "bin" / "octocode"
    program.parent.mkdir()
    saved = "open('asked', 'a').write(' '.join(sys.argv[1:]) + '\\n'); sys.argv.pop(1)"
    program.write_text(f"#!{sys.executable}\nimport sys; {saved}\n{SEARCH}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    position = octocode.index("--engine")
    plain = (*octocode[:position], *octocode[position + 2 :])
    done = karat(*plain, "--mode", "docs", "--threshold", "0.5", "--min", "hit@5=0.3")
    assert (done.returncode, "Gate passed: octocode" in done.stdout) == (0, True), done.stderr
    # Twice, to see whether the answers are identical.
    assert sorted(set((folder / "asked").read_text().splitlines())) == [
        f"search where is {word} --format json --mode docs --threshold 0.5"
        for word in ("login", "logout", "reset")
    ]


def test_the_mode_selects_files_for_any_engine(
    karat: Karat, octocode: tuple[str, ...], folder: Path
) -> None:
    position = octocode.index("--engine") + 1
    bm25 = (*octocode[:position], "bm25", *octocode[position + 1 :])
    assert karat(*bm25, "--mode", "code", "--min", "hit@5=0").returncode == 0
    done = karat(*bm25, "--mode", "docs", "--min", "hit@5=0")
    assert done.returncode == 2
    assert "--kind docs selects none of" in done.stderr


def test_a_search_that_always_breaks_is_3(karat: Karat, octocode: tuple[str, ...]) -> None:
    broken = json.dumps({"engine": "command", "command": [sys.executable, "-c", "exit(9)"]})
    position = octocode.index("--engine") + 1
    done = karat(*octocode[:position], broken, *octocode[position + 1 :])
    assert (done.returncode, "no query was answered" in done.stderr) == (3, True)
