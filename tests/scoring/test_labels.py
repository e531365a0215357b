"""Labels of models: kept beside the targets, voted on, and used only when chosen."""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.model import Answer, Dataset, Hit, Query, Run, Target, judgments
from karat.model.evaluation import Evaluation
from karat.model.judgments import (
    JudgmentRecord,
    LabelUse,
    judgments_of,
    label_use,
    model_labels_of,
    with_judgments,
    with_model_labels,
)
from karat.report.score_view import note_lines
from karat.scoring.labels import (
    LabelChoice,
    LabelPair,
    LabelRule,
    agreement_of,
    choose_labels,
    is_judged,
    label_pairs,
    top_grade,
    use_labels,
    voted_targets,
)
from karat.scoring.matching.modes import MATCHERS
from karat.scoring.score import evaluate_run
from karat.scoring.settings import Confidence, Scoring

NOON = "2026-01-01T12:00:00Z"


def label(
    path: str, grade: float, judge: str = "m1", *, lines: tuple[int, int] = (0, 0)
) -> JudgmentRecord:
    return JudgmentRecord(Target(path, grade, *lines), judge, NOON, "why", "abc")


def dataset(query: Query, match: str = "exact") -> Dataset:
    return Dataset.of([query], name="gold", match=match)


def grades(data: Dataset) -> list[tuple[str, float]]:
    return [(target.path, target.grade) for target in data.targets(0)]


def test_labels_of_models_and_judgments_of_people_do_not_mix() -> None:
    person = JudgmentRecord(Target("a.py", 2), "ann", NOON)
    query = with_judgments(Query("q", "who", (Target("a.py", 2),)), [person])
    both = with_model_labels(query, [label("b.py", 3)])
    assert judgments_of(both) == (person,)
    assert model_labels_of(both) == (label("b.py", 3),)
    assert both.targets == query.targets
    assert with_model_labels(both, []) == query
    assert model_labels_of(both)[0].prompt == "abc"


def test_a_list_that_karat_did_not_write_is_refused() -> None:
    query = Query("q", "who", extra={"model_labels": [{"grade": 1}]})
    with pytest.raises(InputError, match="'q': 'model_labels' is not a list of judgments"):
        model_labels_of(query)


@pytest.mark.parametrize(
    ("given", "voted"),
    [((3,), 3), ((0, 3), 0), ((1, 2, 3), 2), ((0, 0, 3, 3), 0), ((3, 3, 3, 0), 3)],
)
def test_judges_vote_by_the_lower_median(given: tuple[int, ...], voted: int) -> None:
    labels = [label("a.py", grade, f"m{number}") for number, grade in enumerate(given)]
    assert voted_targets(with_model_labels(Query("q", "who"), labels)) == (Target("a.py", voted),)


def test_the_newest_grade_of_a_judge_counts() -> None:
    query = with_model_labels(Query("q", "who"), [label("a.py", 0), label("a.py", 2)])
    assert voted_targets(query) == (Target("a.py", 2),)


def test_models_count_only_when_chosen_and_never_against_a_person() -> None:
    query = Query("q", "who", (Target("a.py", 2), Target("b.py", 0)))
    data = dataset(with_model_labels(query, [label(f"{name}.py", 3) for name in "abc"]))
    assert choose_labels(data, LabelChoice.EXCLUDE) == data
    assert grades(choose_labels(data, "include")) == [("a.py", 2), ("b.py", 0), ("c.py", 2)]
    assert grades(choose_labels(data, "only")) == [("a.py", 2), ("b.py", 2), ("c.py", 2)]


def test_lines_beside_those_that_a_person_refused_are_open_to_models() -> None:
    query = Query("q", "who", (Target("a.py", 0, 1, 9), Target("a.py", 2, 20, 29)))
    labels = [label("a.py", 3, lines=index) for index in ((2, 8), (5, 12), (25, 40))]
    data = dataset(with_model_labels(query, labels), "lines")
    added = choose_labels(data, "include").targets(0)[2:]
    assert [(target.start_line, target.end_line) for target in added] == [(5, 12)]


