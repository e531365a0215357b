"""From truth and a run to the hits behind the scores: the same ranks as `judge`, with places."""

from collections import Counter
from collections.abc import Sequence
from math import inf

from karat.matching.modes import MATCHERS, Matcher
from karat.matching.regions import is_judged, ordered, valid, worth
from karat.matching.ties import as_float32, check_policy
from karat.model import Answer, Dataset, Hit, Outcome, Run, Target
from karat.model.trace import Trace

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
) -> tuple[Trace, ...]:
    """Return one trace for each query of *truth*, with the first *keep* hits of *run*.

    A query that has no answer, or ended in an error or a timeout, found nothing. Under the
    expected tie policy, whose scores belong to no single order, relevant hits come first in a tie.

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
        ranked: list[Hit] = []
        if query_id in answers:
            hits = _hits(run.answer(answers[query_id]), matcher, root)
            ranked = _ranked(hits, targets, matcher, ties)[:depth]
            if judged_only:
                ranked = [
                    hit for hit in ranked if is_judged(_credits(hit, targets, matcher), targets)
                ]
        traces.append(_traced(ranked, targets, matcher, keep))
    return tuple(traces)


def _credits(hit: Hit, targets: Sequence[Target], matcher: Matcher) -> list[float]:
    return [matcher.credit(hit, target) for target in targets]


def _hits(answer: Answer, matcher: Matcher, root: str) -> list[Hit]:
    if answer.outcome is not Outcome.ANSWERED:
        return []
    hits = [hit._replace(path=matcher.spelled(hit.path, root)) for hit in answer.hits]
    return valid(hits, Counter())


def _ranked(
    hits: Sequence[Hit], targets: Sequence[Target], matcher: Matcher, ties: str
) -> list[Hit]:
    """Return *hits* best first, one per file where the mode collapses."""
    if matcher.by_id:
        return _ranked_by_id(hits, targets, ties)
    values = [worth(_credits(hit, targets, matcher), targets) for hit in hits]
    best_first, _ = ordered(hits, values, ties)
    if not matcher.collapse:
        return best_first
    first_of: dict[str, Hit] = {}
    for hit in best_first:
        first_of.setdefault(hit.path, hit)
    return list(first_of.values())


def _ranked_by_id(hits: Sequence[Hit], targets: Sequence[Target], ties: str) -> list[Hit]:
    """Return the first hit of each id, in the order in which `judge` counts scores."""
    units: dict[str, tuple[Hit, float]] = {}
    for hit, score in zip(*ordered(hits, [0.0] * len(hits), "order"), strict=True):
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


def _traced(ranked: Sequence[Hit], targets: Sequence[Target], matcher: Matcher, keep: int) -> Trace:
    found = [0] * len(targets)
    matched = [-1] * min(keep, len(ranked))
    for rank, hit in enumerate(ranked, 1):
        for number, credit in enumerate(_credits(hit, targets, matcher)):
            if not credit:
                continue
            # Of several targets a hit names the one that it is the first to cover.
            if rank <= keep and (matched[rank - 1] < 0 or not found[number]):
                matched[rank - 1] = number
            found[number] = found[number] or rank
    return Trace(tuple(ranked[:keep]), tuple(matched), tuple(found), len(ranked))
