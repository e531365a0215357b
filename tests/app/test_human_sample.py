"""--human-sample: people judged some queries, a language model judged all of them."""

import random
from array import array
from collections.abc import Callable
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

import karat
from karat.app.baseline import read_baseline, update_baseline
from karat.app.compare import compare
from karat.app.gate import gate, parse_rules
from karat.app.report import write_report
from karat.app.score import score
from karat.errors import InputError
from karat.formats import write
from karat.model import (
    Answer,
    Dataset,
    Hit,
    Query,
    QueryStatus,
    Run,
    ScoreTable,
    Target,
)
from karat.model.comparison import Interval
from karat.model.gate import Decision
from karat.model.judgments import JudgmentRecord, model_labels_of, with_model_labels
from karat.report.compare_view import compare_table
from karat.report.json import result_json
from karat.report.score_view import note_lines
from karat.scoring.human_sample import (
    human_sample_of,
    merge_labels,
    with_human_sample,
    with_recorded_sample,
)
from karat.scoring.labels import LabelRule, use_labels
from karat.scoring.settings import Confidence, Scoring

QUERIES, JUDGED = 80, 24
AUTO = Confidence(draws=199, human_sample="auto")
PLAIN = Confidence(draws=199)
MEASURES = Scoring(("ndcg@5", "hit@1"))


def search(relevant: set[str], documents: list[str], skill: float, rng: random.Random) -> list[str]:
    return sorted(documents, key=lambda each: -((each in relevant) * skill + rng.gauss(0, 1)))[:6]


def example(*, errors: float = 0.1, judged: int = JUDGED) -> tuple[Dataset, Run, Run]:
    """Return a gold set and two runs; the model mistakes a share of the hits.

    People judged all hits of the first queries, which are the recorded sample, and one document of
    the others.
    """
    rng, judge = random.Random(4), random.Random(5)
    queries: list[Query] = []
    old: list[Answer] = []
    new: list[Answer] = []
    for row in range(QUERIES):
        documents = [f"{row}-{each}.py" for each in range(10)]
        relevant = {each for each in documents if rng.random() < 0.3} or {documents[0]}
        answers = [search(relevant, documents, skill, rng) for skill in (0.5, 2.0)]
        for run_answers, paths in zip((old, new), answers, strict=True):
            hits = tuple(Hit(path, float(9 - rank)) for rank, path in enumerate(paths))
            run_answers.append(Answer(f"q{row}", hits))
        pooled = sorted({*answers[0], *answers[1], *relevant})
        labels = [
            JudgmentRecord(
                Target(path, 3.0 * ((path in relevant) != (judge.random() < errors))), "m", "2026"
            )
            for path in pooled
        ]
        targets = [Target(path, float(path in relevant)) for path in pooled]
        query = Query(f"q{row}", f"text {row}", tuple(targets if row < judged else targets[:1]))
        queries.append(with_model_labels(query, labels))
    gold = Dataset.of(queries, name="gold", match="exact")
    gold = with_recorded_sample(gold, gold.query_ids[:judged])
    return gold, Run.of(old, name="old"), Run.of(new, name="new")


def answered(run: Run, row: int, *paths: str) -> Run:
    """Return *run* with other hits for one query."""
    answers = list(run.answers())
    hits = tuple(Hit(path, float(-rank)) for rank, path in enumerate(paths))
    answers[row] = Answer(f"q{row}", hits)
    return Run.of(answers, name=run.name)


def test_auto_takes_the_recorded_queries_and_no_others(tmp_path: Path) -> None:
    gold, _, new = example(judged=40)
    # People happen to have judged 40 queries, but only these were drawn.
    drawn = with_recorded_sample(gold, ["q3", "q1", "q9", "gone"])
    write(drawn, tmp_path / "gold.json")
    assert score(str(tmp_path / "gold.json"), new, scoring=MEASURES).notes.powered == ""
    evaluation = score(str(tmp_path / "gold.json"), new, scoring=MEASURES, confidence=AUTO)
    assert evaluation.summaries[0].labels is not None
    assert evaluation.summaries[0].labels.human == 3
    assert evaluation.table.labelled is not None
    by_people = evaluation.table.labelled.people["ndcg@5"]
    assert [row for row, value in enumerate(by_people) if not isnan(value)] == [1, 3, 9]


