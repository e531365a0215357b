"""karat score: one run, in every style."""

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

SCORE = ("score", "gold.qrels", "old.run")
CODE = ("score", "code.csv", "code.jsonl", "--ci", "none")

# mrr: 1/2, 1 and 0 for the missing q3; ndcg of q1: (2/log2 3 + 1/2) / (2 + 1/log2 3) = 0.6697.
EXPECTED = """\
old has ndcg@10 0.557 over 3 queries.

run  ndcg@10    mrr  recall@10
---  -------  -----  ---------
old    0.557  0.500      0.667

1 missing (each counts 0)
1 query of the run missing from the gold set: q9
1 query without a relevant target: left out of the means
More: --details (intervals, tests, method), --per-query, -o report.html
"""
DETAILS = """\
old has ndcg@10 0.557 over 3 queries.

old, 4 queries

measure      mean  mean answered  n
---------  ------  -------------  -
ndcg@10    0.5566         0.8348  3
mrr        0.5000         0.7500  3
recall@10  0.6667         1.0000  3

4 queries: 1 missing, 0 errors, 0 timeouts (each counts 0), 0 invalid hits; 83% of the first 10 hits
  are judged (unjudged hits count as not relevant)
1 query of the gold set missing from the run: q3
1 query of the run missing from the gold set: q9
1 query without a relevant target: left out of the means
"""


def refuse(text: str) -> None:
    raise AssertionError(text)


def means(karat: Karat, *arguments: str) -> dict[str, float | None]:
    """Return measure -> mean over all queries."""
    metrics = json.loads(karat(*arguments, "--json").stdout)["run"]["metrics"]
    return {name: entry["mean"] for name, entry in metrics.items()}


def test_text_is_what_was_worked_by_hand(karat: Karat) -> None:
    command = (*SCORE, "-m", "ndcg@10,mrr", "-m", "recall@10", "--ci", "none")
    done = karat(*command)
    assert (done.returncode, done.stdout, done.stderr) == (0, EXPECTED, "")
    assert karat(*command, "--details").stdout == DETAILS


def test_an_interval_stands_beside_every_mean(karat: Karat) -> None:
    done = karat(*SCORE, "--confidence", "0.999", "--draws", "199", "--details")
    lines = done.stdout.splitlines()
    assert "99.9% interval" in lines[4]
    assert all("[" in line for line in lines[6:12])


def test_one_seed_prints_one_text(karat: Karat) -> None:
    first, again = (karat(*SCORE, "--seed", "5", "--draws", "199").stdout for _ in range(2))
    assert first == again


def test_json_has_stable_keys_and_no_number_that_json_lacks(karat: Karat) -> None:
    done = karat(*SCORE, "--json", "--draws", "199", "--by", "file-type")
    value = json.loads(done.stdout, parse_constant=refuse)
    assert list(value) == ["schema", "settings", "warnings", "run"]
    assert list(value["settings"]) == ["scoring", "confidence"]
    run = value["run"]
    assert list(run) == ["name", "status", "reason", "metrics", "notes", "slices", "queries"]
    assert list(run["metrics"]["mrr@10"]) == [
        *("measure", "mean", "answered", "n", "interval", "label"),
    ]
    assert list(run["metrics"]["mrr@10"]["interval"]) == ["low", "high", "level", "method"]
    assert list(run["notes"]) == [
        *("queries", "statuses", "invalid", "unknown_queries", "ties", "tied", "judged_share"),
        *("clusters", "hits_per_query", "mismatch", "failure", "labels", "powered"),
        *("removed", "unit", "tokens", "has_hits"),
    ]
    assert [query["status"] for query in run["queries"]] == [
        *("scored", "scored", "missing", "unjudged"),
    ]
    assert run["queries"][0]["scores"]["mrr@10"] == 0.5
    assert run["queries"][3]["scores"]["mrr@10"] is None


def test_csv_has_one_row_per_measure_and_slice(karat: Karat) -> None:
    done = karat(*CODE, "-m", "mrr", "--by", "level", "--csv")
    assert list(csv.reader(io.StringIO(done.stdout))) == [
        ["run", "tag", "value", "measure", "mean", "low", "high", "answered_mean", "n"],
        ["code", "", "", "mrr", str(1 / 3), "", "", "1.0", "3"],
        ["code", "level", "easy", "mrr", "1.0", "", "", "1.0", "1"],
        ["code", "level", "hard", "mrr", "0.0", "", "", "", "2"],
    ]


