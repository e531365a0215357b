"""Pool the hits of runs: what people or models still have to judge."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from karat.errors import InputError
from karat.model import Answer, Dataset, Hit, Run, Target
from karat.scoring.labels import is_judged
from karat.scoring.matching.modes import MATCHERS, Matcher, judges_files
from karat.scoring.matching.regions import order_hits, valid_hits
from karat.scoring.score import no_overlap


class PooledHit(NamedTuple):
    """An unjudged hit: the row of its query, its first hit, and its rank in each run."""

    row: int
    hit: Hit
    ranks: Mapping[str, int]


def pool(data: Dataset, runs: Mapping[str, Run], *, depth: int) -> list[PooledHit]:
    """Return the unjudged among the first *depth* hits of each query in each run.

    Queries come in their order, and the hits of one by the best rank that any run gave them. Hits
    that would become the same target are one. A run that answers none of the queries raises
    InputError.
    """
    matcher = matcher_of(data)
    pooled = []
    for row, items in candidates(data, runs, depth=depth).items():
        targets = data.targets(row)
        unjudged = [item for item in items if not is_judged(item.hit, targets, matcher)]
        pooled += sorted(unjudged, key=best_rank)
    return pooled


def candidates(data: Dataset, runs: Mapping[str, Run], *, depth: int) -> dict[int, list[PooledHit]]:
    """Return the first *depth* hits of each query in each run, judged or not, by row in order.

    Hits that would become the same target are one. A run that answers none of the queries raises
    InputError.
    """
    if depth < 1:
        raise InputError(f"depth {depth} is below 1")
    matcher = matcher_of(data)
    rows = {query_id: row for row, query_id in enumerate(data.query_ids)}
    by_row: dict[int, dict[Target, PooledHit]] = {}
    for name, run in runs.items():
        if not any(query_id in rows for query_id in run.query_ids):
            raise no_overlap(name, data.query_ids, run.query_ids)
        for answer in run.answers():
            row = rows.get(answer.query_id)
            if row is None:
                continue
            units = by_row.setdefault(row, {})
            targets = data.targets(row)
            for rank, (unit, hit) in enumerate(_units(answer, matcher, targets), 1):
                if rank > depth:
                    break
                known = units.get(unit, PooledHit(row, hit, {}))
                units[unit] = known._replace(ranks={**known.ranks, name: rank})
    return {row: list(by_row[row].values()) for row in sorted(by_row)}


def matcher_of(data: Dataset) -> Matcher:
    """Return the matcher that decides which hits are the same unit for a judgment."""
    return MATCHERS.get(data.match)()


def best_rank(item: PooledHit) -> int:
    """Return the best rank that any run gave *item*."""
    return min(item.ranks.values())


def as_target(hit: Hit, grade: float, matcher: Matcher, targets: Sequence[Target] = ()) -> Target:
    """Return the target that *hit* becomes in a query with *targets*: the unit that is judged.

    Where all targets are whole files, that is the file of the hit.
    """
    if targets and judges_files(targets, matcher):
        return Target(hit.path, grade)
    if matcher.name == "lines":
        return Target(hit.path, grade, hit.start_line, hit.end_line)
    return Target(hit.path, grade, symbol=hit.symbol if matcher.by_symbol else "")


def _units(
    answer: Answer, matcher: Matcher, targets: Sequence[Target]
) -> Iterable[tuple[Target, Hit]]:
    """Return what is judged at once, with its first hit, in the order that scoring gives them."""
    spelled = [hit._replace(path=matcher.spelled(hit.path)) for hit in answer.hits]
    hits = valid_hits(spelled, Counter())
    best_first, _ = order_hits(hits, [0.0] * len(hits), "trec10")
    units: dict[Target, Hit] = {}
    for hit in best_first:
        units.setdefault(as_target(hit, 0.0, matcher, targets), hit)
    return units.items()