def test_queries_whose_hits_are_all_targets_are_no_sample() -> None:
    # Mined targets and lucky runs: nobody has judged anything.
    queries = [
        with_model_labels(
            Query(f"q{row}", f"text {row}", (Target("gold.py"),)),
            [JudgmentRecord(Target("gold.py", 1.0), "m", "2026")],
        )
        for row in range(20)
    ]
    gold = Dataset.of(queries, name="mined", match="exact")
    run = Run.of([Answer(f"q{row}", (Hit("gold.py", 1.0),)) for row in range(20)], name="run")
    with pytest.raises(InputError, match="records no sample of its 20 queries") as caught:
        score(gold, run, scoring=MEASURES, confidence=AUTO)
    assert "karat judge GOLD RUN... --next 20" in str(caught.value)
    assert "--human-sample FILE" in str(caught.value)


def test_an_unjudged_hit_of_a_sampled_query_is_an_error() -> None:
    gold, old, new = example()
    worse = answered(answered(new, 2, "wrong.py", "other.py"), 5, "wrong.py")
    with pytest.raises(
        InputError, match=r"3 hits of 2 of the 24 sampled queries .* --next 2 -k 5, with the same"
    ):
        compare(gold, [old, worse], scoring=MEASURES, confidence=AUTO)
    # Below the largest cut-off nobody has to judge.
    deep = answered(new, 2, *(hit.path for hit in list(new.answers())[2].hits[:5]), "wrong.py")
    score(gold, deep, scoring=MEASURES, confidence=AUTO)
    with pytest.raises(InputError, match=r"1 hit of 1 of the 24 sampled .* -k 6"):
        score(gold, deep, scoring=Scoring(("ndcg@6",)), confidence=AUTO)
    # A query outside the sample may have them.
    score(gold, answered(new, 30, "wrong.py"), scoring=MEASURES, confidence=AUTO)


def test_a_sampled_query_without_hits_counts_as_zero() -> None:
    gold, _, new = example()
    evaluation = score(gold, answered(new, 2), scoring=MEASURES, confidence=AUTO)
    assert evaluation.table.labelled is not None
    assert evaluation.table.labelled.people["ndcg@5"][2] == 0.0
    assert evaluation.table.labelled.model["ndcg@5"][2] == 0.0
    assert evaluation.summaries[0].labels is not None
    assert evaluation.summaries[0].labels.human == JUDGED


def test_a_file_is_taken_as_given_with_a_warning_about_unjudged_hits(tmp_path: Path) -> None:
    gold, old, new = example()
    bare = gold.with_queries(
        query._replace(targets=()) if query.id == "q79" else query for query in gold.queries()
    )
    path = tmp_path / "ids.txt"
    path.write_text("q1\nq2\nq3\nq79\n")
    sample = replace(AUTO, human_sample=str(path))
    expected = "5 unjudged hits of 1 of the 4 sampled queries count as not relevant"
    evaluation = score(bare, new, scoring=MEASURES, confidence=sample)
    assert expected in evaluation.notes.powered
    assert evaluation.table.labelled is not None
    assert evaluation.table.labelled.people["ndcg@5"][79] == 0.0
    (note,) = compare(bare, [new, old], scoring=MEASURES, confidence=sample).notes
    assert "of 1 of the 4 sampled queries count as not relevant." in note
    path.write_text("q1\nq2\nq3\n")
    assert "unjudged" not in score(bare, new, scoring=MEASURES, confidence=sample).notes.powered


def test_a_score_is_prediction_powered_and_says_so() -> None:
    gold, _, new = example()
    plain, powered = (score(gold, new, scoring=MEASURES, confidence=each) for each in (PLAIN, AUTO))
    truth, _, _ = example(judged=QUERIES)
    complete = score(truth, new, scoring=MEASURES, confidence=PLAIN)
    summary = powered.summaries[0]
    assert summary.interval is not None
    assert summary.labels is not None
    assert summary.interval.method == "prediction-powered"
    assert (summary.labels.human, summary.labels.model) == (JUDGED, QUERIES - JUDGED)
    # With human labels for all queries the mean is inside; missing labels alone mislead.
    assert summary.interval.low < complete["ndcg@5"] < summary.interval.high  # type: ignore[operator]
    assert plain["ndcg@5"] < summary.interval.low  # type: ignore[operator]
    assert summary.answered == summary.mean
    (note,) = [line for line in note_lines(powered) if "prediction-powered" in line]
    assert note.startswith(f"prediction-powered: ndcg@5 {summary.mean:.3f} [")
    assert "from 24 human-judged and 56 model-judged queries; as precise as " in note
    assert "hit@1" in note
    assert '"prediction-powered"' in result_json(powered, {})
    assert not plain.notes.powered
    assert not any("--judge-labels" in line for line in note_lines(powered))