def test_a_set_without_labels_of_models_is_refused() -> None:
    data = dataset(Query("q", "who", (Target("a.py"),)))
    assert choose_labels(data, "exclude") is data
    for choice in ("include", "only"):
        with pytest.raises(InputError, match="gold: the gold set has no model labels; karat judge"):
            choose_labels(data, choice)


def labelled(noise: float, *, queries: int = 30, seed: int = 0) -> tuple[Dataset, Run]:
    """Return a gold set with grades of people and of a model that errs at random, and a run."""
    rng = Random(seed)
    cases, answers = [], []
    for number in range(queries):
        paths = [f"{number}/{index}.py" for index in range(8)]
        people = {path: float(rng.choice((0, 0, 1, 2, 3))) for path in paths}
        people[paths[0]] = 3.0
        labels = [
            label(path, grade if rng.random() >= noise else float(rng.randrange(4)))
            for path, grade in people.items()
        ]
        query = Query(f"q{number}", "who", tuple(Target(*each) for each in people.items()))
        cases.append(with_model_labels(query, labels))
        rng.shuffle(paths)
        hits = tuple(Hit(path, score=-rank) for rank, path in enumerate(paths))
        answers.append(Answer(query.id, hits))
    return Dataset.of(cases, name="gold", match="exact"), Run.of(answers, name="run")


def scored(data: Dataset, run: Run) -> Evaluation:
    scoring = Scoring(("ndcg@10", "mrr", "recall@5", "precision@5", "ap"))
    return evaluate_run(
        data, run, scoring=scoring, confidence=Confidence(draws=99), slices={}, name="run"
    )


@given(seed=st.integers(0, 10_000), queries=st.integers(2, 12))
@pytest.mark.parametrize("choice", ["include", "only"])
def test_a_perfect_judge_changes_no_number(choice: str, seed: int, queries: int) -> None:
    data, run = labelled(0.0, queries=queries, seed=seed)
    people, model = scored(data, run), scored(use_labels(data, LabelRule(choice)), run)

    assert model.summaries == people.summaries
    assert model.table == people.table
    use = model.notes.labels
    assert use is not None
    assert (use.choice, use.judges, use.labels, use.pairs) == (
        choice,
        ("m1",),
        8 * queries,
        8 * queries,
    )
    assert use.kappa == 1.0
    assert model.mark == ""
    assert model.warnings == ()


def test_a_random_judge_agrees_by_chance_only_and_is_marked() -> None:
    data, run = labelled(1.0, queries=200)
    model = scored(use_labels(data, LabelRule("only")), run)

    use = model.notes.labels
    assert use is not None
    assert use.kappa == pytest.approx(0, abs=0.06)
    assert model.mark == "†"
    (warning,) = model.warnings
    assert warning.startswith("† these numbers use only labels by m1; agreement with people: kappa")
    assert warning.endswith("on 1,600 hits, below 0.6")
    assert scored(use_labels(data, LabelRule("only", minimum=-1)), run).warnings == ()


def test_two_hits_that_agree_are_no_agreement() -> None:
    targets = (Target("a.py", 1), Target("b.py", 0))
    cases = [
        with_model_labels(Query(each.path, "who", (each,)), [label(each.path, 3 * each.grade)])
        for each in targets
    ]
    use = label_use(use_labels(Dataset.of(cases, match="exact"), LabelRule("only")))
    assert use is not None
    assert (use.kappa, use.pairs, use.is_doubtful) == (1.0, 2, True)
    assert use.text.endswith(" on 2 hits (fewer than 10)")


