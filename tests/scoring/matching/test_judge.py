"""The one entry to matching: truth and a run in any form give the same ranks."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError, UnknownName
from karat.model import (
    Answer,
    Dataset,
    Hit,
    JudgedQuery,
    JudgedRun,
    Outcome,
    Query,
    QueryStatus,
    Run,
    Target,
)
from karat.scoring.matching import MATCHERS, TIE_POLICIES, judge, trace

IDS = st.sampled_from(["a", "ab", "b", "é", "z"])
TRUTH = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(IDS, st.sampled_from([-1.0, 0.0, 1.0, 2.0]), max_size=4),
)
SCORED = st.dictionaries(
    st.sampled_from(["q1", "q2", "q9"]),
    st.dictionaries(IDS, st.sampled_from([1.0, 2.0, 3.0]), max_size=5),
)


def as_dataset(truth: dict[str, dict[str, float]], match: str = "document") -> Dataset:
    return Dataset.of(
        (
            Query(name, "", tuple(Target(path, grade) for path, grade in grades.items()))
            for name, grades in truth.items()
        ),
        match=match,
    )


def as_run(scored: dict[str, dict[str, float]]) -> Run:
    return Run.of(
        Answer(name, tuple(Hit(path, score) for path, score in scores.items()))
        for name, scores in scored.items()
    )


def columns(judged: JudgedQuery) -> tuple[object, ...]:
    return (
        list(judged.ranks),
        list(judged.grades),
        list(judged.ideal),
        judged.retrieved,
        judged.spans,
        judged.tied,
    )


def content(judged: JudgedRun) -> tuple[object, ...]:
    return (
        judged.query_ids,
        judged.statuses,
        judged.unknown_queries,
        dict(judged.invalid),
        [columns(query) for query in judged.queries],
    )


@pytest.mark.parametrize("ties", TIE_POLICIES)
@settings(max_examples=30)
@given(truth=TRUTH, scored=SCORED, judged_only=st.booleans())
def test_every_form_of_truth_and_run_gives_the_same(
    ties: str,
    truth: dict[str, dict[str, float]],
    scored: dict[str, dict[str, float]],
    judged_only: bool,
) -> None:
    def answer(one: object, other: object, match: str = "document") -> tuple[object, ...]:
        return content(
            judge(one, other, ties=ties, judged_only=judged_only, match=match)  # type: ignore[arg-type]
        )

    expected = answer(truth, scored)
    assert answer(as_dataset(truth), as_run(scored)) == expected
    assert answer(as_dataset(truth), scored) == expected
    assert answer(truth, as_run(scored)) == expected
    assert answer(truth, iter(scored.items())) == expected
    assert answer(truth, scored, "exact") == expected
    assert answer(as_dataset(truth), as_run(scored), "exact") == expected


@settings(max_examples=30)
@given(truth=TRUTH, scored=SCORED, depth=st.integers(1, 4))
def test_depth_is_the_same_for_every_form(
    truth: dict[str, dict[str, float]], scored: dict[str, dict[str, float]], depth: int
) -> None:
    expected = judge(truth, scored, depth=depth)
    assert content(judge(as_dataset(truth), as_run(scored), depth=depth)) == content(expected)
    assert all(rank <= depth for query in expected.queries for rank in query.ranks)


@given(truth=TRUTH, scored=SCORED, data=st.data())
@settings(max_examples=30)
def test_the_order_of_the_input_changes_nothing(
    truth: dict[str, dict[str, float]], scored: dict[str, dict[str, float]], data: st.DataObject
) -> None:
    shuffled = {
        name: dict(data.draw(st.permutations(list(scores.items()))))
        for name, scores in scored.items()
    }
    expected = content(judge(truth, scored))
    assert content(judge(truth, shuffled)) == expected
    assert content(judge(as_dataset(truth), as_run(shuffled))) == expected


def test_statuses() -> None:
    truth = {name: {"a": 1.0} for name in ("found", "missing", "error", "timeout", "empty")}
    truth |= {"unjudged": {}, "zero": {"a": 0.0}, "negative": {"a": -1.0}}
    hits = (Hit("a", 1.0),)
    run = Run.of(
        [
            Answer("found", hits),
            Answer("error", hits, Outcome.ERROR),
            Answer("timeout", hits, Outcome.TIMEOUT),
            Answer("empty"),
            Answer("unjudged", hits),
            Answer("zero", hits),
            Answer("stranger", hits),
        ]
    )
    judged = judge(truth, run)
    assert dict(zip(judged.query_ids, judged.statuses, strict=True)) == {
        "found": QueryStatus.SCORED,
        "missing": QueryStatus.MISSING,
        "error": QueryStatus.ERROR,
        "timeout": QueryStatus.TIMEOUT,
        "empty": QueryStatus.SCORED,
        "unjudged": QueryStatus.UNJUDGED,
        "zero": QueryStatus.UNJUDGED,
        "negative": QueryStatus.UNJUDGED,
    }
    assert judged.unknown_queries == ("stranger",)
    # What came before an error or a timeout earns nothing.
    assert [list(query.ranks) for query in judged.queries[:4]] == [[1], [], [], []]
    assert content(judge(as_dataset(truth, "lines"), run))[:3] == content(judged)[:3]


class Looked(dict[str, dict[str, float]]):
    """Truth that counts how often all of it is gone through."""

    walks = 0

    def values(self) -> Any:
        self.walks += 1
        return super().values()


@pytest.mark.parametrize("run", [{}, Run.of([Answer("q1"), Answer("q2")])])
def test_no_query_costs_a_walk_through_all_others(run: Any) -> None:
    truth = Looked({f"q{number}": {"a": 1.0} for number in range(5)})
    assert judge(truth, run).statuses.count(QueryStatus.MISSING) == 5 - len(run)
    assert truth.walks == 0


def test_a_query_is_answered_once() -> None:
    pairs = [("q1", {"a": 1.0}), ("q1", {"b": 1.0})]
    with pytest.raises(InputError, match="query 'q1' is answered more than once"):
        judge({"q1": {"a": 1}}, pairs)


def test_a_judged_run_is_named() -> None:
    assert judge({}, {}).name == "run"
    assert judge({}, Run.of([], name="bm25")).name == "bm25"
    assert judge({}, Run.of([], name="bm25"), name="mine").name == "mine"


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(InputError, match="depth 0 is below 1"):
        judge({}, {}, depth=0)
    with pytest.raises(UnknownName, match="no tie policy"):
        judge({}, {}, ties="luck")
    with pytest.raises(UnknownName, match="no matcher named"):
        judge({}, {}, match="fuzzy")
    with pytest.raises(InputError, match="only to the mode 'lines'"):
        judge({}, {}, min_overlap=0.5)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_not_finite_is_counted_and_left_out(bad: float) -> None:
    scores = {"a": 1.0, "b": bad, "c": 2.0}
    one = judge({"q": {"a": 1, "b": 1}}, {"q": scores})
    other = judge({"q": {"a": 1, "b": 1}}, as_run({"q": scores}))
    assert one.invalid == other.invalid == {"non-finite score": 1}
    assert columns(one.queries[0]) == columns(other.queries[0])
    assert (one.queries[0].ranks, one.queries[0].retrieved) == ([2], 2)


def test_scores_by_path_serve_modes_that_look_at_paths() -> None:
    def pairs() -> Iterator[tuple[str, dict[str, float]]]:
        yield "q", {"/repo/b.py": 2.0, "/repo/a.py": 1.0}

    for run in (dict(pairs()), pairs()):
        assert judge({"q": {"a.py": 1}}, run, match="suffix").queries[0].ranks == [2]


SPELLINGS = ["src/a.py", "./src/a.py", r"src\a.py", "/repo/src/a.py", "src//a.py"]


@pytest.mark.parametrize("truth", SPELLINGS)
@pytest.mark.parametrize("returned", SPELLINGS)
@pytest.mark.parametrize("mode", ["exact", "lines"])
def test_paths_meet_however_they_are_spelled(truth: str, returned: str, mode: str) -> None:
    grades, scores = {"q": {truth: 1.0}}, {"q": {"b.py": 2.0, returned: 1.0}}
    for one in (grades, as_dataset(grades, mode)):
        for other in (scores, as_run(scores)):
            judged = judge(one, other, match=mode, root="/repo")
            assert judged.queries[0].ranks == [2]


def test_a_document_id_is_no_path() -> None:
    truth = as_dataset({"q": {"./a": 1.0}})
    assert judge(truth, {"q": {"a": 1.0}}).queries[0].ranks == []
    assert judge(truth, as_run({"q": {"./a": 1.0}})).queries[0].ranks == [1]


def test_two_spellings_of_one_file_are_one_file() -> None:
    scores = {"q": {"./a.py": 1.0, "b.py": 2.0, "a.py": 3.0}}
    judged = judge({"q": {"a.py": 1}}, scores, match="exact").queries[0]
    assert (judged.ranks, judged.retrieved) == ([1], 2)


def test_chunks_collapse_to_documents_before_any_cut() -> None:
    hits = [("a", 9.0), ("a", 8.0), ("b", 7.0), ("a", 6.0), ("c", 5.0), ("b", 4.0)]
    chunks = tuple(Hit(path, score, row, row) for row, (path, score) in enumerate(hits, 1))
    truth = {"q": {"c": 1, "b": 1}}
    judged = judge(truth, Run.of([Answer("q", chunks)]), depth=3).queries[0]
    assert (judged.ranks, judged.retrieved) == ([2, 3], 3)
    # The best chunk of a file decides, wherever it stands in the answer.
    turned = judge(truth, Run.of([Answer("q", chunks[::-1])]), depth=3).queries[0]
    assert columns(turned) == columns(judged)


def test_of_several_targets_in_one_file_the_best_grade_counts() -> None:
    targets = (Target("a.py", 1, 1, 9), Target("./a.py", 3, 20, 29), Target("a.py", 2))
    dataset = Dataset.of([Query("q", "", targets)])
    for run in ({"q": {"a.py": 1.0}}, as_run({"q": {"a.py": 1.0}})):
        judged = judge(dataset, run).queries[0]
        assert (judged.grades, judged.ideal) == ([3.0], [3.0])


@pytest.mark.parametrize("mode", list(MATCHERS))
@pytest.mark.parametrize("form", ["dataset", "mapping"])
def test_an_empty_pattern_is_refused(mode: str, form: str) -> None:
    grades = {"q": {"": 1.0}}
    truth = as_dataset(grades) if form == "dataset" else grades
    with pytest.raises(InputError, match="query 'q' has a target with n"):
        judge(truth, as_run({"q": {"a": 1.0}}), match=mode)


@pytest.mark.parametrize("mode", [mode for mode in MATCHERS if mode != "document"])
def test_a_pattern_that_normalises_to_nothing_is_refused(mode: str) -> None:
    with pytest.raises(InputError, match="query 'q' has a target with n"):
        judge({"q": {"./": 1.0}}, {"q": {"a": 1.0}}, match=mode)


@pytest.mark.parametrize("mode", list(MATCHERS))
def test_a_symbol_alone_is_a_target_only_where_symbols_are_matched(mode: str) -> None:
    dataset = Dataset.of([Query("q", "", (Target("", symbol="run"),))])
    run = Run.of([Answer("q", (Hit("a.py", symbol="x"), Hit("b.py", symbol="run")))])
    if MATCHERS.get(mode)().by_symbol:
        assert judge(dataset, run, match=mode).queries[0].ranks == [2]
    else:
        with pytest.raises(InputError, match=f"no path, which the mode '{mode}' cannot match"):
            judge(dataset, run, match=mode)


def test_bad_hits_are_counted_over_the_whole_run() -> None:
    run = Run.of(
        [
            Answer("q1", (Hit("./a.py", 3.0), Hit("a.py", 2.0), Hit("b.py", 1.0, 9, 2))),
            Answer("q2", (Hit("a.py", 3.0), Hit("a.py", 2.0), Hit("c.py", 1.0, 0, 2))),
        ]
    )
    judged = judge({"q1": {"b.py": 1}, "q2": {"c.py": 1}}, run, match="exact")
    assert judged.invalid == {"duplicate": 2, "end before start": 1, "line below 1": 1}
    assert [query.retrieved for query in judged.queries] == [1, 1]


def test_a_minimum_overlap_reaches_the_matcher() -> None:
    dataset = Dataset.of([Query("q", "", (Target("a", 1, 1, 10),))], match="lines")
    run = Run.of([Answer("q", (Hit("a", 1.0, 10, 20),))])
    assert judge(dataset, run).queries[0].ranks == [1]
    assert judge(dataset, run, min_overlap=0.5).queries[0].ranks == []


def test_a_hit_outside_the_corpus_is_counted_and_takes_no_rank() -> None:
    truth = {"q": {"a.py": 1.0}}
    known = {"a.py", "b.py"}
    run = Run.of([Answer("q", (Hit("ghost.py", 3.0), Hit("./b.py", 2.0), Hit("a.py", 1.0)))])
    hits = judge(truth, run, match="exact", known=known)
    scores = judge(
        truth, {"q": {"ghost.py": 3.0, "./b.py": 2.0, "a.py": 1.0}}, match="exact", known=known
    )
    for judged in (hits, scores):
        assert judged.queries[0].ranks == [2]
        assert judged.invalid == {"unknown file": 1}
    assert judge(truth, {"q": {"a.py": 1.0}}, known=known).invalid == {}


def test_a_run_of_an_engine_keeps_its_order() -> None:
    """Explicit rules win; a run without a rule of its own is ordered as trec_eval does."""
    answers = [Answer("q1", (Hit("a", 1.0), Hit("b", 1.0)))]
    live = Run.of(answers, metadata={"ties": "order"})
    gold = {"q1": {"a": 1}}
    assert [judge(gold, live).queries[0].ranks, judge(gold, live).ties] == [[1], "order"]
    assert judge(gold, Run.of(answers)).queries[0].ranks == [2]
    assert judge(gold, live, ties="trec10").queries[0].ranks == [2]
    data = Dataset.of([Query("q1", "", (Target("a"),))])
    assert trace(data, live, keep=2)[0].ranks == (1,)
    assert trace(data, live, keep=2, ties="trec10")[0].ranks == (2,)