def test_csv_has_one_row_per_query_when_asked(karat: Karat) -> None:
    done = karat(*SCORE, "-m", "mrr", "--ci", "none", "--csv", "--per-query")
    assert list(csv.reader(io.StringIO(done.stdout))) == [
        ["run", "query", "status", "mrr"],
        ["old", "q1", "scored", "0.5"],
        ["old", "q2", "scored", "1.0"],
        ["old", "q3", "missing", "0.0"],
        ["old", "q4", "unjudged", ""],
    ]


def test_every_query_is_shown_after_the_means(karat: Karat) -> None:
    lines = karat(*CODE, "-m", "mrr", "--per-query").stdout.splitlines()
    assert lines[0] == "code has mrr 0.333 over 3 queries."
    assert lines[-5:] == [
        "query  status      mrr  text",
        "-----  -------  ------  ---------------",
        "1      scored   1.0000  where is login",
        "2      error    0.0000  where is logout",
        "3      timeout  0.0000  where is reset",
    ]


def test_markdown_is_a_pipe_table(karat: Karat) -> None:
    lines = karat(*SCORE, "-m", "mrr", "--ci", "none", "--markdown").stdout.splitlines()
    assert lines[:5] == [
        "**old has mrr 0.500 over 3 queries.**",
        "",
        "| run | mrr |",
        "|---|---:|",
        "| old | 0.500 |",
    ]
    assert not any("More:" in line for line in lines)


def test_values_of_a_tag_are_reported_apart(karat: Karat) -> None:
    lines = karat(*CODE, "-m", "mrr", "--by", "level").stdout.splitlines()
    assert lines[-4:] == [
        *("level  queries    mrr", "-----  -------  -----"),
        *("easy         1  1.000", "hard         2  0.000"),
    ]
    text = karat(*CODE, "-m", "mrr", "--by", "level", "--details").stdout
    assert [line for line in text.splitlines() if " = " in line] == [
        *("level = easy", "level = hard"),
    ]


def test_rows_are_tagged_by_number(karat: Karat) -> None:
    done = karat(*CODE, "-m", "mrr", "--tag", "hard=2-3", "--json")
    slices = json.loads(done.stdout)["run"]["slices"]["hard"]
    assert {value: (entries[0]["mean"], entries[0]["n"]) for value, entries in slices.items()} == {
        "standard": (1.0, 1),
        "hard": (0.0, 2),
    }


def test_file_types_come_from_the_targets(karat: Karat) -> None:
    done = karat(*CODE, "-m", "mrr", "--by", "file-type", "--json")
    slices = json.loads(done.stdout)["run"]["slices"]["file-type"]
    assert {value: entries[0]["n"] for value, entries in slices.items()} == {".py": 2, ".rs": 1}


def test_a_file_is_written_whole_and_the_output_stays_empty(karat: Karat, folder: Path) -> None:
    output = karat(*SCORE, "--csv", "--ci", "none").stdout
    done = karat(*SCORE, "--csv", "--ci", "none", "-o", "out.csv")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "wrote out.csv\n")
    with (folder / "out.csv").open(encoding="utf-8", newline="") as stream:
        assert stream.read().splitlines() == output.splitlines()


def test_a_failure_leaves_the_old_file_alone(
    karat: Karat, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "out.json").write_text("old")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert karat(*SCORE, "--json", "--ci", "none", "-o", "out.json").returncode != 0
    assert (folder / "out.json").read_text() == "old"
    assert not list(folder.glob("*.part"))


def test_trec_averages_over_what_the_run_answers(karat: Karat) -> None:
    assert means(karat, *SCORE, "-m", "mrr") == {"mrr": 0.5}
    assert means(karat, *SCORE, "-m", "mrr", "--trec") == {"mrr": 0.75}
    # trec_eval also counts q4, for which nothing is relevant, once it is answered.
    assert means(karat, "score", "gold.qrels", "new.run", "-m", "mrr", "--trec") == {"mrr": 0.75}
    text = karat(*SCORE, "-m", "mrr", "--trec", "--ci", "none").stdout
    assert "\n1 missing (left out)\n" in text


def test_errors_and_timeouts_count_0_beside_the_mean_over_answered(karat: Karat) -> None:
    short = karat(*CODE, "-m", "mrr").stdout
    assert "\n1 error, 1 timeout (each counts 0), 1 invalid hit left out (1 duplicate)\n" in short
    lines = karat(*CODE, "-m", "mrr", "--details").stdout.splitlines()
    assert lines[6].split() == ["mrr", "0.3333", "1.0000", "3"]
    assert " ".join(lines[8:]).startswith(
        "3 queries: 0 missing, 1 error, 1 timeout (each counts 0), 1 invalid hit left out "
        "(1 duplicate)"
    )