def test_excluded_labels_are_mentioned_and_change_nothing() -> None:
    data, run = labelled(0.5)
    evaluation = scored(use_labels(data, LabelRule()), run)
    plain = data.with_queries([with_model_labels(query, ()) for query in data.queries()])

    assert evaluation.summaries == scored(plain, run).summaries
    assert evaluation.notes.labels == LabelUse("exclude", ("m1",), 240)
    assert evaluation.warnings == ()
    assert "240 labels by m1 are not used; --judge-labels include uses them" in [
        *note_lines(evaluation)
    ]
    assert scored(plain, run).notes.labels is None


def test_labels_are_chosen_once() -> None:
    data, _ = labelled(0.5)
    included = use_labels(data, LabelRule("include"))

    assert use_labels(included, LabelRule()) is included
    lower = use_labels(included, LabelRule("include", minimum=0.2))
    assert label_use(lower) == replace(label_use(included), minimum=0.2)  # type: ignore[type-var]
    with pytest.raises(
        InputError, match="made with --judge-labels include, so --judge-labels only"
    ):
        use_labels(included, LabelRule("only"))


def test_hits_that_only_one_side_judged_are_no_pair() -> None:
    query = Query("q", "who", (Target("a.py", 2), Target("b.py", 0), Target("d.py", -1)))
    labels = [label("a.py", 3), label("a.py", 1, "m2"), label("c.py", 3), label("d.py", 1)]
    data = dataset(with_model_labels(query, labels))

    assert label_pairs(data) == [LabelPair(0, Target("a.py", 1), 2, 1)]
    assert label_pairs(data, "m1") == [LabelPair(0, Target("a.py", 3), 2, 3)]
    assert label_pairs(data, "m3") == []
    use = label_use(use_labels(data, LabelRule("include")))
    assert use is not None
    assert use.kappa is None
    assert grades(choose_labels(data, "only")) == [("a.py", 0), ("c.py", 2), ("d.py", 0)]
    alone = use_labels(dataset(with_model_labels(Query("q", "who"), labels)), LabelRule("only"))
    unknown = label_use(alone)
    assert unknown is not None
    assert unknown.is_doubtful
    assert unknown.text.endswith("(karat judge GOLD RUN --model SPEC --judged)")


def test_a_judgment_that_is_no_target_counts_as_a_persons_label() -> None:
    query = with_judgments(Query("q", "who"), [JudgmentRecord(Target("a.py", 0), "ann", NOON)])
    data = dataset(with_model_labels(query, [label("a.py", 2)]))

    assert label_pairs(data) == [LabelPair(0, Target("a.py", 2), 0, 2)]


# What the rubric says about a passage, and the grade that people give it, by their highest grade.
RUBRIC = {
    1.0: {3: 1.0, 2: 1.0, 1: 0.0, 0: 0.0},
    2.0: {3: 2.0, 2: 1.0, 1: 0.0, 0: 0.0},
    3.0: {3: 3.0, 2: 2.0, 1: 1.0, 0: 0.0},
}


@pytest.mark.parametrize("top", RUBRIC)
def test_a_judge_that_follows_the_rubric_agrees_perfectly(top: float) -> None:
    pairs = [
        LabelPair(row, Target("a.py"), RUBRIC[top][row % 4], float(row % 4)) for row in range(40)
    ]
    assert agreement_of(pairs, draws=99).kappa == 1.0
    assert agreement_of(pairs, top, draws=99).kappa == 1.0


def test_the_scale_is_that_of_the_gold_set_not_of_the_pairs() -> None:
    pairs = [LabelPair(row, Target("a.py"), row % 2, row % 2) for row in range(10)]
    assert agreement_of(pairs, 3, draws=99).kappa == 1.0
    assert agreement_of(pairs, 1, draws=99).kappa == 0.0

    query = Query("q", "who", (Target("a.py", 1), Target("b.py", 0), Target("z.py", 3)))
    data = dataset(with_model_labels(query, [label("a.py", 1), label("b.py", 0)]))
    use = label_use(use_labels(data, LabelRule("only")))
    assert use is not None
    assert use.kappa == 1.0