def test_scores_of_queries_are_those_of_people_where_they_judged() -> None:
    gold, _, new = example()
    table = score(gold, new, scoring=MEASURES, confidence=AUTO).table
    truth, _, _ = example(judged=QUERIES)
    expected = score(truth, new, scoring=MEASURES).table.columns["ndcg@5"]
    assert list(table.columns["ndcg@5"][:JUDGED]) == list(expected[:JUDGED])
    assert list(table.columns["ndcg@5"][JUDGED:]) != list(expected[JUDGED:])


def test_a_model_without_errors_moves_no_mean_and_narrows_no_interval() -> None:
    gold, old, new = example(errors=0.0)
    truth, _, _ = example(errors=0.0, judged=QUERIES)
    powered = score(gold, new, scoring=MEASURES, confidence=AUTO)
    complete = score(truth, new, scoring=MEASURES, confidence=PLAIN)
    for one, other in zip(powered.summaries, complete.summaries, strict=True):
        assert one.mean == pytest.approx(other.mean)
        assert contains(one.interval, other.interval)
    estimated, expected = (
        compare(each, [old, new], scoring=MEASURES, confidence=sure).comparison
        for each, sure in ((gold, AUTO), (truth, PLAIN))
    )
    for entry, exact in zip(estimated.differences, expected.differences, strict=True):
        assert entry.difference == pytest.approx(exact.difference)
        assert contains(entry.interval, exact.interval)
        assert entry.p >= exact.p  # type: ignore[operator]


def contains(outer: Interval | None, inner: Interval | None) -> bool:
    """Return whether *outer* is wider than *inner* and contains it."""
    assert outer is not None
    assert inner is not None
    return outer.low < inner.low < inner.high < outer.high  # type: ignore[operator]


def test_equal_runs_do_not_differ() -> None:
    gold, old, _ = example()
    runs = [old, replace(old, name="again")]
    (entry, _) = compare(gold, runs, scoring=MEASURES, confidence=AUTO).comparison.differences
    assert entry.difference == 0.0
    assert entry.interval.method == "identical"


def test_a_measure_without_labels_is_known_for_every_query() -> None:
    ids, statuses = ("a", "b", "c"), (QueryStatus.SCORED,) * 3
    lines = array("d", [3, 4, 5])
    people = ScoreTable("r", ids, statuses, {"lines@5": lines, "hit@5": array("d", [1, 0, 0])})
    model = ScoreTable("r", ids, statuses, {"lines@5": lines, "hit@5": array("d", [0, 1, 1])})
    merged = merge_labels(people, model, {"a"})
    assert merged.labelled is not None
    assert list(merged.columns["hit@5"]) == [1, 1, 1]
    assert [isnan(score) for score in merged.labelled.people["hit@5"]] == [False, True, True]
    assert list(merged.labelled.people["lines@5"]) == [3, 4, 5]


def test_a_comparison_is_prediction_powered() -> None:
    gold, old, new = example()
    contest = compare(gold, [old, new], scoring=MEASURES, confidence=AUTO, by=["file-type"])
    entry = contest.comparison.difference("old", "new", "ndcg@5")
    truth, _, _ = example(judged=QUERIES)
    complete = compare(truth, [old, new], scoring=MEASURES, confidence=PLAIN)
    exact = complete.comparison.difference("old", "new", "ndcg@5")
    assert entry.interval.low < exact.difference < entry.interval.high  # type: ignore[operator]
    assert entry.p_method == "prediction-powered"
    assert entry.labels is not None
    assert entry.labels.human == JUDGED
    assert entry.system_mean == pytest.approx(entry.baseline_mean + entry.difference)  # type: ignore[operator]
    assert entry.is_significant
    assert contest.comparison.correction == "holm"
    assert "new is better than old: ndcg@5" in contest.verdict
    (note,) = contest.notes
    assert note.startswith("Intervals and p values are prediction-powered, from 24 human-judged")
    assert "their difference" in note
    assert compare_table(contest).notes[0].startswith("p and intervals: prediction-powered")
    assert contest.slices["file-type"][".py"].differences[0].labels == entry.labels


