"""The public Python API: its names, what it takes, and what it leaves alone."""

import json
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import karat
from karat import Answer, Dataset, Hit, Query, Run, Target
from karat.errors import InputError, UnknownName

GOLD = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q3": {"d": 1.0}}
OLD = {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}
NEW = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q3": {"d": 0.5}}


def as_dataset() -> Dataset:
    return Dataset.of(
        Query(query_id, f"find {query_id}", tuple(Target(*pair) for pair in grades.items()))
        for query_id, grades in GOLD.items()
    )


def as_run(scores: dict[str, dict[str, float]], name: str) -> Run:
    return Run.of(
        (
            Answer(query_id, tuple(Hit(*pair) for pair in documents.items()))
            for query_id, documents in scores.items()
        ),
        name=name,
    )


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Return the same truth and runs as TREC files."""
    qrels, old, new = (tmp_path / name for name in ("gold.qrels", "old.run", "new.run"))
    qrels.write_text(
        "".join(f"{q} 0 {d} {g:g}\n" for q, grades in GOLD.items() for d, g in grades.items())
    )
    for path, run in ((old, OLD), (new, NEW)):
        path.write_text(
            "".join(f"{q} Q0 {d} 0 {s} t\n" for q, hits in run.items() for d, s in hits.items())
        )
    return {"gold": qrels, "old": old, "new": new}


def test_the_public_names_are_these() -> None:
    assert karat.__all__ == [
        "Answer",
        "Corpus",
        "Dataset",
        "EngineError",
        "Format",
        "FormatError",
        "GitRepository",
        "Hit",
        "InputError",
        "JudgedQuery",
        "KaratError",
        "Matrix",
        "MiningRecipe",
        "Problem",
        "Query",
        "QuestionRecipe",
        "Run",
        "ScoreFile",
        "ScoreMeasure",
        "ScoreReader",
        "ScoreRow",
        "Target",
        "TrecSettings",
        "__version__",
        "compare",
        "compare_scores",
        "evaluate",
        "from_beir",
        "from_folder",
        "from_git",
        "from_texts",
        "generate",
        "generate_questions",
        "index_health",
        "load",
        "metric",
        "open_executor",
        "run",
        "trec_eval",
        "verdict",
        "write_gold",
        "write_report",
    ]


def test_importing_karat_imports_nothing_heavy() -> None:
    probe = "import sys, karat; print(*{'numpy', 'pydantic', 'yaml', 'polars'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "")


def test_evaluating_without_intervals_needs_no_numpy() -> None:
    probe = (
        "import sys, karat; e = karat.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}}, ['mrr'], "
        "confidence=None); print(e['mrr'], 'numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["1.0", "False"]


def test_load_tells_datasets_from_runs(files: dict[str, Path]) -> None:
    gold, run = karat.load(files["gold"]), karat.load(str(files["old"]))
    assert isinstance(gold, Dataset)
    assert gold.query_ids == ("q1", "q2", "q3")
    assert isinstance(run, Run)
    assert run.query_ids == ("q1", "q2")


def test_load_takes_a_format(files: dict[str, Path]) -> None:
    assert isinstance(karat.load(files["gold"], format="trec-qrels"), Dataset)
    with pytest.raises(UnknownName, match="did you mean"):
        karat.load(files["gold"], format="trec-qrel")


def test_paths_records_and_dictionaries_score_the_same(files: dict[str, Path]) -> None:
    expected = {"mrr": 0.5, "recall@10": 2 / 3, "ap": (0.5 * (1 / 2 + 2 / 3) + 1) / 3}
    golds = (GOLD, as_dataset(), files["gold"], str(files["gold"]))
    runs = (OLD, as_run(OLD, "old"), files["old"], str(files["old"]))
    for gold in golds:
        for run in runs:
            evaluation = karat.evaluate(gold, run, list(expected), confidence=None)
            assert {name: evaluation[name] for name in expected} == pytest.approx(expected)
            assert evaluation.table.columns["mrr"].tolist() == [0.5, 1.0, 0.0]


def test_runs_compare_as_a_list_and_as_a_dictionary(files: dict[str, Path]) -> None:
    by_name = karat.compare(GOLD, {"old": OLD, "new": NEW}, ["mrr"])
    by_file = karat.compare(files["gold"], [files["old"], files["new"]], ["mrr"])
    by_record = karat.compare(as_dataset(), [as_run(OLD, "old"), as_run(NEW, "new")], ["mrr"])
    assert by_name.comparison == by_file.comparison == by_record.comparison
    entry = by_name.comparison.difference("old", "new", "mrr")
    assert (entry.baseline_mean, entry.system_mean, entry.difference) == (0.5, 1.0, 0.5)
    assert (entry.wins, entry.ties, entry.losses) == (2, 1, 0)


def test_the_verdict_of_a_comparison() -> None:
    contest = karat.compare(GOLD, {"old": OLD, "new": NEW}, ["mrr"])
    assert karat.verdict(contest) == contest.verdict
    assert "old" in karat.verdict(contest.comparison)


def test_runs_without_a_name_are_numbered() -> None:
    assert karat.compare(GOLD, [OLD, NEW], ["mrr"]).comparison.systems == ("run1", "run2")


def test_input_dictionaries_are_not_changed() -> None:
    gold, old, new = deepcopy(GOLD), deepcopy(OLD), deepcopy(NEW)
    karat.evaluate(gold, old, match="exact", judged_only=True, depth=1)
    karat.compare(gold, {"old": old, "new": new})
    assert (gold, old, new) == (GOLD, OLD, NEW)


def test_one_seed_gives_one_result_and_another_a_different_interval() -> None:
    gold = {f"q{number}": {"a": 1.0} for number in range(40)}
    run = {
        f"q{number}": {f"x{rank}": 10.0 - rank for rank in range(number % 7)} | {"a": 1.0}
        for number in range(40)
    }
    first, again, other = (karat.evaluate(gold, run, ["mrr"], seed=seed) for seed in (3, 3, 4))
    assert first == again
    assert first["mrr"] == other["mrr"]
    assert first.summaries[0].interval != other.summaries[0].interval


def test_a_measure_not_computed_is_named_with_those_that_were() -> None:
    evaluation = karat.evaluate(GOLD, OLD, ["mrr", "ap"], confidence=None)
    with pytest.raises(UnknownName, match="'ndcg@10' was not computed; computed: mrr, ap"):
        evaluation["ndcg@10"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ties": "coin"}, "no tie policy named 'coin'; known: trec10"),
        ({"match": "exakt"}, "did you mean 'exact'"),
        ({"level": float("nan")}, "level nan is not a valid grade"),
        ({"seed": -1}, "seed -1 is negative; expected 0 or more"),
        ({"confidence": 2.0}, "level 2.0 is not between 0 and 1"),
        ({"depth": 0}, "depth 0 is below 1"),
        ({"by": ["team"]}, "no query is tagged with 'team'; available: file-type"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        karat.evaluate(GOLD, OLD, **settings)  # type: ignore[arg-type]


def test_a_report_is_that_of_the_command_for_files_records_and_dictionaries(
    files: dict[str, Path], tmp_path: Path
) -> None:
    written = tmp_path / "command.json"
    arguments = ["report", *map(str, files.values()), "-o", str(written), "-m", "mrr"]
    done = subprocess.run([sys.executable, "-m", "karat", *arguments], check=False)
    assert done.returncode == 0
    expected = json.loads(written.read_text(encoding="utf-8"))
    assert expected["comparison"]["systems"] == ["old", "new"]
    records = [as_run(OLD, "old"), as_run(NEW, "new")]
    inputs: list[tuple[object, object]] = [
        (files["gold"], [files["old"], files["new"]]),
        (as_dataset(), records),
        (GOLD, {"old": OLD, "new": NEW}),
    ]
    for gold, runs in inputs:
        path = tmp_path / "report.json"
        karat.write_report(gold, runs, path, ["mrr"])  # type: ignore[arg-type]
        document = json.loads(path.read_text(encoding="utf-8"))
        assert document["comparison"] == expected["comparison"]


def test_a_report_is_one_html_file(
    tmp_path: Path, embedded: Callable[[str], dict[str, Any]]
) -> None:
    path = tmp_path / "report.html"
    karat.write_report(as_dataset(), [as_run(NEW, "new")], path, "mrr", title="First look")
    page = path.read_text(encoding="utf-8")
    assert "First look" in page
    assert "find q2" in str(embedded(page))
    with pytest.raises(InputError, match="unknown report format; expected"):
        karat.write_report(GOLD, [NEW], tmp_path / "report.docx")
    with pytest.raises(InputError, match=r"write_report\(gold, \[run_a, run_b\], path\): expected"):
        karat.write_report(GOLD, as_run(NEW, "new"), path)  # type: ignore[arg-type]


def test_runs_outside_a_list_are_refused(files: dict[str, Path]) -> None:
    old, new = as_run(OLD, "old"), as_run(NEW, "new")
    paths = files["old"], files["new"]
    calls: list[tuple[object, ...]] = [
        (old,),
        (old, new),
        (OLD, NEW),
        paths,
        tuple(map(str, paths)),
        ([old, new], files["new"]),
    ]
    for arguments in calls:
        with pytest.raises(
            InputError,
            match=r"compare\(gold, \[run_a, run_b\]\): expected a list of runs or \{name: run\}",
        ):
            karat.compare(GOLD, *arguments)  # type: ignore[arg-type]


def test_no_second_run_to_compare_is_refused() -> None:
    with pytest.raises(InputError, match=r"^only one run to compare; give two runs or more$"):
        karat.compare(GOLD, [OLD])


def test_measures_of_diversity_need_subtopics(tmp_path: Path) -> None:
    qrels = tmp_path / "div.qrels"
    qrels.write_text("51 1 a 1\n51 2 b 1\n51 1 c 1\n")
    run = {"51": ["a", "c", "b"]}
    evaluation = karat.evaluate(qrels, run, ["alpha-nDCG@3", "STREC@2", "map"], confidence=None)
    assert evaluation["STREC@2"] == 0.5
    assert evaluation["map"] == 1.0
    assert 0.9 < evaluation["alpha-nDCG@3"] < 1.0
    with pytest.raises(InputError, match=r"alpha-nDCG@3: no target has a subtopic; expected"):
        karat.evaluate({"51": {"a": 1}}, run, ["alpha-nDCG@3"])


def test_all_targets_must_be_found_for_accuracy() -> None:
    gold = {"q1": ["a", "b"], "q2": ["c"]}
    run = {"q1": ["a", "x", "b"], "q2": ["c"]}
    evaluation = karat.evaluate(gold, run, ["acc@2", "acc@3", "accuracy"], confidence=None)
    assert dict(evaluation) == {"acc@2": 0.5, "acc@3": 1.0, "accuracy": 1.0}