@given(
    people=st.lists(st.floats(-1, 5), max_size=5),
    given=st.lists(st.integers(0, 3), min_size=1, max_size=6),
)
def test_grades_of_models_are_on_the_scale_of_the_gold_set(
    people: list[float], given: list[int]
) -> None:
    targets = tuple(Target(f"p{index}.py", grade) for index, grade in enumerate(people))
    labels = [label(f"m{index}.py", grade) for index, grade in enumerate(given)]
    data = dataset(with_model_labels(Query("q", "who", targets), labels))
    top = top_grade(data)
    only = [target.grade for target in choose_labels(data, "only").targets(0)]

    known = [grade for grade in people if grade >= 0]
    assert top == (max(known) if known else None)
    included = choose_labels(data, "include").targets(0)
    assert [target.grade for target in included] == [*people, *only]
    assert model_labels_of(next(data.queries())) == tuple(labels)
    if top is None or top > 2:
        assert only == given
    else:
        # No label of a model outweighs the best target, and what is only related is not relevant.
        assert max(only) <= max(1, ceil(top))
        assert all((grade > 0) == (raw >= 2) for grade, raw in zip(only, given, strict=True))
    order = sorted(zip(given, only, strict=True))
    assert [grade for _, grade in order] == sorted(only)


def mined() -> tuple[Dataset, Run, Run]:
    """Return a binary set, and runs with the target before and after a passage of grade 2."""
    cases, best, worse = [], [], []
    for number in range(20):
        labels = [label("gold.py", 3), label("part.py", 2), label("caller.py", 1)]
        query = Query(f"q{number}", "who", (Target("gold.py"),))
        cases.append(with_model_labels(query, labels))
        hits = (Hit("gold.py", score=2.0), Hit("part.py", score=1.0))
        best.append(Answer(query.id, hits))
        worse.append(Answer(query.id, (hits[1]._replace(score=3.0), hits[0])))
    return Dataset.of(cases, match="exact"), Run.of(best), Run.of(worse)


def test_included_labels_never_order_runs_against_both_people_and_models() -> None:
    data, best, worse = mined()
    for measure in range(5):
        signs = {}
        for choice in LabelChoice:
            one, other = (
                scored(use_labels(data, LabelRule(choice)), run).summaries[measure].mean
                for run in (best, worse)
            )
            signs[choice] = (one > other) - (one < other)
        both = {signs[LabelChoice.EXCLUDE], signs[LabelChoice.ONLY]}
        assert signs[LabelChoice.INCLUDE] in range(min(both), max(both) + 1)


def test_a_caller_earns_nothing_in_a_binary_set() -> None:
    data, *_ = mined()
    run = Run.of([Answer(query_id, (Hit("caller.py"),)) for query_id in data.query_ids])
    for choice in LabelChoice:
        evaluation = scored(use_labels(data, LabelRule(choice)), run)
        assert [summary.mean for summary in evaluation.summaries] == [0.0] * 5


def test_judgments_set_the_scale_where_there_is_no_target() -> None:
    record = JudgmentRecord(Target("a.py", 1), "ann", NOON)
    data = dataset(with_judgments(Query("q", "who"), [record]))
    assert top_grade(data) == 1.0
    assert top_grade(dataset(Query("q", "who", (Target("a.py", -1),)))) is None


def test_the_highest_grade_of_people_counts_where_lines_overlap() -> None:
    people = (Target("a.py", 1, 1, 50), Target("a.py", 3, 10, 20), Target("a.py", 0, 60, 70))
    labels = [label("a.py", 3, lines=(12, 18)), label("a.py", 1, lines=(62, 66))]
    query = with_model_labels(Query("q", "who", people), labels)

    grades_of = [(pair.people, pair.model) for pair in label_pairs(dataset(query, "lines"))]
    assert grades_of == [(3, 3), (0, 1)]