@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
def test_p_values_of_several_runs_are_corrected(correction: str) -> None:
    gold, old, new = example()
    runs = {"old": old, "new": new, "again": replace(old, name="again")}
    comparison = compare(
        gold,
        list(runs.values()),
        names=list(runs),
        scoring=MEASURES,
        confidence=replace(AUTO, correction=correction),
    ).comparison
    first = [entry for entry in comparison.differences if entry.metric == "ndcg@5"]
    assert len(first) == 3
    for entry in first:
        assert entry.p is not None
        assert entry.p_corrected is not None
        assert entry.p_corrected >= entry.p
    changed = any(entry.p_corrected != entry.p for entry in first)
    assert changed == (correction != "none")


def test_a_model_that_is_no_better_than_chance_is_not_used() -> None:
    gold, _, new = example(errors=0.9)
    evaluation = score(gold, new, scoring=MEASURES, confidence=AUTO)
    assert evaluation.summaries[0].labels is not None
    assert evaluation.summaries[0].labels.weight == 0.0
    assert "the model's labels do not help here, and are not used" in evaluation.notes.powered


def test_a_model_that_guesses_widens_every_interval() -> None:
    gold, old, new = example(errors=0.5)
    truth, _, _ = example(errors=0.5, judged=QUERIES)
    powered, complete = (
        compare(each, [old, new], scoring=MEASURES, confidence=sure).comparison
        for each, sure in ((gold, AUTO), (truth, PLAIN))
    )
    widths = [
        [
            (interval.high or 0.0) - (interval.low or 0.0)
            for interval in (
                *(each.interval for each in comparison.means),
                *(each.interval for each in comparison.differences),
            )
        ]
        for comparison in (powered, complete)
    ]
    assert len(widths[0]) == 6
    assert all(wide > narrow > 0 for wide, narrow in zip(*widths, strict=True))


def test_without_intervals_the_mean_is_still_that_of_both() -> None:
    gold, _, new = example()
    evaluation = score(gold, new, scoring=MEASURES, confidence=replace(AUTO, draws=0))
    expected = score(gold, new, scoring=MEASURES, confidence=AUTO)
    assert evaluation.summaries[0].interval is None
    assert evaluation["ndcg@5"] == expected["ndcg@5"]
    assert " from 24 human-judged" in evaluation.notes.powered


@pytest.mark.usefixtures("other_averages")
def test_sums_and_geometric_means_of_both_labels_are_absent() -> None:
    gold, _, new = example()
    measures = Scoring(("ndcg@5", "geometric", "found", "num_ret"))
    evaluation = score(gold, new, scoring=measures, confidence=AUTO)
    means = [each.mean for each in evaluation.summaries]
    assert [isnan(mean) for mean in means] == [False, True, True, False]
    assert isnan(evaluation.summaries[1].answered)
    # This one does not depend on labels.
    assert means[3] == sum(len(answer.hits) for answer in new.answers())
    (note,) = [line for line in note_lines(evaluation) if "not estimated" in line]
    assert "found are sums or geometric means: not estimated from a human sample" in note
    alone = score(gold, new, scoring=Scoring(("geometric",)), confidence=AUTO).notes.powered
    assert "is a sum or geometric mean" in alone


def test_a_query_that_the_model_has_not_judged_is_left_out() -> None:
    gold, _, new = example()
    queries = [
        with_model_labels(query, ()) if query.id == "q70" else query for query in gold.queries()
    ]
    evaluation = score(gold.with_queries(queries), new, scoring=MEASURES, confidence=AUTO)
    assert evaluation.summaries[0].labels is not None
    assert evaluation.summaries[0].labels.model == QUERIES - JUDGED - 1


