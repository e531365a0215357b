"""A run takes the place of a gold set: in files, in commands and in Python."""

import json
from pathlib import Path

import pytest

import karat
from karat.formats import detect, read_dataset
from tests.command_line import Karat

# Beside q1 and q2 of old.run, a query without hits in either run.
OLD = '{"format": "karat-run", "version": 1, "name": "old"}\n'


def write_run(path: Path, answers: dict[str, list[dict[str, object]]]) -> None:
    lines = [json.dumps({"query_id": name, "hits": hits}) for name, hits in answers.items()]
    path.write_text(OLD + "\n".join(lines) + "\n")


def metrics(printed: str) -> dict[str, dict[str, float]]:
    """Return the scores of one run in JSON."""
    found: dict[str, dict[str, float]] = json.loads(printed)["run"]["metrics"]
    return found


def test_hits_become_targets_in_their_order(folder: Path) -> None:
    gold = read_dataset("old.run", format="ranking")
    assert gold.query_ids == ("q1", "q2", "q9")
    assert gold.judgments(0) == {"x": 3.0, "a": 2.0, "b": 1.0}
    assert gold.match == "document"
    assert detect("old.run").name == "trec-run"


def test_the_overlap_of_two_files_by_hand(karat: Karat) -> None:
    done = karat("compare", "old.run", "new.run", "--json")
    assert done.returncode == 0, done.stderr
    found = {name: each["mean"] for name, each in metrics(done.stdout).items()}
    # q1: x a b and a b; q2: c and c; q9: a and nothing.
    assert found["overlap@1"] == pytest.approx((0 + 1 + 0) / 3)
    assert found["overlap@10"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    # Of a query that the later run lacks, everything has changed.
    assert found["churn@10"] == pytest.approx((1 / 3 + 0 + 1) / 3)


@pytest.mark.parametrize("answered", [1, 2, 3, 4])
def test_churn_is_the_rest_of_overlap_however_many_queries_lack(
    karat: Karat, folder: Path, answered: int
) -> None:
    hits: list[dict[str, object]] = [{"path": "a"}, {"path": "b"}]
    write_run(folder / "all.jsonl", {f"q{number}": hits for number in range(4)})
    write_run(folder / "cut.jsonl", {f"q{number}": hits[:1] for number in range(answered)})
    done = karat("compare", "all.jsonl", "cut.jsonl", "-m", "overlap@2,churn@2", "--json")
    assert done.returncode == 0, done.stderr
    found = metrics(done.stdout)
    assert found["overlap@2"]["mean"] == pytest.approx(answered / 4 / 2)
    assert found["churn@2"]["mean"] == pytest.approx(1 - answered / 4 / 2)
    assert found["churn@2"]["n"] == 4


def test_the_output_says_what_the_scores_are(karat: Karat) -> None:
    done = karat("compare", "old.run", "new.run")
    assert "old.run is a run, not a gold set: scores say how close a run is to it" in done.stdout
    assert "are judged" not in done.stdout
    done = karat("compare", "old.run", "new.run", "old.run", "-m", "overlap@10")
    assert done.returncode == 0
    words = " ".join(done.stdout.split())
    assert "Here, better means closer to the run in place of a gold set." in words


def test_chunks_are_compared_by_file(karat: Karat, folder: Path) -> None:
    chunks = [
        {"path": "a.py", "score": 3, "start_line": 1, "end_line": 9},
        {"path": "a.py", "score": 2, "start_line": 10, "end_line": 19},
        {"path": "b.py", "score": 1, "start_line": 1, "end_line": 9},
    ]
    write_run(folder / "chunks.jsonl", {"q1": chunks, "q2": []})
    write_run(folder / "files.jsonl", {"q1": [{"path": "a.py"}, {"path": "b.py"}], "q2": []})
    for names in (("chunks.jsonl", "files.jsonl"), ("files.jsonl", "chunks.jsonl")):
        done = karat("compare", *names, "-m", "overlap@2,rbo", "--json")
        assert done.returncode == 0, done.stderr
        # Two empty answers are the same.
        for each in metrics(done.stdout).values():
            assert each["mean"] == pytest.approx(1.0)
            assert each["n"] == 2


def test_a_gate_checks_how_much_changed(karat: Karat) -> None:
    done = karat("gate", "old.run", "new.run", "--min", "overlap@10=0.5")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "Gate passed: new, 1 passed.")
    assert karat("gate", "old.run", "new.run", "--min", "rbo=1").returncode == 1
    assert karat("gate", "old.run", "old.run", "--min", "rbo=1").returncode == 0


def test_a_forgotten_gold_set_is_named(karat: Karat, folder: Path) -> None:
    done = karat("score", "old.run", "new.run", "-m", "rbo")
    assert (done.returncode, "expected a gold set" in done.stderr) == (2, True)
    done = karat("compare", "old.run", "new.run", "-m", "ndcg@10")
    assert done.returncode == 2
    assert "ndcg@10: expected a gold set, and old.run is a run" in done.stderr
    assert "use overlap@1, overlap@10, churn@10, rbo" in done.stderr
    done = karat("score", "gold.qrels", "new.run", "-m", "rbo")
    assert done.returncode == 2
    assert "rbo: compares two runs; expected an earlier run in place" in done.stderr
    done = karat("compare", "old.run", "new.run", "-o", "report.html")
    assert (done.returncode, "expected a gold set" in done.stderr) == (2, True)
    options = ("--gold-format", "ranking", "-o", "report.html")
    done = karat("compare", "old.run", "new.run", *options)
    assert done.returncode == 2
    assert "old.run is a run, and a report needs a gold set" in done.stderr
    assert not (folder / "report.html").exists()
    done = karat("compare", "old.run")
    assert done.returncode == 2
    assert "no run to compare" in done.stderr


def test_python_reads_the_other_run_as_a_ranking(folder: Path) -> None:
    old = karat.load("old.run", format="ranking")
    assert isinstance(old, karat.Dataset)
    evaluation = karat.evaluate(old, "new.run", ["overlap@10", "rbo"])
    assert evaluation["overlap@10"] == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_a_table_of_judgments_is_no_ranking(folder: Path) -> None:
    polars = pytest.importorskip("polars")
    rows = {"q_id": ["q1", "q1"], "doc_id": ["a", "b"], "score": [1.0, 2.0]}
    polars.DataFrame(rows).write_parquet(folder / "gold.parquet")
    assert detect(folder / "gold.parquet", kind="dataset").name == "csv"
