"""A run held to its rules, from scores to the decision."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from karat.app.baseline import make_baseline, restrict_to_sample
from karat.app.gate import GateRules, gate, parse_rules, self_check
from karat.errors import InputError
from karat.formats import read_run, write
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run, Target
from karat.model.gate import Baseline, Decision
from karat.scoring.settings import Confidence, Scoring

FEW = Confidence(draws=199)
MRR = Scoring(("mrr",))


def dataset(size: int = 20, *, path: str = "right.py") -> Dataset:
    return Dataset.of(
        [Query(f"q{row}", f"question {row}", (Target(path),)) for row in range(size)], name="gold"
    )


def answered(*ranks: int, name: str = "run") -> Run:
    """Return a run whose queries have the right file at these ranks, 0 for nowhere."""
    answers = []
    for row, rank in enumerate(ranks):
        paths = [f"wrong{index}.py" for index in range(1, rank or 4)]
        paths += ["right.py"] if rank else []
        hits = tuple(Hit(path, 1.0 / index) for index, path in enumerate(paths, 1))
        answers.append(Answer(f"q{row}", hits, latency_ns=(row + 1) * 1_000_000))
    return Run.of(answers, name=name)


def baseline_of(run: Run, gold: Dataset | None = None, scoring: Scoring = MRR) -> Baseline:
    return make_baseline(
        gold or dataset(), run, name=run.name, made_at="today", version="1", scoring=scoring
    )


OLD = answered(*[1] * 20, name="old")


def test_a_planted_regression_fails_and_names_its_queries() -> None:
    new = answered(*[1] * 8, *[4] * 6, *[0] * 6, name="new")
    outcome = gate(
        dataset(),
        new,
        parse_rules(regressions=["mrr=0.05"]),
        baseline=baseline_of(OLD),
        confidence=FEW,
    )
    check, lost = outcome.checks
    assert (check.decision, lost.decision) == (Decision.FAILED, Decision.PASSED)
    assert check.value == pytest.approx((6 * 0.75 + 6 * 1.0) / 20)
    assert (outcome.baseline, outcome.lead, outcome.best) == ("old", "mrr", ())
    assert [(query.rank_before, query.rank_after) for query in outcome.worst] == [(1, None)] * 5
    assert outcome.worst[0].text == "question 14"
    assert outcome.verdict.startswith("new is worse than the baseline: mrr -0.525 [-")


def test_a_small_slip_of_one_query_is_noise_and_strict_fails_it() -> None:
    new = answered(0, *[1] * 19, name="new")
    for strict in (False, True):
        outcome = gate(
            dataset(),
            new,
            parse_rules(regressions=["0.02"], strict=strict),
            baseline=baseline_of(OLD),
            confidence=FEW,
        )
        assert outcome.decision is Decision.INCONCLUSIVE
        assert outcome.closed is strict


def test_four_losses_of_forty_are_inconclusive_in_every_sentence() -> None:
    gold, hits = dataset(40), Scoring(("hit@5",))
    baseline = baseline_of(answered(*[1] * 36, *[0] * 4, name="old"), gold, hits)
    new = answered(*[1] * 32, *[0] * 8, name="new")
    outcome = gate(gold, new, parse_rules(regressions=["hit@5=0.02"]), baseline=baseline)
    check, _ = outcome.checks
    assert check.interval is not None
    assert (check.interval.high or 0) < 0  # by the interval alone, the loss would be significant
    assert check.decision is Decision.INCONCLUSIVE
    assert check.why.startswith("hit@5 fell from 0.900 to 0.800 (-0.100 [")
    assert check.why.endswith("not significant: p = 0.125, fewer than 6 queries changed)")
    assert outcome.verdict.startswith(
        "No significant difference between new and the baseline on hit@5 (-0.100 [-"
    )
    assert "], p = 0.125, although the interval excludes 0)." in outcome.verdict


def test_the_same_run_passes_without_any_allowance() -> None:
    outcome = gate(dataset(), OLD, GateRules(), baseline=baseline_of(OLD), confidence=FEW)
    assert (outcome.decision, outcome.closed, outcome.worst, outcome.best) == (
        *(Decision.PASSED, False),
        *((), ()),
    )
    assert outcome.baseline == "old (baseline)"


def test_the_gravest_check_decides() -> None:
    rules = parse_rules(minimums=["mrr=0.9", "hit@1=1"], regressions=["mrr=0.5"])
    new = answered(0, *[1] * 19, name="new")
    outcome = gate(dataset(), new, rules, baseline=baseline_of(OLD), confidence=FEW)
    assert [(check.rule, check.subject, check.decision.value) for check in outcome.checks] == [
        ("minimum", "mrr", "passed"),
        ("minimum", "hit@1", "failed"),
        ("regression", "mrr", "passed"),
        ("lost-hits", "hits", "passed"),
    ]
    assert outcome.closed


def test_gains_come_with_the_greatest_first() -> None:
    old = answered(5, 4, 3, 2, 0, *[1] * 15, name="old")
    outcome = gate(dataset(), OLD, GateRules(), baseline=baseline_of(old), confidence=FEW)
    assert [query.rank_before for query in outcome.best] == [None, 5, 4, 3, 2]
    assert outcome.worst == ()


def test_latencies_are_those_of_answers() -> None:
    answers = [*OLD.answers()]
    answers[0] = Answer("q0", outcome=Outcome.TIMEOUT, latency_ns=30_000_000_000)
    outcome = gate(
        dataset(), Run.of(answers, name="new"), parse_rules(latencies=["p100=20ms"]), confidence=FEW
    )
    (check,) = outcome.checks
    assert (check.decision, check.value, check.n) == (Decision.PASSED, 20.0, 19)


def test_a_gate_on_disturbed_latencies_says_so() -> None:
    disturbed = Run.of(OLD.answers(), name="new", metadata={"disturbed": True})
    outcome = gate(dataset(), disturbed, parse_rules(latencies=["p50=1s"]), confidence=FEW)
    assert outcome.checks[0].why.endswith("ms, disturbed by other karat runs")


def test_a_run_without_times_cannot_pass_a_latency() -> None:
    plain = {f"q{row}": {"right.py": 1.0} for row in range(20)}
    with pytest.raises(InputError, match="no latencies"):
        gate(dataset(), plain, parse_rules(latencies=["p90=1s"]), confidence=FEW)


def test_one_number_limits_shares_only() -> None:
    scoring = Scoring(("mrr", "lines@10", "num-ret"))
    baseline = baseline_of(OLD, scoring=scoring)
    outcome = gate(
        dataset(), OLD, parse_rules(regressions=["0.1"]), baseline=baseline, confidence=FEW
    )
    assert [check.subject for check in outcome.checks] == ["mrr", "hits"]
    with pytest.raises(InputError, match="between 0 and 1"):
        gate(
            dataset(),
            OLD,
            parse_rules(regressions=["0.1"]),
            baseline=baseline,
            scoring=Scoring(("lines@10",)),
            confidence=FEW,
        )


def test_a_limit_below_what_the_set_can_show_is_told() -> None:
    old, new = answered(*[1, 2] * 10, name="old"), answered(*[2, 1] * 4, *[1, 2] * 6, name="new")
    rules = parse_rules(regressions=["mrr=0.01"])
    outcome = gate(dataset(), new, rules, baseline=baseline_of(old), confidence=FEW)
    assert any("but only 0.01 is allowed" in note for note in outcome.notes)


def test_five_changed_queries_are_not_said_to_detect_anything() -> None:
    new = answered(*[3] * 5, *[1] * 15, name="new")
    rules = parse_rules(regressions=["mrr=0.01"])
    outcome = gate(dataset(), new, rules, baseline=baseline_of(OLD), confidence=FEW)
    check, _ = outcome.checks
    assert (check.decision, check.detectable) == (Decision.INCONCLUSIVE, None)
    assert check.why.endswith("not significant: p = 0.062, fewer than 6 queries changed)")
    assert "reliably" not in " ".join([outcome.verdict, *outcome.notes])
    assert outcome.verdict.endswith(
        "Only 5 queries differ, and the test needs at least 6 to call a difference significant."
    )


def test_a_run_of_a_sample_is_called_one() -> None:
    few = Run.of(list(OLD.answers())[:5], name="few")
    rules = parse_rules(regressions=["mrr=0.5"])
    outcome = gate(dataset(), few, rules, baseline=baseline_of(OLD), confidence=FEW)
    assert any(
        "the run has 5 of 20 queries (made with --sample?)" in each for each in outcome.notes
    )
    whole = gate(dataset(), OLD, rules, baseline=baseline_of(OLD), confidence=FEW)
    assert not any("--sample" in note for note in whole.notes)


def known(run: Run, **metadata: object) -> Run:
    """Return *run* with *metadata*."""
    return Run.of(run.answers(), name=run.name, metadata=metadata)


def test_an_identical_engine_fails_for_a_loss_that_is_not_significant() -> None:
    # Two of 20 queries fall from rank 1 to 4: .075, and the tolerance of equal scores is .005.
    new = answered(4, 4, *[1] * 18, name="new")
    fixed = {"deterministic": True}
    cases = [
        (
            known(OLD, **fixed),
            known(new, **fixed),
            Decision.FAILED,
            "engines of both runs answer identically",
        ),
        (known(OLD, **fixed), new, Decision.INCONCLUSIVE, "because the run does not say whether"),
        (OLD, known(new, **fixed), Decision.INCONCLUSIVE, "because the baseline does not say"),
        (
            *(known(OLD, **fixed), known(new, deterministic=False), Decision.INCONCLUSIVE),
            "because the run gave different hits to repeated queries",
        ),
    ]
    for old, run, decision, why in cases:
        outcome = gate(dataset(), run, GateRules(), baseline=baseline_of(old), confidence=FEW)
        assert (outcome.decision, outcome.checks[0].limit) == (decision, 0.005), why
        assert why in outcome.rule
        first, _, rest = outcome.verdict.partition(". ")
        failed = decision is Decision.FAILED
        assert (first.startswith("mrr fell by 0.0750, more than the 0.005 tolerated: ")) is failed
        assert ("No significant difference" in outcome.verdict) is not failed
        assert ("for an engine that answers identically)" in outcome.checks[0].why) is failed
        assert rest or failed
    rules = parse_rules(regressions=["0.02"])
    outcome = gate(
        *(dataset(), known(new, **fixed), rules),
        baseline=baseline_of(known(OLD, **fixed)),
        confidence=FEW,
    )
    assert outcome.decision is Decision.INCONCLUSIVE
    assert "larger than --max-regression and significant" in outcome.rule


def test_a_tiny_loss_is_tolerated_even_by_a_strict_gate() -> None:
    gold = dataset(200)
    old = answered(*[1] * 100, *[0] * 100, name="old")
    new = answered(2, *[1] * 99, *[0] * 100, name="new")
    outcome = gate(
        *(gold, new, GateRules(strict=True)), baseline=baseline_of(old, gold), confidence=FEW
    )
    # One reciprocal rank of .5 less, 0.0025 of the mean; the tolerance is .5 / sqrt(200) / 3.
    assert (outcome.decision, outcome.checks[0].limit) == (Decision.PASSED, 0.0118)


def test_queries_that_lost_all_hits_fail_any_gate() -> None:
    empty = Run.of(
        [Answer("q0"), Answer("q1", outcome=Outcome.TIMEOUT), *list(OLD.answers())[3:]], name="new"
    )
    loss = parse_rules(regressions=["mrr=1"])
    outcome = gate(dataset(), empty, loss, baseline=baseline_of(OLD), confidence=FEW)
    assert [check.decision.value for check in outcome.checks] == ["passed", "failed"]
    assert outcome.checks[1].why.endswith("have none now: q0, q1, q2")  # the last is missing
    allowed = parse_rules(regressions=["mrr=1"], lost_hits=3)
    assert not gate(dataset(), empty, allowed, baseline=baseline_of(OLD), confidence=FEW).closed


def test_a_query_without_a_relevant_target_may_lose_its_hits() -> None:
    queries = [*dataset(19).queries(), Query("none", "nothing fits", ())]
    gold = Dataset.of(queries, name="gold")
    before = Run.of([*list(OLD.answers())[:19], Answer("none", (Hit("a"),))], name="old")
    after = Run.of([*list(OLD.answers())[:19], Answer("none")], name="new")
    outcome = gate(gold, after, GateRules(), baseline=baseline_of(before, gold), confidence=FEW)
    assert (outcome.decision, outcome.checks[1].n) == (Decision.PASSED, 19)


def test_an_older_baseline_skips_the_rule_of_lost_hits_and_says_so() -> None:
    baseline = baseline_of(OLD)
    older = replace(
        baseline, queries=tuple(query._replace(hits=None) for query in baseline.queries)
    )
    outcome = gate(dataset(), OLD, GateRules(), baseline=older, confidence=FEW)
    assert [check.rule for check in outcome.checks] == ["regression"]
    assert any("does not count hits; write a new one" in note for note in outcome.notes)


SAMPLED = {"sample": 5, "sample_of": 20}


def test_a_sample_is_compared_on_its_queries() -> None:
    few = known(Run.of(list(OLD.answers())[3:8], name="few"), **SAMPLED)
    gold, whole = restrict_to_sample(dataset(), few)
    assert (gold.query_ids, whole) == (("q3", "q4", "q5", "q6", "q7"), 20)
    baseline = baseline_of(few, gold)
    sample = replace(baseline, sample_of=20)
    assert sample.means == {"mrr": 1.0}
    for run, against in ((few, sample), (few, baseline_of(OLD)), (OLD, sample)):
        outcome = gate(dataset(), run, GateRules(), baseline=against, confidence=FEW)
        assert (outcome.decision, outcome.checks[0].n) == (Decision.PASSED, 5)
        assert "a sample: 5 of 20 queries are compared" in outcome.notes
        assert not any("count 0" in note for note in outcome.notes)


def test_a_changed_query_of_a_sample_is_still_an_error() -> None:
    few = known(Run.of(list(OLD.answers())[:5], name="few"), **SAMPLED)
    with pytest.raises(InputError, match="1 changed, 4 the same"):
        gate(
            Dataset.of(
                [Query("q0", "another text", (Target("right.py"),)), *[*dataset().queries()][1:]],
                name="gold",
            ),
            few,
            GateRules(),
            baseline=replace(baseline_of(few, dataset(5)), sample_of=20),
            confidence=FEW,
        )


def test_a_sample_that_was_interrupted_is_an_error() -> None:
    few = known(Run.of(list(OLD.answers())[:4], name="few"), **SAMPLED)
    with pytest.raises(InputError, match="only 4 of the 5 sampled queries have a result"):
        gate(dataset(), few, GateRules(), baseline=baseline_of(OLD), confidence=FEW)


def test_notes_that_the_baseline_has_too_are_known() -> None:
    outcome = gate(dataset(), OLD, GateRules(), baseline=baseline_of(OLD), confidence=FEW)
    assert outcome.known == outcome.notes[:1]
    assert "20 queries: 0 missing, 0 errors" in outcome.known[0]
    failed = Run.of([Answer("q0", outcome=Outcome.ERROR), *list(OLD.answers())[1:]], name="old")
    outcome = gate(dataset(), failed, GateRules(), baseline=baseline_of(failed), confidence=FEW)
    assert "1 error" in outcome.notes[0]
    assert outcome.known == ()


def test_nothing_to_check_is_an_error() -> None:
    with pytest.raises(InputError, match="nothing to check"):
        gate(dataset(), OLD, GateRules())


def test_a_regression_without_a_baseline_is_an_error() -> None:
    with pytest.raises(InputError, match="--baseline"):
        gate(dataset(), OLD, parse_rules(regressions=["0.1"]))


def test_a_measure_that_the_baseline_lacks_is_an_error() -> None:
    rules = parse_rules(regressions=["ndcg@10=0.1"])
    with pytest.raises(InputError, match=r"no ndcg@10; it has mrr$"):
        gate(dataset(), OLD, rules, baseline=baseline_of(OLD), confidence=FEW)


def test_another_way_of_judging_is_refused() -> None:
    with pytest.raises(InputError, match="judged with ties trec10, this run with worst"):
        gate(dataset(), OLD, GateRules(), baseline=baseline_of(OLD), scoring=Scoring(ties="worst"))


def ties(first: str, second: str, *, live: bool) -> Run:
    """Return two hits with equal scores for each query; *live*, their order is that of an engine.

    trec_eval ranks ``wrong.py`` first.
    """
    hits = (Hit(first, 1.0), Hit(second, 1.0))
    run = Run.of([Answer(f"q{row}", hits) for row in range(20)], name="new")
    return replace(run, metadata={"ties": "order"}) if live else run


def test_a_run_of_an_engine_is_gated_like_its_file(tmp_path: Path) -> None:
    live = ties("right.py", "wrong.py", live=True)
    write(live, tmp_path / "new.jsonl")
    file = read_run(tmp_path / "new.jsonl")
    assert [baseline_of(run).ties for run in (file, live)] == ["trec10", "order"]
    rules = parse_rules(regressions=["0"])
    for before, after in product((file, live), repeat=2):
        baseline = baseline_of(before)
        assert baseline.means["mrr"] == 1.0
        check, _ = gate(dataset(), after, rules, baseline=baseline, confidence=FEW).checks
        assert (check.decision, check.value) == (Decision.PASSED, 0.0)


@pytest.mark.parametrize("version", ["0.1.4", "0.2.0"])
def test_an_earlier_baseline_says_how_equal_scores_of_engines_are_ordered(version: str) -> None:
    # In that version the ranking of the engine was judged as that of a file.
    baseline = replace(baseline_of(ties("right.py", "wrong.py", live=False)), version=version)
    assert baseline.means["mrr"] == 0.5
    rules = parse_rules(regressions=["0"])
    run = ties("right.py", "wrong.py", live=True)
    check, _ = gate(dataset(), run, rules, baseline=baseline, confidence=FEW).checks
    assert (check.value, check.after) == (0.0, 0.5)


def test_another_gold_set_is_refused_or_cut_to_what_is_the_same() -> None:
    baseline = baseline_of(OLD)
    queries = [*dataset().queries()]
    queries[0] = queries[0]._replace(targets=(Target("other.py"),))
    changed = Dataset.of([*queries[:15], Query("new", "new", (Target("right.py"),))], name="gold")
    with pytest.raises(InputError, match="1 new, 1 changed, 5 gone, 14 the same"):
        gate(changed, OLD, GateRules(), baseline=baseline, confidence=FEW)
    outcome = gate(changed, OLD, GateRules(), baseline=baseline, confidence=FEW, allow_changed=True)
    # The changed query finds nothing now; it is not compared.
    assert (outcome.checks[0].n, outcome.decision) == (14, Decision.PASSED)
    assert any("14 the same" in note for note in outcome.notes)


def test_another_order_of_the_same_queries_changes_nothing() -> None:
    turned = Dataset.of([*dataset().queries()][::-1], name="gold")
    new = answered(0, *[1] * 19, name="new")
    rules = parse_rules(regressions=["0.5"])
    one, other = (
        gate(gold, new, rules, baseline=baseline_of(OLD), confidence=FEW)
        for gold in (dataset(), turned)
    )
    assert one.checks[0].value == other.checks[0].value
    assert one.worst == other.worst


def test_no_query_in_common_is_an_error() -> None:
    other = Dataset.of([Query("x", "x", (Target("right.py"),))])
    run = {"x": {"right.py": 1.0}}
    with pytest.raises(InputError, match="no query of the baseline"):
        gate(other, run, GateRules(), baseline=baseline_of(OLD), allow_changed=True)


def test_a_baseline_of_another_level_than_the_default_is_found_again() -> None:
    scoring = Scoring(("mrr", "precision(level=0)@5"), level=1.0)
    outcome = gate(
        dataset(),
        OLD,
        parse_rules(level=1.0),
        baseline=baseline_of(OLD, scoring=scoring),
        scoring=Scoring(level=1.0),
        confidence=FEW,
    )
    assert [check.subject for check in outcome.checks] == ["mrr(level=1)", "precision@5", "hits"]


def test_a_self_check_counts_the_decisions_of_every_pair() -> None:
    runs = [
        answered(*[1] * 20, name="a"),
        answered(*[1] * 20, name="b"),
        answered(*[1] * 8, *[0] * 12, name="c"),
    ]
    check = self_check(dataset(), runs, GateRules(), scoring=MRR, confidence=FEW)
    # Of six pairs, the two with c as the run lose 12 of 20 queries.
    assert (check.pairs, check.failed, check.identical) == (6, 2, False)
    assert check.decisions == {
        "regression mrr": {"passed": 4, "failed": 2},
        "lost-hits": {"passed": 6},
    }
    assert check.verdict == (
        "2 of 6 gates between 3 runs of one unchanged engine fail: each is a false alarm."
    )
    same = self_check(dataset(), runs[:2], GateRules(), scoring=MRR, confidence=FEW)
    assert (same.failed, same.identical) == (0, True)
    assert same.verdict == "The hits of all 2 runs are identical: no rule on scores can flip."
    with pytest.raises(InputError, match="two or more runs"):
        self_check(dataset(), runs[:1], GateRules(), scoring=MRR)
