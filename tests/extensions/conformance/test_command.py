"""karat conformance: files that any program reads, and a verdict on what it made of them."""

import csv
import json
from math import log2
from pathlib import Path

import pytest
import pytrec_eval

from tests.command_line import Karat

HEADER = "case,query,measure,value\n"


def test_the_files_hold_the_same_cases(karat: Karat, folder: Path) -> None:
    done = karat("conformance", "export", "kit")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("wrote 23 cases in 50 files to kit")
    cases = json.loads((folder / "kit" / "cases.json").read_text())
    names = [case["case"] for case in cases]
    assert names == [name.split("`")[1] for name in rows_of(folder / "kit" / "README.md")]
    assert {path.name for path in (folder / "kit" / "cases").iterdir()} == set(names)
    for case in cases:
        lines = (folder / "kit" / "cases" / case["case"] / "run.txt").read_text().splitlines()
        hits = [(query, *hit) for query, own in case["run"].items() for hit in own]
        assert [(q, d, float(s)) for q, _, d, _, s, _ in map(str.split, lines)] == hits
    with (folder / "kit" / "expected.csv").open() as stream:
        expected = list(csv.DictReader(stream))
    readings = [each for case in cases for one in case["expected"] for each in one["readings"]]
    assert [each["convention"] for each in readings] == [each["convention"] for each in expected]


def rows_of(page: Path) -> list[str]:
    return [line for line in page.read_text().splitlines() if line.startswith("| `")]


def test_pytrec_eval_is_known_by_its_values(karat: Karat, folder: Path) -> None:
    assert karat("conformance", "export", "kit").returncode == 0
    values = []
    for name in ("ties", "close-scores", "missing-query", "gain"):
        case = folder / "kit" / "cases" / name
        with (case / "qrels.txt").open() as qrels, (case / "run.txt").open() as run:
            judged, scored = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)
        evaluator = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank", "ndcg_cut.3"})
        results = evaluator.evaluate(scored)
        if name == "gain":
            values.append((name, "1", "ndcg_cut_3", results["1"]["ndcg_cut_3"]))
        else:
            mean = sum(each["recip_rank"] for each in results.values()) / len(results)
            query = "all" if name == "missing-query" else "1"
            values.append((name, query, "recip_rank", mean))
    (folder / "own.csv").write_text(
        HEADER + "".join(f"{','.join(map(str, each))}\n" for each in values)
    )
    done = karat("conformance", "check", "own.csv", "--json")
    assert done.returncode == 0, done.stderr
    found = {each["case"]: each["convention"] for each in json.loads(done.stdout)["findings"]}
    assert found == {
        "ties": "by id, descending, as trec_eval",
        "close-scores": "32 bits, as trec_eval 9",
        "missing-query": "left out of the mean, as trec_eval without -c",
        "gain": "the grade",
    }


def test_a_wrong_value_fails(karat: Karat, folder: Path) -> None:
    (folder / "own.csv").write_text(f"{HEADER}ideal,1,nDCG@2,1.0\nideal,1,recall@2,0.3333\n")
    done = karat("conformance", "check", "own.csv")
    assert done.returncode == 1
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert [line for line in lines if line.startswith("ideal")] == [
        "ideal only what was returned wrong ndcg@2 1",
        "ideal the best k of all judgments usual recall@2 0.3333",
        "ideal: usual is ndcg@2 0.2346 = 1 / (3 + 2/log2(3))",
    ]
    answer = "own: 2 conventions in 1 case: 1 usual, 0 other, 1 wrong."
    assert done.stdout.splitlines()[0] == answer
    found = json.loads(karat("conformance", "check", "own.csv", "--json").stdout)["findings"]
    (expected,) = found[0]["expected"]
    assert expected.pop("value") == pytest.approx(1 / (3 + 2 / log2(3)))
    assert expected == {"query": "1", "measure": "ndcg@2", "working": "1 / (3 + 2/log2(3))"}


def test_a_value_of_no_convention_is_wrong(karat: Karat, folder: Path) -> None:
    (folder / "own.csv").write_text(f"{HEADER}level,1,mrr,0.77\nempty-run,all,mrr,error\n")
    done = karat("conformance", "check", "own.csv")
    assert done.returncode == 1
    assert "none that is known" in done.stdout
    assert "an error" in done.stdout
    assert "level: usual is mrr 1 = 1\n" in done.stdout


def test_bad_results_are_named(karat: Karat, folder: Path) -> None:
    (folder / "own.csv").write_text(f"{HEADER}unknown,1,mrr,1\nties,1,mrr,much\nties,1,nothing,1\n")
    done = karat("conformance", "check", "own.csv")
    assert done.returncode == 2
    assert "own.csv:2: no case named 'unknown'" in done.stderr
    assert (
        "own.csv:3: 'much' is not a number; expected for example 0.5, nan or error" in done.stderr
    )
    assert "own.csv:4: no metric named 'nothing'" in done.stderr
    (folder / "own.csv").write_text("case,value\nties,1\n")
    done = karat("conformance", "check", "own.csv")
    assert "own.csv: no column query, measure; expected case, query, measure, value" in done.stderr
    (folder / "own.csv").write_text("case;query;measure;value\nties;1;mrr;0.5\n")
    done = karat("conformance", "check", "own.csv")
    assert "own.csv: fields are separated by ';'; expected commas" in done.stderr
    (folder / "own.csv").write_text(f"{HEADER}ties,1,mrr,\n")
    assert "own.csv: no row has a value" in karat("conformance", "check", "own.csv").stderr


def test_rows_that_would_be_misread_are_named(karat: Karat, folder: Path) -> None:
    rows = ("ties,1,mrr,0,5", "gain,1,ndcg@3", "ties,1,mrr,inf", "level,1,mrr,1", "level,1,RR,0.5")
    (folder / "own.csv").write_text(HEADER + "\n".join((*rows, "level,2,mrr,1")) + "\n")
    done = karat("conformance", "check", "own.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "own.csv:2: 5 fields; expected 4: case, query, measure, value" in done.stderr
    assert "own.csv:3: 3 fields; expected 4" in done.stderr
    assert "own.csv:4: 'inf' is not a number" in done.stderr
    assert "own.csv:6: level 1 mrr has a value in line 5 already" in done.stderr
    assert "own.csv:7: case level does not ask for 2 mrr; it asks for 1 mrr" in done.stderr