def test_a_run_without_a_hit_is_broken_whatever_is_written(karat: Karat, folder: Path) -> None:
    (folder / "empty.json").write_text(json.dumps({f"q{n}": {} for n in range(1, 5)}))
    command = ("score", "gold.qrels", "empty.json", "-m", "mrr")
    done = karat(*command)
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("No verdict on empty: returned no hits for 4 of 4 queries.\n")
    for options in (("--json",), ("--csv",), ("--csv", "-o", "out.csv"), ("-o", "out.html")):
        assert karat(*command, *options).returncode == 3
    assert {path.name for path in folder.glob("out.*")} == {"out.csv", "out.html"}


def test_line_truth_shows_the_size_beside_success(karat: Karat) -> None:
    scores = means(karat, *CODE)
    assert list(scores)[-4:] == ["line-precision@10", "line-iou@10", "lines@10", "tokens@10"]
    # Lines 10 to 29 were returned, 10 to 19 of a.py and 1 to 5 of b.py wanted, once in 3 queries.
    assert scores["line-precision@10"] == pytest.approx(10 / 20 / 3)
    assert scores["line-iou@10"] == pytest.approx(10 / 25 / 3)
    assert "lines@10" not in means(karat, *SCORE)


def test_the_level_moves_what_is_relevant(karat: Karat) -> None:
    scores = means(karat, *SCORE, "-m", "mrr,precision@2", "--level", "2")
    assert list(scores) == ["mrr(level=2)", "precision(level=2)@2"]
    # Only a of q1 has grade 2; it stands at rank 2.
    assert scores["precision(level=2)@2"] == pytest.approx(0.5 / 3)


def test_unjudged_hits_can_be_taken_out_of_the_ranking(karat: Karat) -> None:
    # Without x, document a is first: 1, 1 and 0.
    assert means(karat, *SCORE, "-m", "mrr", "--judged-only") == {"mrr": pytest.approx(2 / 3)}


def test_a_depth_cuts_the_run(karat: Karat) -> None:
    # Of q1 only x is left.
    assert means(karat, *SCORE, "-m", "mrr", "--depth", "1") == {"mrr": pytest.approx(1 / 3)}


TIED = "q1 Q0 a 1 1 t\nq1 Q0 x 2 1 t\nq2 Q0 c 1 1 t\nq3 Q0 d 1 1 t\n"


@pytest.mark.parametrize(
    ("ties", "first"),
    [("trec10", 0.5), ("order", 1.0), ("best", 1.0), ("worst", 0.5), ("expected", 0.75)],
)
def test_ties_are_broken_as_asked_and_counted(
    karat: Karat, folder: Path, ties: str, first: float
) -> None:
    (folder / "tied.run").write_text(TIED)
    command = ("score", "gold.qrels", "tied.run", "-m", "mrr", "--ties", ties, "--ci", "none")
    assert means(karat, *command) == {"mrr": pytest.approx((first + 2) / 3)}
    output = karat(*command).stdout
    note = f"in 1 query equal scores decide the rank of a hit that counts (rule: {ties})"
    assert (note in output) == (ties != "order")


def test_expected_ties_refuse_what_has_no_closed_form(karat: Karat, folder: Path) -> None:
    (folder / "tied.run").write_text(TIED)
    done = karat("score", "gold.qrels", "tied.run", "-m", "mrr,tokens@5", "--ties", "expected")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: the tie policy 'expected' is not defined for: tokens@5\n"


def test_queries_of_one_cluster_are_drawn_together(karat: Karat, folder: Path) -> None:
    rows = [f"question {number},src/{number}.py:1-9:1,repo{number % 3}" for number in range(24)]
    (folder / "many.csv").write_text("query,result1,repo\n" + "\n".join(rows) + "\n")
    answers = [
        {"query_id": str(number + 1), "hits": [{"path": f"src/{number}.py"}] * (number % 3 == 0)}
        for number in range(24)
    ]
    header = {"format": "karat-run", "version": 1, "name": "agent"}
    (folder / "many.jsonl").write_text("\n".join(map(json.dumps, [header, *answers])))
    command = ("score", "many.csv", "many.jsonl", "-m", "hit@5", "--draws", "999")
    free, bound = (
        json.loads(karat(*command, *extra, "--json").stdout)["run"]["metrics"]["hit@5"]
        for extra in ((), ("--cluster", "repo"))
    )
    assert free["mean"] == bound["mean"] == pytest.approx(1 / 3)
    # All answers of a repository agree: three clusters tell far less than 24 queries.
    width_free, width_bound = (
        entry["interval"]["high"] - entry["interval"]["low"] for entry in (free, bound)
    )
    assert width_bound > 1.5 * width_free
