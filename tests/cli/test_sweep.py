"""karat sweep on the command line."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.words import WORDS

Karat = Callable[..., CompletedProcess[str]]

NAMES = ("login", "logout", "reset", "send")
MATRIX = """
search_modes: [sparse]
top_k_values: [1, 2, 3, 4]
score_thresholds: [null, 0.5]
"""


@pytest.fixture
def project(folder: Path) -> Path:
    """Return a folder of four files, with `names.csv` and `matrix.yaml` beside it."""
    project = folder / "project"
    project.mkdir()
    for name in NAMES:
        (project / f"{name}.py").write_text(f"def {name}(): ...\n", encoding="utf-8")
    rows = "".join(f"where is {name},{name}.py:1-1:1\n" for name in NAMES)
    (folder / "names.csv").write_text(f"query,result1\n{rows}", encoding="utf-8")
    (folder / "matrix.yaml").write_text(MATRIX, encoding="utf-8")
    return project


RESOLVED = "Without the targets that are not in project"
SWEEP = ("sweep", "names.csv", "--corpus", "project", "--draws", "99", "--timed", "none")


def test_a_matrix(karat: Karat, project: Path, folder: Path) -> None:
    command = (*SWEEP, "--matrix", "matrix.yaml", "-m", "hit@2,mrr")
    done = karat(*command, "-o", "report.html")
    assert done.returncode == 0, done.stderr
    plan, shared, *_ = done.stderr.splitlines()
    assert plan == "plan: 8 runs of 4 queries, none of them timed"
    assert "8 configurations need only 1 search per query" in shared
    verdict, title, rows, _ = done.stdout.split("\n\n")
    # All six that return two hits find the target of every query.
    assert " have the same hit@2 on every query, 1.000 on average." in " ".join(verdict.split())
    # The first configurations return one hit, and have no hit@2.
    assert title == "4 queries; change and p: against sparse @2"
    assert len(re.findall(r"^sparse @", rows, re.MULTILINE)) == 8
    # They come last.
    assert all(re.match(r"sparse @1.* -  ", line) for line in rows.splitlines()[-2:])
    assert "configurations gave the same rankings: sparse @" in done.stdout
    assert (folder / "report.html").is_file()
    assert karat(*command).stdout == done.stdout
    details = karat(*command, "--details").stdout
    assert details.startswith(verdict.partition(". ")[0])
    board = details.partition("Leaderboard")[2]
    assert len([line for line in board.splitlines() if " sparse @" in line]) >= 8
    assert "change of hit@2" in board
    assert "not measured" in details
    assert "all runs answered every query" in details


def test_targets_that_are_not_there_are_told_twice(
    karat: Karat, project: Path, folder: Path, embedded: Callable[[str], dict[str, Any]]
) -> None:
    (project / "send.py").unlink()
    command = (*SWEEP, "--matrix", "matrix.yaml", "-m", "hit@1")
    done = karat(*command, "-o", "report.html", "--details")
    assert done.returncode == 0, done.stderr
    board, _, resolved = done.stdout.partition(RESOLVED)
    assert "0.750 [" in board
    assert "1.000 [" in resolved
    assert "1 target removed, 3 queries remain" in resolved
    page = embedded((folder / "report.html").read_text(encoding="utf-8"))
    (results,) = (each for key, each in page.items() if key.endswith("/results"))
    assert results["runs"][0]["resolved_metrics_flat"] == {"hit@1": 1.0}
    # What was kept says it too.
    assert karat("report", "latest", "-o", "report.md", "--draws", "99").returncode == 0
    assert f"### {RESOLVED}\n" in (folder / "report.md").read_text(encoding="utf-8")


def test_the_best_configuration_can_be_pasted(karat: Karat, project: Path, folder: Path) -> None:
    (folder / "hybrid.yaml").write_text(
        f"search_modes: [hybrid]\nmodels: ['{WORDS}']\nchunkers: ['window:64']\n"
        "dense_weight: [0.3, 0.7]\nk1: [0.5, 1.2]\ntop_k_values: [2]\n",
        encoding="utf-8",
    )
    command = (*SWEEP, "--matrix", "hybrid.yaml", "-m", "rbp,mrr")
    swept = json.loads(karat(*command, "--json").stdout)
    options = shlex.split(swept["best_engine"])
    assert options[-2:] == ["-k", "2"]
    assert f"model={WORDS}" in options[1]
    done = karat("evaluate", *SWEEP[1:], *options, "-m", "rbp,mrr", "--json")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)["run"]["queries"]
    best = max(swept["runs"], key=lambda run: run["metrics"]["rbp"]["mean"])
    assert scores == best["queries"]
    line = f"recommended as an engine: {swept['recommended_engine']}"
    written = karat(*command, "--markdown", "-o", "sweep.md")
    assert written.returncode == 0, written.stderr
    assert line in (folder / "sweep.md").read_text(encoding="utf-8").replace("\\", "")
    assert line in " ".join(karat(*command).stdout.split())
    # A name that is an engine already is not repeated.
    plain = karat("compare", *SWEEP[1:], "--agents", "bm25,keyword", "-m", "mrr")
    assert "as an engine" not in plain.stdout


FIND = """\
import json, pathlib, sys
size, query = int(sys.argv[1]), sys.argv[2].split()[-1]
found = [path.name for path in pathlib.Path().glob("*.py") if query in path.read_text()[:size]]
print(json.dumps(found or ["other.py"]))
"""
OWN = """\
engine: command
name: mysearch
command: [python3, "{here}/find.py", "{chunk_size}", "{query}"]
parameters: {chunk_size: 4}
"""


@pytest.mark.parametrize("name", ["best.yaml", "best.json"])
def test_the_recommended_engine_is_a_file_for_every_command(
    karat: Karat, project: Path, folder: Path, name: str
) -> None:
    words = [*NAMES, "amber", "birch", "cedar", "delta", "ember"]
    for word in words:
        (project / f"{word}.py").write_text(f"def {word}(): ...\n", encoding="utf-8")
    (project / "other.py").write_text("OTHER = 1\n", encoding="utf-8")
    rows = "".join(f"where is {word},{word}.py:1-1:1\n" for word in words)
    (folder / "names.csv").write_text(f"query,result1\n{rows}", encoding="utf-8")
    (folder / "find.py").write_text(FIND, encoding="utf-8")
    (folder / "mysearch.yaml").write_text(OWN, encoding="utf-8")
    (folder / "matrix.yaml").write_text(
        "engines: mysearch.yaml\nchunk_size: [4, 40]\ntop_k_values: 3\n", encoding="utf-8"
    )
    command = (*SWEEP, "--matrix", "matrix.yaml", "-m", "mrr")
    swept = karat(*command, "--json", "--write", name)
    assert swept.returncode == 0, swept.stderr
    result = json.loads(swept.stdout)
    small, large = result["runs"]
    assert (small["name"], large["name"]) == (
        "mysearch chunk_size=4 @3",
        "mysearch chunk_size=40 @3",
    )
    assert (small["metrics"]["mrr"]["mean"], large["metrics"]["mrr"]["mean"]) == (0, 1)
    recommended = result["recommendations"][0]
    assert (recommended["purpose"], recommended["run"]) == ("Recommended", large["name"])
    assert f"wrote {name}: {large['name']}; use it with -e {name} -k 3" in swept.stderr
    # The file can move with the script beside it.
    text = (folder / name).read_text(encoding="utf-8")
    assert "{here}/find.py" in text
    assert str(folder) not in text
    evaluated = karat("evaluate", *SWEEP[1:], "-e", name, "-k", "3", "-m", "mrr", "--json")
    assert json.loads(evaluated.stdout)["run"]["queries"] == large["queries"], evaluated.stderr
    for further in (
        ("compare", *SWEEP[1:], "--agents", "bm25", name, "-m", "mrr"),
        ("engines", "check", name, "--corpus", "project", "--query", "where is login"),
        ("search", "where is login", "project", "-e", name),
    ):
        done = karat(*further)
        assert done.returncode == 0, done.stderr
    assert "login.py" in done.stdout


def test_nothing_is_written_where_nothing_is_recommended(
    karat: Karat, project: Path, folder: Path
) -> None:
    wrong = """engine: command\ncommand: [printf, '["other.py"]']\n"""
    (project / "other.py").write_text("OTHER = 1\n", encoding="utf-8")
    (folder / "wrong.yaml").write_text(wrong, encoding="utf-8")
    (folder / "matrix.yaml").write_text("engines: [wrong.yaml, bm25]\n", encoding="utf-8")
    done = karat(*SWEEP, "--matrix", "matrix.yaml", "-m", "hit@1", "--write", "best.yaml")
    # Four queries are too few for any test.
    assert done.returncode == 2
    assert "bm25 @10" in done.stdout
    assert "best.yaml is not written: on these queries no test can tell" in done.stderr
    assert not (folder / "best.yaml").exists()
    # The baseline needs no test to stay.
    (folder / "matrix.yaml").write_text("engines: [bm25, wrong.yaml]\n", encoding="utf-8")
    done = karat(*SWEEP, "--matrix", "matrix.yaml", "-m", "hit@1", "--write", "best.yaml")
    assert done.returncode == 0, done.stderr
    assert "engine: bm25" in (folder / "best.yaml").read_text(encoding="utf-8")
    (folder / "best.yaml").unlink()
    single = karat(*SWEEP, "--matrix", "matrix.yaml", "--single", "--write", "best.yaml")
    assert single.returncode == 0, single.stderr
    assert "engine: bm25" in (folder / "best.yaml").read_text(encoding="utf-8")


def matrix_with_engines(folder: Path, name: str, engine: str) -> None:
    """Write a matrix of BM25 and seven times the same *engine*."""
    files = [f"{name}{number}.yaml" for number in range(7)]
    for file in files:
        (folder / file).write_text(engine, encoding="utf-8")
    matrix = f"search_modes: [sparse]\nengines: [{', '.join(files)}]\n"
    (folder / "matrix.yaml").write_text(matrix, encoding="utf-8")


def test_the_star_is_explained_as_in_compare(karat: Karat, project: Path, folder: Path) -> None:
    words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "ivory"]
    for word in words:
        (project / f"{word}.py").write_text(f"def {word}(): ...\n", encoding="utf-8")
    rows = "".join(f"where is {word},{word}.py:1-1:1\n" for word in words)
    (folder / "names.csv").write_text(f"query,result1\n{rows}", encoding="utf-8")
    (project / "other.py").write_text("OTHER = 1\n", encoding="utf-8")
    wrong = """engine: command\ncommand: [printf, '["other.py"]']\n"""
    matrix_with_engines(folder, "wrong", wrong)
    done = karat(*SWEEP, "--matrix", "matrix.yaml", "-m", "hit@1")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^sparse @10 +1\.000\* ", done.stdout, re.MULTILINE)
    assert "* significantly better than all others" in done.stdout
    details = karat(*SWEEP, "--matrix", "matrix.yaml", "-m", "hit@1", "--details").stdout
    board = details.partition("Leaderboard")[2].partition("Recommendations")[0]
    assert any("sparse @10" in line and "*" in line for line in board.splitlines())
    assert "* significantly better than all others" in board


def test_only_the_first_configuration(karat: Karat, project: Path) -> None:
    done = karat(*SWEEP, "--matrix", "matrix.yaml", "--single", "-m", "mrr")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sparse @1 has mrr 1.000 ")


def test_engines_without_hits_have_no_verdict(karat: Karat, project: Path, folder: Path) -> None:
    nothing = "engine: command\ncommand: ['true', '{query}']\noutput: rg\n"
    matrix_with_engines(folder, "empty", nothing)
    done = karat(*SWEEP, "--matrix", "matrix.yaml", "-m", "hit@1")
    assert done.returncode == 3, done.stderr
    assert "is better than" not in done.stdout
    text = " ".join(done.stdout.split())
    assert text.startswith("No verdict on empty0")
    assert "and 3 others: returned no hits for 4 of 4 queries. warning: " in text


def test_many_configurations_must_be_allowed(karat: Karat, project: Path, folder: Path) -> None:
    def matrix(count: int) -> None:
        text = f"search_modes: [sparse]\ntop_k_values: {list(range(1, count + 1))}\n"
        (folder / "matrix.yaml").write_text(text, encoding="utf-8")

    matrix(51)
    refused = karat(*SWEEP, "--matrix", "matrix.yaml", "-m", "mrr")
    assert refused.returncode == 2
    assert "51 configurations, at most 50 are allowed" in refused.stderr
    matrix(26)
    refused = karat(*SWEEP, "--matrix", "matrix.yaml", "-m", "mrr", "--allow", "25")
    assert refused.returncode == 2
    done = karat(*SWEEP, "--matrix", "matrix.yaml", "-m", "mrr")
    assert done.returncode == 0, done.stderr
    # It advises --timed none, which was given.
    assert "may take long" not in done.stderr


def test_the_suites_that_come_with_karat(karat: Karat) -> None:
    rows = [line.split() for line in karat("sweep", "--list-suites").stdout.splitlines()[2:]]
    counts = {row[0]: int(row[1]) for row in rows}
    assert list(counts) == [
        "quick_test",
        "chunk_comparison",
        "embedding_comparison",
        "reranker_study",
        "comprehensive",
    ]
    assert (counts["quick_test"], counts["comprehensive"]) == (2, 12)
    names = json.loads(karat("sweep", "--list-suites", "--json").stdout)
    assert {suite: len(runs) for suite, runs in names.items()} == counts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sweep",), "Expected GOLDSET, --config FILE, or --list-suites"),
        (SWEEP, "expected --matrix FILE, or --suite with one of: quick_test, chunk_comparison"),
        ((*SWEEP, "--suite", "quick_tets"), "did you mean 'quick_test'?"),
        ((*SWEEP, "--suite", "a", "--matrix", "matrix.yaml"), "both name configurations"),
        ((*SWEEP, "--matrix", "matrix.yaml", "-k", "5"), "-k is only for a suite"),
    ],
)
def test_bad_usage(karat: Karat, project: Path, arguments: tuple[str, ...], message: str) -> None:
    done = karat(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
