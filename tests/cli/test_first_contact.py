"""Mistakes that newcomers make, and what they read: each message says what to type instead."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.formats import write
from karat.model import Dataset, Query, Target

Karat = Callable[..., CompletedProcess[str]]
ADDRESS = "https://example.invalid/pallets/flask.git"
CLONE = f"clone it first: git clone --bare {ADDRESS} flask.git, and use flask.git"


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def history(folder: Path) -> Path:
    """Return a repository with three commits on a file, a merge, and documents in a folder."""
    project = folder / "project"
    (project / "docs").mkdir(parents=True)
    git(project, "init", "-q", "-b", "main", ".")
    (project / "docs" / "cart.md").write_text("The cart keeps its goods.\n")
    for number in range(3):
        text = "".join(f"def total_{n}(cart):\n    return sum(cart) + {n}\n" for n in range(number))
        (project / "cart.py").write_text(f"{text}\nLIMIT = {number}\n")
        git(project, "add", ".")
        git(project, "commit", "-q", "-m", f"Keep the goods of the cart number {number} on reload")
    git(project, "checkout", "-q", "-b", "side", "HEAD~1")
    (project / "other.py").write_text("A = 1\n")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "Add another price for the visitors of the shop")
    git(project, "checkout", "-q", "main")
    git(project, "merge", "-q", "--no-ff", "-m", "Merge side", "side")
    return project


def corpus(folder: Path, queries: int, *, tags: int = 1) -> None:
    """Write as many documents, a table of questions on them, and a tag with *tags* values."""
    (folder / "docs").mkdir()
    rows = ["question,expected_document,topic"]
    for number in range(queries):
        (folder / "docs" / f"d{number}.md").write_text(f"the answer about number{number}\n")
        rows.append(f"what about number{number},d{number}.md,t{number % tags}")
    (folder / "gold.csv").write_text("\n".join(rows) + "\n")


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "code.csv", "--repo", ADDRESS, "-e", "bm25"),
        ("evaluate", "code.csv", "--corpus", ADDRESS, "-e", "bm25"),
        ("search", "cart", ADDRESS),
    ],
)
def test_an_address_is_cloned_first(karat: Karat, command: tuple[str, ...]) -> None:
    done = karat(*command)
    assert done.returncode == 2
    assert CLONE in done.stderr


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_a_run_in_utf_16_is_one_error(karat: Karat, folder: Path, encoding: str) -> None:
    text = (folder / "new.run").read_text()
    (folder / "wide.run").write_bytes(text.encode(encoding))
    done = karat("score", "gold.qrels", "wide.run")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "iconv -f UTF-16 -t UTF-8" in line


def test_identical_runs_have_no_interval_around_zero(karat: Karat, folder: Path) -> None:
    (folder / "copy.run").write_text((folder / "new.run").read_text())
    command = ("compare", "gold.qrels", "new.run", "copy.run", "-m", "mrr", "--draws", "99")
    done = karat(*command, "--details")
    row = next(line for line in done.stdout.splitlines() if line.strip().startswith("b copy"))
    assert row.split("]")[-1].split()[:3] == ["0.000", "identical", "1.000"]
    assert "new and copy have the same mrr on every query." in done.stdout
    (difference,) = json.loads(karat(*command, "--json").stdout)["comparison"]["differences"]
    assert difference["interval"]["low"] is None
    assert difference["interval"]["method"] == "identical"


def test_a_note_that_is_true_of_all_runs_comes_once(karat: Karat, folder: Path) -> None:
    for name in ("b", "c"):
        (folder / f"{name}.run").write_text((folder / "new.run").read_text())
    few = ("-m", "mrr", "--draws", "99")
    done = karat("compare", "gold.qrels", "new.run", "b.run", "c.run", *few, "--details")
    assert done.stdout.count("0 missing, 0 errors, 0 timeouts, 0 invalid hits") == 1
    assert done.stdout.count("without a relevant target") == 1
    short = karat("compare", "gold.qrels", "new.run", "b.run", "c.run", *few)
    assert "\nevery run: 1 query without a relevant target: left out" in short.stdout
    failing = karat("compare", "gold.qrels", "new.run", "old.run", *few)
    assert "\nold: 1 missing (each counts 0)\n" in failing.stdout


def test_the_correction_is_stated_once(karat: Karat, folder: Path) -> None:
    (folder / "many.qrels").write_text("".join(f"q{n} 0 a 1\n" for n in range(30)))
    for name, rank in (("one", 1), ("two", 2), ("three", 3)):
        hits = "".join(
            f"q{n} Q0 {'a' if number == rank else f'x{number}'} {number} {9 - number} t\n"
            for n in range(30)
            for number in (1, 2, 3)
        )
        (folder / f"{name}.run").write_text(hits)
    done = karat("compare", "many.qrels", "one.run", "two.run", "three.run", "-m", "mrr")
    verdict = flat(done.stdout.split("\n\n")[0])
    assert verdict.count("p < 0.001") == 2
    assert verdict.count("corrected for 3 comparisons") == 1


def test_a_tag_with_forty_values_shows_the_largest(karat: Karat, folder: Path) -> None:
    corpus(folder, 80, tags=40)
    given = ("gold.csv", "--corpus", "docs", "-m", "mrr", "--draws", "99", "--timed", "none")
    tagged = ("--tag", "topic", "--by", "topic")
    for command in (("evaluate", *given, "-e", "bm25"), ("compare", *given, "--agents", "bm25")):
        done = karat(*command, *tagged)
        assert done.returncode == 0, done.stderr
        assert len(re.findall(r"^t\d", done.stdout, re.MULTILINE)) == 12
        assert karat(*command, *tagged, "--details").stdout.count("topic = t") == 12
        note = "topic: the 12 largest of 40 values; 56 queries have other values (--json has all)"
        assert note in flat(done.stdout)
    every = json.loads(karat("evaluate", *given, "-e", "bm25", *tagged, "--json").stdout)
    assert len(every["run"]["slices"]["topic"]) == 40


def test_a_slice_that_is_one_cluster_has_an_interval(karat: Karat, folder: Path) -> None:
    cases = [
        {
            "id": f"q{n}",
            "query": f"question {n}",
            "ground_truth_files": [f"{n}.py"],
            "tags": {"repository": "ab"[n % 2]},
        }
        for n in range(20)
    ]
    gold = {"test_cases": cases, "metadata": {"cluster": "repository"}}
    (folder / "gold.json").write_text(json.dumps(gold))
    hits = (f"q{n} Q0 {n if n % 3 else 'x'}.py 1 1 t\n" for n in range(20))
    (folder / "some.run").write_text("".join(hits))
    command = ("score", "gold.json", "some.run", "-m", "hit@1", "--by", "repository", "--json")
    slices = json.loads(karat(*command).stdout)["run"]["slices"]["repository"]
    for value in ("a", "b"):
        interval = slices[value][0]["interval"]
        assert interval["low"] < slices[value][0]["mean"] < interval["high"]


def test_a_folder_of_a_revision_is_searched(karat: Karat, history: Path) -> None:
    done = karat("search", "cart goods", str(history), "--rev", "HEAD:docs")
    assert done.stdout.split()[1].startswith("cart.md")
    assert "v2.0:docs" in flat(karat("evaluate", "--help-all").stdout)


@pytest.mark.parametrize("command", ["report", "evaluate", "validate-gold"])
def test_a_run_where_a_gold_set_is_expected(karat: Karat, command: str) -> None:
    more = {"report": ("-o", "x.html"), "evaluate": ("--corpus", ".", "-e", "bm25")}
    words = ("score", "new.run", "old.run") if command == "validate-gold" else (command, "new.run")
    done = karat(*words, *more.get(command, ()))
    assert done.returncode == 2
    expected = "error: new.run: this is a run (format trec-run); expected a gold set\n"
    assert done.stderr == expected


def test_an_untimed_run_has_no_latency_to_check(karat: Karat, folder: Path) -> None:
    corpus(folder, 5)
    common = ("--corpus", "docs", "-e", "bm25", "-m", "mrr", "--draws", "99", "--timed", "none")
    assert karat("evaluate", "gold.csv", *common).returncode == 0
    done = karat("gate", "latest.1", "--max-latency", "p50=10s")
    assert done.returncode == 2
    assert "repeat it with --timed 20" in done.stderr


def test_a_gold_set_that_is_not_there(karat: Karat) -> None:
    for command in ("evaluate", "sweep"):
        done = karat(command, "none.json")
        assert done.stderr.startswith("error: Invalid value for 'GOLDSET': Path 'none.json' does")


def test_missing_targets_are_named(karat: Karat, folder: Path) -> None:
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text("hello\n")
    rows = ("hello,a.md", "x,b.md", "y,c/d.md", "z,e.md", "w,f.md")
    (folder / "gold.csv").write_text("question,expected_document\n" + "\n".join(rows) + "\n")
    common = ("gold.csv", "--corpus", "docs", "-m", "mrr", "--draws", "99", "--timed", "none")
    for words in (("evaluate", *common, "-e", "bm25"), ("compare", *common, "--agents", "bm25")):
        short = flat(karat(*words).stdout)
        assert "4 of 5 targets do not exist in docs: b.md and 3 more; they count as mis" in short
        done = karat(*words, "--details")
        assert done.returncode == 0, done.stderr
        assert "4 of 5 targets (80.0%) do not exist" in flat(done.stdout)
        assert "not in docs: b.md, c/d.md, e.md, ..." in flat(done.stdout)
        assert done.stdout.count("0 missing, 0 errors") == 1


def test_a_matrix_calls_sparse_bm25_too(karat: Karat, folder: Path) -> None:
    corpus(folder, 5)
    (folder / "matrix.yaml").write_text("search_modes: [bm25]\ntop_k_values: [10, 20]\n")
    common = ("--corpus", "docs", "--draws", "99", "--timed", "none")
    done = karat("sweep", "gold.csv", "--matrix", "matrix.yaml", *common)
    assert done.returncode == 0, done.stderr
    assert "sparse @10" in done.stdout
    assert "sparse @20" in done.stdout


def test_a_gold_set_in_its_corpus_is_not_searched(karat: Karat, folder: Path) -> None:
    docs = folder / "docs"
    docs.mkdir()
    (docs / "cart.md").write_text("The cart keeps its goods.\n")
    (docs / "gold.csv").write_text("question,document\nwhere are the goods,cart.md\n")
    common = ("docs/gold.csv", "--corpus", "docs", "--kind", "all", "--timed", "none")
    done = karat("evaluate", *common, "-e", "bm25", "-m", "hit@1", "--details")
    assert done.returncode == 0, done.stderr
    assert "searched: 1 document in docs " in flat(done.stdout)
    assert "without /gold.csv" in flat(done.stdout)


def test_one_odd_target_does_not_change_the_other_queries(karat: Karat, folder: Path) -> None:
    shop = folder / "shop"
    shop.mkdir()
    (shop / "login.md").write_text("# Log in\nOpen the page, enter a name and a word.\n")
    (shop / "login.py").write_text("def log_in(): ...\n")
    (folder / "docs.csv").write_text("question,document\nlog in,login.md\n")
    (folder / "odd.csv").write_text("question,document\nlog in,login.md\ncode,login.py\n")
    common = ("--corpus", "shop", "-e", "bm25", "-m", "mrr", "--timed", "none", "--json")
    alone, odd = (
        json.loads(karat("evaluate", name, *common).stdout) for name in ("docs.csv", "odd.csv")
    )
    assert odd["run"]["queries"][0]["scores"] == alone["run"]["queries"][0]["scores"]
    assert alone["run"]["queries"][0]["scores"] == {"mrr": 0.5}


def test_a_shallow_clone_and_a_wrong_repository_are_called_so(
    karat: Karat, history: Path, folder: Path
) -> None:
    revisions = ("git", "rev-parse", "main~2", "main~1")
    completed = subprocess.run(revisions, cwd=history, check=True, capture_output=True, text=True)
    targets = (Target("cart.py"),)
    queries = [
        Query(f"q{number}", "keep the goods of the cart", targets, extra={"base_commit": commit})
        for number, commit in enumerate(completed.stdout.split())
    ]
    write(Dataset.of(queries), folder / "gold.json", format="gold")
    git(folder, "clone", "-q", "--depth", "1", f"file://{history}", "shallow")
    done = karat("evaluate", "gold.json", "--repo", "shallow", "-e", "bm25", "--timed", "none")
    assert done.returncode == 2
    assert "shallow clone without" in done.stderr
    assert "git fetch --unshallow" in done.stderr
    other = folder / "other"
    other.mkdir()
    git(other, "init", "-q", ".")
    (other / "a.py").write_text("A = 1\n")
    git(other, "add", ".")
    git(other, "commit", "-q", "-m", "Begin")
    done = karat("evaluate", "gold.json", "--repo", "other", "-e", "bm25", "--timed", "none")
    assert done.returncode == 2
    assert "is it the right repository?" in done.stderr


def engine(folder: Path, name: str, code: str) -> str:
    """Write a command engine that runs *code*, and return its file."""
    script = folder / f"{name}.py"
    script.write_text(f"import json, sys\n{code}\n")
    command = [sys.executable, str(script), "{query}"]
    file = folder / f"{name}.yaml"
    file.write_text(f"engine: command\nname: {name}\ncommand: {json.dumps(command)}\n")
    return str(file)


@pytest.mark.parametrize("command", [("evaluate", "-e"), ("compare", "--agents", "bm25")])
def test_the_first_error_of_an_engine_is_shown(
    karat: Karat, folder: Path, command: tuple[str, str]
) -> None:
    corpus(folder, 5)
    fails = "'number3' in sys.argv[1] and 1 / 0\nprint(json.dumps(['d1.md']))"
    verb, *words = command
    common = ("--corpus", "docs", "-m", "mrr", "--draws", "99", "--timed", "none")
    done = karat(verb, "gold.csv", *common, *words, engine(folder, "mysearch", fails))
    assert done.returncode == 0, done.stderr
    match = re.search(r"mysearch: first error \(query \S+\): (.*)", flat(done.stdout))
    assert match
    # The error is one line: the next one is the recommendation of a comparison, or the hint.
    following = "recommended: bm25" if verb == "compare" else "More: "
    assert match[1].startswith(f"exit code 1: ZeroDivisionError: division by zero {following}")
    assert "Traceback" not in done.stdout


def test_an_engine_without_hits_is_named(karat: Karat, folder: Path) -> None:
    corpus(folder, 5)
    empty = engine(folder, "doc", "print('[]')")
    common = ("--corpus", "docs", "-m", "mrr", "--draws", "99", "--timed", "none")
    done = karat("compare", "gold.csv", *common, "--agents", "bm25", empty)
    assert done.returncode == 3, done.stderr
    verdict = "No verdict on doc: returned no hits for 5 of 5 queries. "
    warning = "warning: doc: returned no hits for 5 of 5 queries; karat engines check "
    assert flat(done.stdout).startswith(verdict + warning)
    assert flat(done.stdout).count("karat engines check") == 1
    alone = karat("evaluate", "gold.csv", *common, "-e", empty)
    assert alone.returncode == 3, alone.stderr
    assert flat(alone.stdout).startswith(verdict + warning)
    plain = json.loads(karat("evaluate", "gold.csv", *common, "-e", empty, "--json").stdout)["run"]
    assert (plain["status"], plain["reason"]) == ("broken", "returned no hits for 5 of 5 queries")
    assert plain["metrics"]["mrr"]["mean"] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('command: [rg, "{query}"]', "mine.yaml: 'engine' is missing; add engine: command"),
        ("command: rg x", "mine.yaml: 'engine' is missing; add engine: command"),
        ("name: mine\nurl: http://x/", "mine.yaml: 'engine' is missing; add engine: http"),
        ("name: mine", "mine.yaml: 'engine' is missing; add engine: NAME (karat engines lists"),
        ("a: {command: [rg]}", "mine.yaml: a: 'engine' is missing; add engine: command"),
        (
            "engine: command\ncommand: python3 mysearch.py",
            "mine.yaml: command: command: expected a list of arguments, because no shell is used; "
            'write command: [python3, "{here}/mysearch.py", "{query}"]',
        ),
    ],
)
def test_mistakes_in_the_file_of_an_engine(
    karat: Karat, folder: Path, text: str, message: str
) -> None:
    (folder / "mine.yaml").write_text(f"{text}\n")
    done = karat("engines", "check", "mine.yaml")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {message}")


def test_a_timeout_is_the_same_sentence_everywhere(karat: Karat, folder: Path) -> None:
    corpus(folder, 2)
    slow = Path(engine(folder, "slow", "import time\ntime.sleep(60)"))
    sentence = (
        "slow: took longer than 0.3 s and was stopped; raise timeout_s in the engine's file, and "
        "--timeout of evaluate and compare"
    )
    evaluate = ("evaluate", "gold.csv", "--corpus", "docs", "--timed", "none", "-e", str(slow))
    by_command_line = karat(*evaluate, "--timeout", "0.3")
    slow.write_text(slow.read_text() + "timeout_s: 0.3\n")
    by_file = karat(*evaluate)
    check = karat("engines", "check", str(slow))
    for done in (by_command_line, by_file, check):
        assert done.returncode == 3
        assert sentence in flat(done.stderr)
