"""What a report recommends, how sure it is, and what speaks against comparing at all."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model import Dataset, Query, Target
from karat.model.timings import RunResult
from karat.report.findings import Findings
from karat.report.findings.insights import insights
from karat.report.findings.method import differences, method_rows, shallow
from karat.report.findings.recommend import (
    balance,
    recommendations,
    resampled_means,
    resampled_medians,
    share_of_wins,
)
from karat.report.page.queries import subject_of
from karat.report.page.results import details

Make = Callable[..., Findings]
MakeRun = Callable[..., RunResult]

SIZES = st.lists(st.floats(0.0, 1e6), min_size=1, max_size=5)


def test_each_purpose_has_its_run(findings: Findings) -> None:
    advice_on = {advice.purpose: advice for advice in recommendations(findings)}
    assert list(advice_on) == ["Best quality", "Best recall", "Fastest", "Best balance"]
    assert advice_on["Best quality"].run == advice_on["Best recall"].run == "new"
    assert advice_on["Fastest"].run == "old"
    assert advice_on["Best quality"].certainty.startswith(
        "Not significantly better than old; first in "
    )
    assert advice_on["Fastest"].why == "p50 10.0 ms per query"


def test_balance_by_hand(findings: Findings) -> None:
    # old: 0.375 / 0.625 and the fastest; new: the best and the slowest.
    assert balance(np.array([0.375, 0.625]), np.array([10.0, 25.0])) == pytest.approx([0.8, 0.5])
    assert recommendations(findings)[-1].run == "old"


def test_balance_never_recommends_a_significantly_worse_run(make: Make, run: MakeRun) -> None:
    queries = ("q1", "q2", "q3", "q4")

    def timed(name: str, path: str, ms: float) -> RunResult:
        return run(name, dict.fromkeys(queries, (path,)), dict.fromkeys(queries, ms))

    def told_apart(*runs: RunResult) -> dict[str, str]:
        """Return the advice if every difference were significant."""
        findings = make(runs)
        comparison = findings.contest.comparison
        sure = tuple(
            replace(entry, p_corrected=p, interval=replace(entry.interval, low=None, high=None))
            for entry in comparison.differences
            for p in [0.001 if entry.difference else 1.0]
        )
        contest = replace(findings.contest, comparison=replace(comparison, differences=sure))
        advice = recommendations(replace(findings, contest=contest))
        return {each.purpose: each.run for each in advice}

    fast = timed("fast", "x.py", 0.4)
    good, slow = timed("good", "a.py", 15.0), timed("slow", "a.py", 30.0)
    assert told_apart(fast, good, slow)["Best balance"] == "good"
    assert "Best balance" not in told_apart(fast, good)


@given(quality=SIZES, latency=SIZES)
def test_balance_is_a_number_whatever_the_runs(quality: list[float], latency: list[float]) -> None:
    size = min(len(quality), len(latency))
    scores = balance(np.array(quality[:size]), np.array(latency[:size]))
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    assert (scores <= 1 + 1e-12).all()


def test_who_gives_up_on_hard_queries_is_no_faster(make: Make, run: MakeRun) -> None:
    answers = dict.fromkeys(("q1", "q2", "q3", "q4"), ("a.py",))
    patient = run("patient", answers, {"q1": 10.0, "q2": 10.0, "q3": 10.0, "q4": 900.0})
    hasty = run("hasty", {**answers, "q4": None}, {"q1": 12.0, "q2": 12.0, "q3": 12.0})
    advice = {each.purpose: each for each in recommendations(make([hasty, patient]))}
    assert advice["Fastest"].run == advice["Best balance"].run == "patient"
    assert advice["Fastest"].why == "p50 10.0 ms per query"


def test_runs_timed_on_different_queries_keep_their_times(make: Make, run: MakeRun) -> None:
    answers = dict.fromkeys(("q1", "q2"), ("a.py",))
    runs = [run("a", answers, {"q1": 10.0}), run("b", answers, {"q2": 20.0})]
    advice = {each.purpose: each for each in recommendations(make(runs))}
    assert advice["Fastest"].run == "a"


def test_a_run_without_a_score_is_no_rival(make: Make, run: MakeRun) -> None:
    def asked(name: str, k: int, path: str, ms: float) -> RunResult:
        about = {"options": {"top_k": k}, "k": k, "gold": "g"}
        queries = ("q1", "q2", "q3", "q4")
        return run(name, dict.fromkeys(queries, (path,)), dict.fromkeys(queries, ms), about)

    runs = [
        asked("shallow", 5, "a.py", 1.0),
        asked("good", 20, "a.py", 10.0),
        asked("bad", 20, "x.py", 20.0),
    ]
    advice = {each.purpose: each for each in recommendations(make(runs))}
    assert list(advice) == ["Recommended", "Best quality", "Best recall", "Fastest", "Best balance"]
    assert advice["Recommended"].run == "good"
    assert advice["Fastest"].run == "shallow"
    assert advice["Best balance"].run == "good"
    assert advice["Best quality"].certainty.startswith(
        "Not significantly better than bad; first in "
    )
    # Of two, only one of which has a score, none is compared with another.
    alone = recommendations(make(runs[:2]))
    assert alone[0].purpose == "Best quality"
    assert alone[0].certainty == "First in 100% of resampled query sets."
    assert [each.purpose for each in alone] == ["Best quality", "Best recall", "Fastest"]


def test_one_run_needs_no_advice(alone: Findings) -> None:
    assert recommendations(alone) == ()


def test_without_times_nothing_is_said_of_speed(make: Make, run: MakeRun) -> None:
    both = make([run("a", {"q1": ("a.py",)}), run("b", {"q1": ("b.py",)})])
    purposes = [advice.purpose for advice in recommendations(both)]
    assert purposes == ["Recommended", "Best quality", "Best recall"]


def test_resampling_leaves_out_what_is_not_scored() -> None:
    values = np.array([[1.0, np.nan, 3.0], [np.nan] * 3])
    means = resampled_means(values, draws=400, seed=0)
    assert set(np.unique(means[:, 0].round(3))) >= {1.0, 2.0, 3.0}
    assert np.isnan(means[:, 1]).all()
    assert share_of_wins(means, 0) == 1.0


def test_the_share_of_wins_is_that_of_the_binomial() -> None:
    # One run wins 3 of 4 queries: it is ahead where more than half of the 4 draws hit those, and
    # shares a draw of 2 : 2; P(X > 2) + P(X = 2) / 2 for X ~ Binomial(4, 3/4) = 216/256.
    values = np.array([[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    means = resampled_means(values, draws=20_000, seed=1)
    assert share_of_wins(means, 0) == pytest.approx(216 / 256, abs=0.01)


def test_resampled_medians_are_those_of_the_drawn_queries() -> None:
    values = np.array([[5.0, 1.0, 3.0, np.nan], [np.nan] * 4])
    medians = resampled_medians(values, draws=500, seed=0)
    # Whichever queries are drawn, the median is one of their values; of nothing it is NaN.
    assert set(np.unique(medians[:, 0][~np.isnan(medians[:, 0])])) == {1.0, 3.0, 5.0}
    assert np.isnan(medians[:, 1]).all()
    thrice, labels = np.repeat(values, 3, axis=1), np.repeat(list("abcd"), 3).tolist()
    together = resampled_medians(thrice, draws=500, seed=0, clusters=labels)
    assert together == pytest.approx(medians, nan_ok=True)


def test_queries_that_belong_together_are_drawn_together() -> None:
    values = np.array([[0.3, 0.9, 0.1, np.nan], [0.5, 0.2, 0.8, 0.4]])
    thrice, labels = np.repeat(values, 3, axis=1), np.repeat(list("abcd"), 3).tolist()
    alone = resampled_means(values, draws=50, seed=3)
    together = resampled_means(thrice, draws=50, seed=3, clusters=labels)
    assert together == pytest.approx(alone, nan_ok=True)


def variants(cases: int) -> Dataset:
    """Return three queries a case, which belong together."""
    return Dataset.of(
        [
            Query(f"q{case}-{number}", "", (Target("a.py"),), {"case": f"c{case}"})
            for case in range(cases)
            for number in range(3)
        ],
        metadata={"cluster": "case"},
    )


def test_variants_of_a_case_do_not_make_an_option_real(make: Make, run: MakeRun) -> None:
    gold = variants(8)

    def with_option(size: int, good: int) -> RunResult:
        answers = {query: ("a.py" if int(query[1]) < good else "x.py",) for query in gold.query_ids}
        return run(str(size), answers, None, {"options": {"size": size}})

    runs = [with_option(256, 2), with_option(512, 4)]
    findings = make(runs, gold=gold, measures=("hit@5",), by=[])
    by_itself = make(runs, gold=Dataset.of(list(gold.queries())), measures=("hit@5",), by=[])
    (together,), (apart,) = insights(findings), insights(by_itself)
    assert together.startswith(
        "size: no significant difference between 512 and 256 on hit@5 (+0.250 ["
    )
    assert apart.startswith("size: 512 is significantly better than 256 on hit@5 (+0.250 [")
    first, alone = recommendations(findings)[0], recommendations(by_itself)[0]
    assert first.certainty != alone.certainty
    rows = dict(method_rows(findings))
    assert rows["Intervals"].endswith("; resampled in 8 clusters of related queries")


def test_means_of_the_same_scores_are_no_difference(make: Make, run: MakeRun) -> None:
    # Three runs of each value: their mean misses 0.1 by a last digit, and that of one does not.
    gold = Dataset.of([Query(f"q{n}", "", (Target("a.py"),)) for n in range(8)])
    tenth = (*(f"n{n}.py" for n in range(9)), "a.py")

    def with_options(name: str, **options: object) -> RunResult:
        return run(name, dict.fromkeys(gold.query_ids, tenth), None, {"options": options})

    runs = [with_options(f"a{n}", size=256) for n in range(3)] + [with_options("b", size=512)]
    (sentence,) = insights(make(runs, gold=gold, measures=("mrr@10",), by=[]))
    assert sentence == "size: no difference between 256 and 512."


def test_recall_is_as_deep_as_the_leading_measure(make: Make, run: MakeRun) -> None:
    gold = Dataset.of([Query(f"q{n}", "", (Target("a.py"),)) for n in range(4)])
    runs = [run(name, {f"q{n}": ("a.py",) for n in range(4)}) for name in ("one", "two")]
    for measures, recall in (
        (("ndcg@10", "recall@1", "recall@10"), "recall@10"),
        (("ndcg@10", "recall@1", "recall@5"), "recall@1"),
    ):
        advice = {
            each.purpose: each for each in recommendations(make(runs, gold=gold, measures=measures))
        }
        assert advice["Best recall"].why.split()[0] == recall


def test_the_hardest_slice_is_named(make: Make, run: MakeRun) -> None:
    queries = [
        Query(f"{kind}{number}", "", (Target("a.py"),), {"category": kind})
        for kind in ("easy", "hard")
        for number in range(20)
    ]
    # Too few to be called the hardest, though no run finds anything.
    queries += [
        Query(f"rare{number}", "", (Target("a.py"),), {"category": "rare"}) for number in range(9)
    ]
    easy = {f"easy{n}" for n in range(20)}

    def answers(*others: str) -> dict[str, tuple[str, ...]]:
        return {q.id: ("a.py",) if q.id in easy | {*others} else ("x.py",) for q in queries}

    one = run("one", answers("hard0"))
    findings = make([one], gold=Dataset.of(queries), measures=("hit@5",))
    (sentence,) = insights(findings)
    assert sentence == "Queries of category hard are hardest (n = 20): mean hit@5 0.050."
    two = make([one, run("two", answers("hard0", "hard1"))], gold=Dataset.of(queries))
    assert insights(two) == (
        "Queries of category hard are hardest (n = 20): mean mrr@10 0.075 over all runs; "
        "best: two 0.100.",
    )
    # The interval of the slice reaches the mean over all queries: 28 of 49.
    noise = run("one", answers(*(f"hard{n}" for n in range(8))))
    assert insights(make([noise], gold=Dataset.of(queries), measures=("hit@5",))) == ()


def test_a_run_without_a_score_is_not_the_best_of_the_hardest(make: Make, run: MakeRun) -> None:
    queries = [
        Query(f"{kind}{number}", "", (Target("a.py"),), {"category": kind})
        for kind in ("easy", "hard")
        for number in range(20)
    ]
    answers = {query.id: ("a.py",) if query.id[0] == "e" else ("x.py",) for query in queries}
    findings = make([run("one", answers), run("two", answers)], gold=Dataset.of(queries))
    hard = findings.contest.slices["category"]["hard"]
    none, zero = hard.means
    lacking = replace(hard, means=(replace(none, mean=None), zero))
    slices = {"category": {**findings.contest.slices["category"], "hard": lacking}}
    findings = replace(findings, contest=replace(findings.contest, slices=slices))
    (sentence,) = insights(findings)
    assert sentence.endswith("best: two 0.000.")


def test_the_lowest_of_many_equal_slices_is_not_called_the_hardest(
    make: Make, run: MakeRun
) -> None:
    rng = np.random.default_rng(1)
    named = 0
    for _ in range(5):
        queries = [
            Query(f"{kind}-{number}", "", (Target("a.py"),), {"category": str(kind)})
            for kind in range(20)
            for number in range(15)
        ]
        answers = {query.id: ("a.py",) if rng.random() < 0.5 else ("x.py",) for query in queries}
        named += len(insights(make([run("one", answers)], gold=Dataset.of(queries))))
    assert named == 0


def test_hard_queries_are_not_called_the_hardest(make: Make, run: MakeRun) -> None:
    queries = [
        Query(f"{value}{number}", "", (Target("a.py"),), {"difficulty": value})
        for value in ("easy", "hard")
        for number in range(10)
    ]
    answers = {query.id: ("a.py",) if query.id[0] == "e" else ("x.py",) for query in queries}
    assert insights(make([run("one", answers)], gold=Dataset.of(queries))) == ()


def test_a_yes_or_no_tag_is_told_in_words(make: Make, run: MakeRun) -> None:
    queries = [
        Query(f"{value}{number}", "", (Target("a.py"),), {"identifier": value})
        for value in ("yes", "no")
        for number in range(10)
    ]
    answers = {query.id: ("a.py",) if query.id[0] == "y" else ("x.py",) for query in queries}
    findings = make([run("one", answers)], gold=Dataset.of(queries), measures=("hit@5",))
    assert insights(findings) == (
        "Queries without a code identifier are hardest (n = 10): mean hit@5 0.000.",
    )


def test_few_queries_make_no_insight(findings: Findings) -> None:
    assert insights(findings) == ()


def test_an_option_is_judged_by_runs_that_are_else_alike(make: Make, run: MakeRun) -> None:
    def with_options(name: str, path: str, **options: object) -> RunResult:
        engine = {"engine": {"name": "dense", "options": options}}
        return run(name, {f"q{n}": (path,) for n in range(8)}, None, engine)

    gold = Dataset.of([Query(f"q{n}", "", (Target("a.py"),)) for n in range(8)])
    runs = [
        with_options("a", "x.py", chunk_size=256, model="m"),
        with_options("b", "a.py", chunk_size=512, model="m"),
        with_options("c", "a.py", chunk_size=512, model="n"),
    ]
    size, model = insights(make(runs, gold=gold, measures=("hit@5",), by=[]))
    assert size.startswith("chunk_size: 512 is significantly better than 256 on hit@5 (+1.000 [")
    assert model == "Model: no difference between m and n."


def test_options_of_a_sweep_are_those_that_its_user_named(make: Make, run: MakeRun) -> None:
    gold = Dataset.of([Query(f"q{n}", "", (Target("a.py"),)) for n in range(30)])

    def with_options(good: int, **options: object) -> RunResult:
        answers = {f"q{n}": ("a.py" if n < good else "x.py",) for n in range(30)}
        about = {"options": options, "engine": {"name": "bm25", "options": {"unit": str(options)}}}
        return run(str(options), answers, None, about)

    runs = [
        with_options(10, search_mode="dense", use_reranker=False, chunk_size=256),
        with_options(25, search_mode="dense", use_reranker=True, chunk_size=256, model="m"),
        with_options(11, search_mode="dense", use_reranker=False, chunk_size=512),
        # What only some runs have says nothing about the others.
        with_options(26, search_mode="dense", use_reranker=True, chunk_size=512, model="m"),
        with_options(29, search_mode="sparse", use_reranker=False),
    ]
    mode, reranker, size = insights(make(runs, gold=gold, measures=("hit@5",), by=[]))
    assert mode.startswith(
        "Search mode: sparse is significantly better than dense on hit@5 (+0.617 "
    )
    assert reranker.startswith(
        "Reranking: with is significantly better than without on hit@5 (+0.500 "
    )
    assert reranker.endswith("over 4 runs).")
    assert size.startswith(
        "chunk_size: no significant difference between 512 and 256 on hit@5 (+0.033 "
    )
    assert size.endswith("over 4 runs).")


def test_a_sweep_of_depths_compares_and_says_how_shallow_runs_are(make: Make, run: MakeRun) -> None:
    runs = [
        run(f"top {k}", {"q1": ("a.py",)}, None, {"options": {"top_k": k}, "k": k, "gold": "g"})
        for k in (5, 20)
    ]
    runs.append(replace(runs[0], name="other 5"))
    findings = make(runs)
    assert differences(findings) == ()
    assert shallow(findings) == (
        "top 5 and other 5 returned at most 5 hits, so mrr@10 and recall@10 have no value",
    )
    assert shallow(findings)[0] in details(subject_of(findings))["remarks"]


def test_equal_inputs_compare(findings: Findings) -> None:
    assert differences(findings) == ()


def test_inputs_that_differ_are_named(make: Make, run: MakeRun) -> None:
    more = {"q1": ("a.py",), "q9": ("a.py",)}
    runs = [
        run("a", {"q1": ("a.py",)}, None, {"snapshot": "parent", "gold": "g", "k": 10}),
        run("b", more, None, {"snapshot": "head", "gold": "g", "k": 20}),
        run("c", {"q1": ("a.py",)}),
    ]
    assert differences(make(runs)) == (
        "the snapshot differs: parent (a); head (b)",
        "the number of hits requested differs: 10 (a); 20 (b)",
        "b has results for 1 query that is not in the gold set",
    )


def test_the_method_says_what_is_needed_to_repeat_it(findings: Findings) -> None:
    rows = dict(method_rows(findings))
    assert rows["Gold set"] == "small, 4 queries, 5 targets"
    assert rows["Gold set, SHA-256"] == "d1"
    assert rows["Matching"] == "exact"
    assert rows["Ties"] == "rule trec10; changes the rank of a relevant hit in no query"
    assert rows["Intervals"] == "95%, studentised bootstrap, 199 draws, seed 0"
    assert rows["Latency"].endswith("2 repetitions, 1 query of warm-up, undisturbed")
    assert rows["Made"] == "2026-01-02 03:04 UTC by Karat 1.2.3"


def test_the_method_says_where_latency_was_measured(findings: Findings) -> None:
    runs = tuple(replace(one, notes={**one.notes, "timed_on": "node7"}) for one in findings.runs)
    rows = dict(method_rows(replace(findings, runs=runs)))
    assert rows["Latency"].endswith("undisturbed; latency measured on node7")


def test_the_method_tells_what_run_files_say(make: Make, run: MakeRun) -> None:
    said = make([run("a", {"q1": ("a.py",)}, None, {"snapshot": "parent", "k": 100})])
    told = replace(said, origin=replace(said.origin, run_digests=("r1",)))
    rows = dict(method_rows(told))
    assert (rows["Snapshot mode"], rows["Hits"]) == ("parent", "100")
    assert rows["Run a, SHA-256"] == "r1"
    assert rows["Latency"] == "not measured"
    assert "Tests" not in rows


def test_kept_runs_on_another_corpus_are_not_compared(findings: Findings) -> None:
    def recorded(*snapshots: str) -> Findings:
        records = tuple({"gold": "d1", "snapshot": snapshot} for snapshot in snapshots)
        return replace(findings, origin=replace(findings.origin, records=records))

    before = differences(findings)
    assert differences(recorded("ab" * 32, "ab" * 32)) == before
    told = set(differences(recorded("ab" * 32, "cd" * 32))) - set(before)
    assert told == {
        "the content of the corpus differs: abababababab (old); cdcdcdcdcdcd (new)",
    }


def test_runs_that_are_the_same_share_the_first_place() -> None:
    same = resampled_means(np.array([[0.3, 0.9, 0.1]] * 4), draws=100, seed=0)
    assert [share_of_wins(same, run) for run in range(4)] == [0.25] * 4


def tied(make: Make, run: MakeRun, **latencies: float) -> dict[str, str]:
    """Return the advice on three runs of 8 queries: `worse` equals `good` in recall alone."""
    queries = tuple(f"q{n}" for n in range(8))
    gold = Dataset.of([Query(query, "", (Target("a.py"),)) for query in queries])
    answers = {"worse": ("x.py", "a.py"), "good": ("a.py",), "none": ("x.py",)}
    runs = [
        run(name, dict.fromkeys(queries, hits), dict.fromkeys(queries, latencies[name]))
        for name, hits in answers.items()
    ]
    advice = recommendations(make(runs, gold=gold, measures=("mrr@10", "recall@10")))
    return {each.purpose: each.run for each in advice}


def test_of_equal_runs_the_one_that_leads_is_recommended(make: Make, run: MakeRun) -> None:
    # Two queries cannot tell the runs apart, and the baseline is there already.
    assert tied(make, run, worse=10.0, good=10.0, none=20.0) == {
        "Recommended": "worse",
        "Best quality": "good",
        "Best recall": "good",
        "Fastest": "good",
        "Best balance": "good",
    }
    # Medians that are printed alike are equal, others are not.
    assert tied(make, run, worse=10.001, good=10.002, none=20.0)["Fastest"] == "good"
    assert tied(make, run, worse=10.0, good=10.2, none=20.0)["Fastest"] == "worse"


def test_of_equal_quality_the_next_measure_decides(make: Make, run: MakeRun) -> None:
    gold = Dataset.of([Query("q", "", (Target("a.py"), Target("b.py")))])
    runs = [run("few", {"q": ("a.py",)}), run("all", {"q": ("a.py", "b.py")})]
    first = recommendations(make(runs, gold=gold, measures=("mrr@10", "recall@10")))[1]
    assert (first.purpose, first.run) == ("Best quality", "all")


def test_latencies_too_short_to_notice_are_equal_in_a_balance(make: Make, run: MakeRun) -> None:
    assert tied(make, run, worse=0.7, good=1.5, none=1.9)["Best balance"] == "good"
    assert tied(make, run, worse=0.7, good=1.5, none=1.9)["Fastest"] == "worse"
    # Beyond the floor half of the score is speed: 0.5 / 2 + 0.5 against 1 / 2 + 0.
    assert tied(make, run, worse=1.0, good=9.0, none=9.0)["Best balance"] == "worse"