def test_a_list_of_ids_or_a_gold_set_names_the_sample(tmp_path: Path) -> None:
    gold, _, new = example()
    listed = tmp_path / "ids.txt"
    listed.write_text("q1\n\nq2\nq3\nq3\n")
    subset = gold.with_queries(query for query in gold.queries() if query.id in ("q1", "q2", "q3"))
    write(subset, tmp_path / "sample.json")
    for path in (listed, tmp_path / "sample.json"):
        evaluation = karat.evaluate(gold, new, ["ndcg@5"], draws=199, human_sample=str(path))
        assert evaluation.summaries[0].labels is not None
        assert evaluation.summaries[0].labels.human == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1\nzz\n", "not in the gold set: 'zz'"),
        ("zz\nyy\n", "not in the gold set: 'zz' and 'yy'"),
        ("zz 0 a.py\n", "3 fields; expected 4"),
        ("q1\n", "the human sample has 1 queries"),
    ],
)
def test_a_wrong_sample_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    gold, _, new = example()
    path = tmp_path / "ids.txt"
    path.write_text(text)
    sample = replace(AUTO, human_sample=str(path))
    with pytest.raises(InputError, match=message):
        score(gold, new, scoring=MEASURES, confidence=sample)


def test_what_a_sample_needs(tmp_path: Path) -> None:
    gold, old, new = example(judged=1)
    with pytest.raises(InputError, match="records a sample of 1 of its 80 queries"):
        score(gold, new, scoring=MEASURES, confidence=AUTO)
    with pytest.raises(InputError, match="no such file; expected a file or auto"):
        score(gold, new, confidence=replace(AUTO, human_sample=str(tmp_path / "none")))
    plain = [with_model_labels(query, ()) for query in gold.queries()]
    with pytest.raises(InputError, match="the gold set has no model labels"):
        compare(gold.with_queries(plain), [old, new], confidence=AUTO)
    with pytest.raises(InputError, match="--human-sample and --judge-labels include exclude"):
        score(gold, new, confidence=AUTO, labels=LabelRule("include"))
    with pytest.raises(InputError, match="needs a gold set with model labels"):
        score({"q0": {"a": 1}}, {"q0": {"a": 1.0}}, confidence=AUTO)


def test_the_gate_uses_the_sample_for_minimums_and_for_the_baseline(tmp_path: Path) -> None:
    gold, old, new = example()
    path = str(tmp_path / "baseline.json")
    update_baseline(gold, new, path, scoring=MEASURES, human_sample="auto")
    baseline = read_baseline(path)
    assert sum(bool(query.model) for query in baseline.queries) == JUDGED
    rules = parse_rules(minimums=["ndcg@5=0.1"], regressions=["0.02"])
    outcome = gate(gold, old, rules, baseline=baseline, scoring=MEASURES, confidence=AUTO)
    minimum, loss = outcome.checks[:2]
    assert minimum.decision is Decision.PASSED
    assert minimum.interval is not None
    assert minimum.interval.method == "prediction-powered"
    assert loss.decision is Decision.FAILED
    assert loss.interval is not None
    assert loss.interval.method == "prediction-powered"
    expected = compare(gold, [new, old], scoring=MEASURES, confidence=AUTO).comparison
    assert loss.value == pytest.approx(-(expected.differences[0].difference or 0.0))
    assert any("prediction-powered" in note for note in outcome.notes)
    with pytest.raises(InputError, match="made with --human-sample"):
        gate(gold, old, rules, baseline=baseline, scoring=MEASURES, confidence=PLAIN)
    update_baseline(gold, new, path, scoring=MEASURES)
    assert '"model"' not in Path(path).read_text()
    with pytest.raises(InputError, match="made without --human-sample"):
        gate(gold, old, rules, baseline=read_baseline(path), scoring=MEASURES, confidence=AUTO)
    update_baseline(use_labels(gold, LabelRule("include")), new, path, scoring=MEASURES)
    with pytest.raises(InputError, match="made without --human-sample"):
        gate(gold, old, rules, baseline=read_baseline(path), scoring=MEASURES, confidence=AUTO)


