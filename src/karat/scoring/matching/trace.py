"""Trace a run: the hits behind the scores, with the same ranks as ``judge``."""

from collections import Counter
from collections.abc import Sequence
from math import inf

from karat.model import Answer, Dataset, Hit, Outcome, Run, Target
from karat.model.judged import Trace
from karat.scoring.matching.modes import MATCHERS, without_prefix
from karat.scoring.matching.regions import RankedHits, order_hits, rank_hits, valid_hits
from karat.scoring.matching.ties import as_float32, check_policy
from karat.scoring.matching.units import QueryTargets, matches_by_id, query_targets

__all__ = ["trace"]

BY_LUCK = ("best", "worst", "expected")


def trace(
    truth: Dataset,
    run: Run,
    *,
    keep: int,
    match: str | None = None,
    ties: str = "trec10",
    judged_only: bool = False,
    depth: int | None = None,
    min_overlap: float = 0.0,
    root: str = "",
    strip_prefix: Sequence[str] = (),
    cut_at: str = "",
) -> tuple[Trace, ...]:
    """Return one trace for each query of *truth*, with the first *keep* hits of *run*.

    A query without an answer, or with an error or a timeout, has no hits. Under the tie policy
    ``expected``, whose scores belong to no single order, relevant hits come first in a tie.

    >>> from karat.model import Query
    >>> gold = Dataset.of([Query("q1", "log in", (Target("auth.py"), Target("user.py")))])
    >>> run = Run.of([Answer("q1", (Hit("main.py", 2.0), Hit("./auth.py", 1.0)))])
    >>> trace(gold, run, keep=10)[0].found
    (2, 0)
    """
    check_policy(ties)
    matcher = MATCHERS.get(match or truth.match)(min_overlap=min_overlap)
    answers = {query_id: row for row, query_id in enumerate(run.query_ids)}
    traces = []
    for row, query_id in enumerate(truth.query_ids):
        targets = [
            target._replace(path=matcher.spelled(target.path, root))
            for target in truth.targets(row)
        ]
        hits: list[Hit] = []
        if query_id in answers:
            hits = [
                hit._replace(path=matcher.spelled(without_prefix(hit.path, strip_prefix), root))
                for hit in _returned(run.answer(answers[query_id]))
            ]
            hits = valid_hits(hits, Counter(), cut_at=cut_at)
        if matches_by_id(targets, matcher):
            matched = _matched_by_id(hits, targets, ties, judged_only=judged_only, depth=depth)
        else:
            wanted = query_targets(targets, matcher)
            ranked = rank_hits(
                hits, wanted, matcher, ties=ties, judged_only=judged_only, depth=depth
            )
            matched = _matched(ranked, wanted, targets)
        traces.append(_traced(matched, len(targets), keep))
    return tuple(traces)


def _returned(answer: Answer) -> Sequence[Hit]:
    return answer.hits if answer.outcome is Outcome.ANSWERED else ()


def _matched(
    ranked: RankedHits, wanted: QueryTargets, targets: Sequence[Target]
) -> list[tuple[Hit, list[int]]]:
    """Return each hit with the indexes of the targets that it covers, the most specific first.

    A hit that matches only a symbol has that symbol first, then the target that it stands for.
    """
    symbol_of = {symbol.symbol.lower(): place for place, symbol in enumerate(wanted.symbols)}
    matched = []
    for hit, credits, own, symbols in zip(
        ranked.hits, ranked.credits, ranked.own, ranked.symbols, strict=True
    ):
        covered = [n for n, place in enumerate(wanted.positions) if place >= 0 and credits[place]]
        named = [
            number
            for number, place in enumerate(wanted.positions)
            if place < 0 and symbols[symbol_of[targets[number].symbol.lower()]]
        ]
        matched.append((hit, covered + named if any(own) else named + covered))
    return matched


def _matched_by_id(
    hits: Sequence[Hit],
    targets: Sequence[Target],
    ties: str,
    *,
    judged_only: bool,
    depth: int | None,
) -> list[tuple[Hit, list[int]]]:
    """Return the first hit of each path with the indexes of the targets at that path.

    The ranking is cut at *depth* before unjudged hits are dropped, as in trec_eval.
    """
    numbers: dict[str, list[int]] = {}
    for number, target in enumerate(targets):
        numbers.setdefault(target.path, []).append(number)
    judged = {target.path for target in targets if target.grade >= 0}
    ranked = _ranked_by_id(hits, targets, ties)[:depth]
    return [
        (hit, numbers.get(hit.path, [])) for hit in ranked if not judged_only or hit.path in judged
    ]


def _ranked_by_id(hits: Sequence[Hit], targets: Sequence[Target], ties: str) -> list[Hit]:
    """Return the first hit of each id, in the order in which `judge` counts scores."""
    units: dict[str, tuple[Hit, float]] = {}
    for hit, score in zip(*order_hits(hits, [0.0] * len(hits), "order"), strict=True):
        units.setdefault(hit.path, (hit, as_float32(score) if ties == "trec9" else score))
    order = list(units)
    if ties in BY_LUCK:
        grade: dict[str, float] = {}
        for target in targets:
            grade[target.path] = max(target.grade, grade.get(target.path, target.grade))
        order.sort(key=lambda path: grade.get(path, -inf), reverse=ties != "worst")
    elif ties != "order":
        order.sort(reverse=True)
    order.sort(key=lambda path: units[path][1], reverse=True)
    return [units[path][0] for path in order]


def _traced(ranked: Sequence[tuple[Hit, list[int]]], targets: int, keep: int) -> Trace:
    found = [0] * targets
    matched = [-1] * min(keep, len(ranked))
    for rank, (_, numbers) in enumerate(ranked, 1):
        if numbers and rank <= keep:
            # Of several targets, a hit reports the one that it is the first to cover.
            matched[rank - 1] = next((n for n in numbers if not found[n]), numbers[0])
        for number in numbers:
            found[number] = found[number] or rank
    hits = tuple(hit for hit, _ in ranked[:keep])
    return Trace(hits, tuple(matched), tuple(found), len(ranked))