def test_labels_are_counted_without_reading_them_and_read_once_to_use_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, run = labelled(0.5)
    read: list[object] = []

    def counted(row: Mapping[str, object]) -> JudgmentRecord:
        read.append(row)
        return original(row)

    original = judgments._record
    monkeypatch.setattr(judgments, "_record", counted)
    assert scored(data, run).notes.labels == LabelUse("exclude", ("m1",), 240)
    assert read == []
    use_labels(data, LabelRule("include"))
    assert len(read) == 240


def test_labels_that_cannot_be_counted_are_refused() -> None:
    for rows in ([{"grade": 1}], 3, "text"):
        data = dataset(Query("q", "who", extra={"model_labels": rows}))
        with pytest.raises(InputError, match="'q': 'model_labels' is not a list of judgments"):
            label_use(data)


PLACES = st.builds(
    Target,
    st.sampled_from(["a.py", "./a.py", "src/a.py", "src", "b.py"]),
    st.sampled_from([-1.0, 0.0, 1.0, 3.0]),
    st.just(0) | st.integers(1, 4),
    st.just(0) | st.integers(4, 8),
    st.sampled_from(["", "run", "Runner"]),
)


@given(people=st.lists(PLACES, max_size=4), label_target=PLACES, match=st.sampled_from([*MATCHERS]))
def test_a_label_counts_where_no_target_judges_its_place(
    people: list[Target], label_target: Target, match: str
) -> None:
    matcher = MATCHERS.get(match)()
    path = matcher.spelled(label_target.path)
    hit = Hit(
        path,
        start_line=label_target.start_line,
        end_line=label_target.end_line,
        symbol=label_target.symbol,
    )
    judging = [
        target.grade
        for target in people
        if target.grade >= 0
        and matcher.credit(hit, target._replace(path=matcher.spelled(target.path)))
        and (
            target.grade > 0
            or match != "lines"
            or not target.end_line
            or (target.start_line <= hit.start_line and 0 < hit.end_line <= target.end_line)
        )
    ]
    assert is_judged(hit, people, matcher) == bool(judging)
    record = JudgmentRecord(label_target._replace(grade=3.0), "m1", NOON)
    data = dataset(with_model_labels(Query("q", "who", tuple(people)), [record]), match)
    assert len(choose_labels(data, "include").targets(0)) == len(people) + (not judging)
    assert [pair.people for pair in label_pairs(data)] == ([max(judging)] if judging else [])


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (
            LabelUse("include", ("m1", "m2"), 10, 10, 0.71, 0.5, 0.8),
            "these numbers use labels by m1 and m2; agreement with people: kappa 0.71 [0.50, 0.80] "
            "on 10 hits",
        ),
        (
            LabelUse("include", ("m1",), 9, 9, 0.71, 0.6, 0.8),
            "† these numbers use labels by m1; agreement with people: kappa 0.71 [0.60, 0.80] "
            "on 9 hits (fewer than 10)",
        ),
        (
            LabelUse("include", ("m1",), 30, 30, 1.0),
            "† these numbers use labels by m1; agreement with people: kappa 1.00 on 30 hits "
            "(too few queries for an interval)",
        ),
        (
            LabelUse("only", ("m1",), 9, 1, 0.2),
            "† these numbers use only labels by m1; agreement with people: kappa 0.20 on 1 hit "
            "(fewer than 10), below 0.6",
        ),
        (
            LabelUse("include", ("m1",), 9, 5),
            "† these numbers use labels by m1; agreement with people is unknown: people gave one "
            "grade only to the 5 hits judged by both (karat judge GOLD RUN --next)",
        ),
        (
            LabelUse("exclude", ("m1",), 1),
            "1 label by m1 is not used; --judge-labels include uses it",
        ),
    ],
)
def test_the_sentence_about_labels(use: LabelUse, text: str) -> None:
    assert use.text == text
