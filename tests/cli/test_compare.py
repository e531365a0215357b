"""karat compare: which run is better, and is it real."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

COMPARE = ("compare", "gold.qrels", "old.run", "new.run", "-m", "mrr", "--draws", "199")


@pytest.fixture
def clear(folder: Path) -> tuple[str, ...]:
    """Return a comparison that is beyond doubt: 20 queries, rank 2 against rank 1."""
    rows = range(20)
    (folder / "clear.csv").write_text(
        "query,result1,team\n"
        + "".join(f"question {n},src/{n}.py:1-9:1,{'ab'[n % 2]}\n" for n in rows)
    )
    for name, score in (("slow", 1), ("fast", 3)):
        (folder / f"{name}.run").write_text(
            "".join(f"{n + 1} Q0 src/{n}.py 1 {score} t\n{n + 1} Q0 src/x.py 2 2 t\n" for n in rows)
        )
    return ("compare", "clear.csv", "slow.run", "fast.run", "--match", "exact", "-m", "mrr")


def test_run_files_fill_an_html_report_too(karat: Karat, folder: Path) -> None:
    plain = karat(*COMPARE)
    done = karat(*COMPARE, "-o", "page.html", "--title", "Old & new")
    assert (done.returncode, done.stdout) == (0, plain.stdout)
    assert done.stderr.endswith("wrote page.html\n")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "<title>Old &amp; new</title>" in page


def refuse(text: str) -> None:
    raise AssertionError(text)


def test_a_difference_inside_the_noise_is_called_so(karat: Karat) -> None:
    done = karat(*COMPARE)
    assert (done.returncode, done.stderr) == (0, "")
    verdict, why, *lines = done.stdout.splitlines()
    assert verdict.startswith("No significant difference between new and old on mrr (+0.500")
    assert why.startswith("Only 2 queries differ, and the test needs at least 6 to call a")
    assert lines[1] == "4 queries; change and p: against old"
    old, new = lines[5:7]
    assert old.split()[:2] == ["old", "0.500"]
    assert old.endswith("baseline")
    assert new.split()[:2] == ["new", "1.000"]
    assert new.endswith("+0.500  0.500")
    assert "*" not in done.stdout
    assert "old: 1 missing (each counts 0)" in lines


def test_details_have_every_interval_and_test(karat: Karat) -> None:
    done = karat(*COMPARE, "--details")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("No significant difference between new and old on mrr (+0.500")
    title = lines.index("new against old, 4 queries")
    assert lines[title + 4].split()[:4] == ["mrr", "a", "old", "0.500"]
    assert lines[title + 5].split()[:3] == ["b", "new", "1.000"]
    assert "old: over answered queries only, the mean of mrr is 0.750" in lines


def test_a_difference_beyond_the_noise_is_starred_and_told(
    karat: Karat, clear: tuple[str, ...]
) -> None:
    text = karat(*clear).stdout
    assert "1.000*" in text
    assert "* significantly better than all others" in text
    assert text.startswith("fast is better than slow: mrr +0.500 ")


def test_json_has_stable_keys_and_no_number_that_json_lacks(karat: Karat) -> None:
    value = json.loads(karat(*COMPARE, "--json").stdout, parse_constant=refuse)
    assert list(value) == [
        *("schema", "settings", "warnings", "runs", "comparison", "slices", "clusters"),
        *("further_tests", "notes", "verdict"),
    ]
    assert [run["name"] for run in value["runs"]] == ["old", "new"]
    (difference,) = value["comparison"]["differences"]
    assert (difference["difference"], difference["relative"]) == (0.5, 1.0)
    assert (difference["wins"], difference["ties"], difference["losses"]) == (2, 1, 0)


def test_an_improvement_from_0_is_null(karat: Karat, folder: Path) -> None:
    (folder / "none.run").write_text("q1 Q0 x 1 1 t\n")
    done = karat("compare", "gold.qrels", "none.run", "new.run", "-m", "mrr", "--json")
    (difference,) = json.loads(done.stdout, parse_constant=refuse)["comparison"]["differences"]
    assert (difference["difference"], difference["relative"]) == (1.0, None)


def test_csv_has_one_row_per_pair(karat: Karat) -> None:
    rows = list(csv.DictReader(io.StringIO(karat(*COMPARE, "--csv").stdout)))
    assert [(row["baseline"], row["run"], row["difference"]) for row in rows] == [
        ("old", "new", "0.5")
    ]


def test_csv_has_one_row_per_run_and_query_when_asked(karat: Karat) -> None:
    rows = list(csv.DictReader(io.StringIO(karat(*COMPARE, "--csv", "--per-query").stdout)))
    assert [(row["run"], row["query"], row["mrr"]) for row in rows] == [
        *(("old", "q1", "0.5"), ("old", "q2", "1.0"), ("old", "q3", "0.0"), ("old", "q4", "")),
        *(("new", "q1", "1.0"), ("new", "q2", "1.0"), ("new", "q3", "1.0"), ("new", "q4", "")),
    ]


def test_queries_are_shown_worst_change_first_and_unscored_ones_last(karat: Karat) -> None:
    lines = karat(*COMPARE, "--per-query").stdout.splitlines()
    first = lines.index("mrr per query, and how new changes it against old")
    assert [line.split() for line in lines[first + 4 :]] == [
        ["q2", "1.0000", "1.0000", "0.0000"],
        ["q1", "0.5000", "1.0000", "+0.5000"],
        ["q3", "0.0000", "1.0000", "+1.0000"],
        ["q4", "-", "-", "-"],
    ]


def test_values_of_a_tag_are_compared_apart(karat: Karat, clear: tuple[str, ...]) -> None:
    lines = karat(*clear, "--by", "team").stdout.splitlines()
    first = lines.index("mrr by team")
    assert [line.split() for line in lines[first + 4 : first + 6]] == [
        ["a", "10", "0.500", "1.000▲"],
        ["b", "10", "0.500", "1.000▲"],
    ]
    lines = karat(*clear, "--by", "team", "--details").stdout.splitlines()
    assert [line for line in lines if line.startswith("team = ")] == [
        *("team = a, 10 queries", "team = b, 10 queries"),
    ]


def test_clusters_make_the_interval_of_a_difference(karat: Karat, folder: Path) -> None:
    rows = range(24)
    (folder / "many.qrels").write_text("".join(f"q{n} 0 {n}.x{n % 4} 1\n" for n in rows))
    for name, gained in (("one", 1), ("two", 3)):
        (folder / f"{name}.run").write_text(
            "".join(f"q{n} Q0 {n}.x{n % 4 if n % 4 < gained else 9} 1 1 t\n" for n in rows)
        )
    command = ("compare", "many.qrels", "one.run", "two.run", "-m", "mrr", "--json")
    free, bound = (
        json.loads(karat(*command, *extra).stdout)["comparison"]["differences"][0]
        for extra in ((), ("--cluster", "file-type"))
    )
    assert free["difference"] == bound["difference"] == 0.5
    # All queries of a type agree: four clusters tell far less than 24 queries.
    assert bound["p"] > 0.05 > free["p"]


def test_each_against_the_first_only(karat: Karat) -> None:
    done = karat(
        *("compare", "gold.qrels", "old.run", "new.run", "new.run", "-m", "mrr"),
        *("--pairs", "baseline", "--json"),
    )
    comparison = json.loads(done.stdout)["comparison"]
    assert comparison["correction"] == "holm"
    assert [(entry["baseline"], entry["system"]) for entry in comparison["differences"]] == [
        *(("old", "new-2"), ("old", "new-3")),
    ]


def test_wilcoxon_comes_with_its_warning(karat: Karat) -> None:
    value = json.loads(karat(*COMPARE, "--wilcoxon", "--json").stdout)
    first, warning = value["further_tests"]
    assert first.startswith("Wilcoxon, mrr, new against old: p = ")
    assert "not whether the mean" in warning


def test_what_has_no_paired_test_is_named_and_never_dropped(karat: Karat) -> None:
    named = ("compare", "gold.qrels", "old.run", "new.run", "-m", "mrr,num-ret")
    heads, _, old, new = karat(*named).stdout.splitlines()[5:9]
    assert heads.endswith("num-ret")
    assert (old.split()[-1], new.split()[-1]) == ("4.000", "4.000")
    done = karat(*named, "--details")
    assert (
        "num-ret is not a mean over queries and is not compared: old 4.000, new 4.000"
        in done.stdout
    )
    alone = karat("compare", "gold.qrels", "old.run", "new.run", "-m", "num-ret")
    assert (alone.returncode, alone.stdout) == (2, "")
    assert alone.stderr.startswith("error: no measure to compare; sums and geometric means")


def test_fewer_lines_are_better(karat: Karat, folder: Path) -> None:
    header = {"format": "karat-run", "version": 1}
    (folder / "many.csv").write_text(
        "query,result1\n" + "".join(f"question {n},{n}.py:1-9:1\n" for n in range(12))
    )
    for name, size in (("wide", 90), ("tight", 10)):
        answers = [
            {
                "query_id": str(n + 1),
                "hits": [{"path": f"{n}.py", "start_line": 1, "end_line": size + n}],
            }
            for n in range(12)
        ]
        rows = [header | {"name": name}, *answers]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = karat("compare", "many.csv", "wide.jsonl", "tight.jsonl", "-m", "lines@10")
    assert done.stdout.startswith("tight is better than wide: lines@10 -80.000")
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("tight  "))
    assert row.split()[:2] == ["tight", "15.500*"]


def test_the_demo_compares(karat: Karat, project_root: Path) -> None:
    demo = project_root / "examples" / "demo"
    runs = [str(demo / f"{name}.run") for name in ("keyword", "bm25", "bm25-stemmed")]
    done = karat("compare", str(demo / "gold.json"), *runs, "-m", "ndcg@10", "--draws", "999")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("bm25 has the highest ndcg@10, 0.716, and is better than keyword")
    assert "70 queries; change and p: against keyword\n" in done.stdout
    told = " ".join(done.stdout.split())
    assert "No significant difference between bm25 and bm25-stemmed" in told


def test_searches_are_compared(karat: Karat, folder: Path) -> None:
    (folder / "project").mkdir()
    for name in ("login", "logout", "reset"):
        (folder / "project" / f"{name}.py").write_text(f"def {name}(): ...\n", encoding="utf-8")
    rows = "".join(f"where is {name},{name}.py:1-1:1\n" for name in ("login", "logout", "reset"))
    (folder / "names.csv").write_text(f"query,result1\n{rows}", encoding="utf-8")
    options = ("--agents", "keyword_search", "bm25", "--corpus", "project", "--timed", "none")
    done = karat("compare", "--gold-set", "names.csv", *options, "-m", "mrr", "--output", "out.md")
    assert done.returncode == 0, done.stderr
    assert "3 queries; change and p: against keyword_search\n" in done.stdout
    assert "# " in (folder / "out.md").read_text(encoding="utf-8")
    alike = karat("compare", "names.csv", "-m", "mrr", *options)
    assert alike.stdout == done.stdout
    assert "stored as" in alike.stderr
    written = karat("compare", "names.csv", "-m", "mrr", *options, "--run-out", "{engine}.run")
    for engine in ("keyword_search", "bm25"):
        assert f"wrote {engine}.run\nwarning: not written: line ranges, " in written.stderr
    again = karat("compare", "names.csv", "keyword_search.run", "bm25.run", "-m", "mrr")
    assert again.stdout.split("\n\n")[0] in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gold.qrels", "old.run", "--agents", "bm25"), "--agents replaces run files"),
        (
            ("gold.qrels", "bm25"),
            "'bm25' is not a file, and .karat/karat.db: no results stored yet; karat evaluate, "
            "compare and sweep create it; engines are run with --agents",
        ),
        ((), "Expected GOLD and runs, or --agents"),
        (("--agents", "bm25"), "Expected a gold set"),
        (("gold.qrels", "--agents"), "--agents needs a name, such as --agents bm25"),
        (("gold.qrels", "--agents", "--json"), "--agents needs a name, such as --agents bm25"),
        (
            ("gold.qrels", "old.run", "new.run", "--sample", "2", "-k", "5", "--kept"),
            "-k, --sample, --again: only for engines, not for runs; see --agents.",
        ),
    ],
)
def test_agents_and_run_files_exclude_each_other(
    karat: Karat, arguments: tuple[str, ...], message: str
) -> None:
    done = karat("compare", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_stored_runs_are_compared_like_files(
    karat: Karat, experiment_id: str, unanswered: str
) -> None:
    """By engine and by id, beside files; the gold set is a file or that of the experiment."""
    stored = karat("compare", "keyword@previous", "keyword", "-m", "mrr", "--json")
    assert stored.returncode == 0, stored.stderr
    means = json.loads(stored.stdout)["comparison"]["means"]
    # The previous run has the target of q1 at rank 2 and an error on q2; the newest has both first.
    assert {mean["system"]: mean["mean"] for mean in means} == {
        "keyword@previous": 0.25,
        "keyword": 1.0,
    }
    by_id = karat("compare", f"{experiment_id}.1", "latest.1", "-m", "mrr", "--json")
    assert [mean["mean"] for mean in json.loads(by_id.stdout)["comparison"]["means"]] == [0.25, 1.0]
    karat("runs", "export", "keyword", "-o", "newest.jsonl")
    mixed = karat("compare", "keyword@previous", "newest.jsonl")
    assert mixed.returncode == 2
    assert "newest.jsonl is a file; expected the gold set first" in mixed.stderr


def test_a_stored_run_that_is_not_there_is_named(karat: Karat, experiment_id: str) -> None:
    done = karat("compare", "keyword", "keyword@pinned")
    assert done.returncode == 2
    assert "no pinned run of 'keyword' is stored; karat runs pin keyword" in done.stderr
    done = karat("compare", "keyword", "other")
    assert "nor has an engine of that name finished; engines are run with --agents" in done.stderr
    done = karat("compare", experiment_id, "--store", "other.db")
    assert "other.db: no results stored yet" in done.stderr