@pytest.mark.parametrize("suffix", ["md", "json", "html"])
def test_a_report_says_that_it_is_prediction_powered(
    tmp_path: Path, suffix: str, embedded: Callable[[str], object]
) -> None:
    gold, old, new = example()
    path = tmp_path / f"report.{suffix}"
    write_report(gold, [old, new], str(path), scoring=MEASURES, confidence=AUTO)
    text = path.read_text()
    if suffix == "html":
        text = str(embedded(text))
    assert "prediction-powered, from 24 human-judged and 56 model-judged queries" in text


def test_the_python_api_compares_and_reports(tmp_path: Path) -> None:
    gold, old, new = example()
    contest = karat.compare(gold, [old, new], ["ndcg@5"], draws=199, human_sample="auto")
    assert contest.comparison.differences[0].labels is not None
    path = tmp_path / "report.md"
    karat.write_report(gold, [new], path, ["ndcg@5"], human_sample="auto")
    assert "24 human-judged and 56 model-judged" in path.read_text()


def test_a_regression_on_sampled_queries_cannot_pass_unseen(tmp_path: Path) -> None:
    gold, _, new = example()
    path = str(tmp_path / "baseline.json")
    hits = Scoring(("hit@1",))
    update_baseline(gold, new, path, scoring=hits, human_sample="auto")
    # The model likes the wrong file; people have not seen it yet.
    worse, queries = new, list(gold.queries())
    for row in range(0, QUERIES, 2):
        worse = answered(worse, row, "noise.py")
        liked = JudgmentRecord(Target("noise.py", 1.0), "m", "2026")
        labels = [*model_labels_of(queries[row]), liked]
        queries[row] = with_model_labels(queries[row], labels)
    labelled = gold.with_queries(queries)
    rules = parse_rules(regressions=["hit@1=0.05"])
    options = {"baseline": read_baseline(path), "scoring": hits, "confidence": AUTO}
    with pytest.raises(InputError, match="12 hits of 12 of the 24 sampled queries"):
        gate(labelled, worse, rules, **options)  # type: ignore[arg-type]
    # If people judge them, the queries with another result must not be left out either.
    wrong = Target("noise.py", 0.0)
    judged = labelled.with_queries(
        query._replace(targets=(*query.targets, wrong)) if row < JUDGED else query
        for row, query in enumerate(queries)
    )
    with pytest.raises(InputError, match="with --human-sample all queries are compared"):
        gate(judged, worse, rules, allow_changed=True, **options)  # type: ignore[arg-type]
    update_baseline(judged, new, path, scoring=hits, human_sample="auto")
    options["baseline"] = read_baseline(path)
    outcome = gate(judged, worse, rules, **options)  # type: ignore[arg-type]
    assert outcome.checks[0].decision is Decision.FAILED


def test_the_depth_of_the_sample_is_that_of_the_rules() -> None:
    gold, _, new = example()
    deep = answered(
        new, 2, *(hit.path for hit in list(new.answers())[2].hits), *map(str, range(30))
    )
    with pytest.raises(InputError, match=r"30 hits of 1 of the 24 sampled .* -k 50"):
        gate(gold, deep, parse_rules(minimums=["recall@50=0.1"]), confidence=AUTO)
    assert gate(gold, deep, parse_rules(minimums=["recall@5=0.1"]), confidence=AUTO).checks


def test_a_dataset_remembers_its_sample() -> None:
    gold, _, _ = example()
    assert human_sample_of(gold) == frozenset()
    assert human_sample_of(with_human_sample(gold, ["q1", "q2"])) == {"q1", "q2"}
    assert human_sample_of({"q1": {"a": 1}}) == frozenset()


def test_a_slice_without_judged_queries_has_no_mean() -> None:
    gold, old, new = example()
    queries = [
        query._replace(tags={"part": "late" if row >= 40 else "early"})
        for row, query in enumerate(gold.queries())
    ]
    tagged = gold.with_queries(queries)
    evaluation = score(tagged, new, scoring=MEASURES, confidence=AUTO, by=["part"])
    late = evaluation.slices["part"]["late"][0]
    assert late.mean != late.mean
    assert late.interval is not None
    assert late.interval.low is None
    contest = compare(tagged, [old, new], scoring=MEASURES, confidence=AUTO, by=["part"])
    assert contest.slices["part"]["late"].differences[0].difference is None
    assert contest.slices["part"]["late"].differences[0].p is None
    assert contest.slices["part"]["early"].differences[0].difference is not None
