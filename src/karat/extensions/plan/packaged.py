"""Spreads that were measured before, for a plan without a pilot."""

from math import sqrt
from typing import NamedTuple

from karat.extensions.plan.spread import Spread


class PackagedSpread(NamedTuple):
    """A spread, the measure of its scores, whose it is in a few words, and where it comes from.

    Scores of each *measure* range from 0 to 1.
    """

    measure: str
    spread: Spread
    brief: str
    source: str


def hits(changed: float) -> Spread:
    """Return the spread of scores of 0 and 1 of which a share *changed* differs."""
    return Spread(sqrt(changed), changed=changed, hits=True)


PACKAGED = {
    "settings": PackagedSpread(
        "ndcg@10",
        Spread(0.07),
        "two settings of BM25, code search",
        "two settings of BM25 on mined cases of two repositories: 0.04 to 0.09",
    ),
    "engines": PackagedSpread(
        "ndcg@10",
        Spread(0.18),
        "two similar engines, code search",
        "two similar engines, BM25 with and without code ranking, on mined cases of two "
        "repositories: 0.17 to 0.19",
    ),
    "kinds": PackagedSpread(
        "ndcg@10",
        Spread(0.28),
        "two kinds of engine, code search",
        "BM25 and a keyword search on mined cases of two repositories: 0.26 to 0.29",
    ),
    "agents": PackagedSpread(
        "resolved (0/1)",
        hits(0.17),
        "two models, SWE-bench",
        "pairs of four models on the 500 instances of SWE-bench Verified differ on 16 to 21 %",
    ),
    "tasks": PackagedSpread(
        "main_score",
        Spread(0.07),
        "two models, MTEB",
        "pairs of the 20 best of 96 models on 28 tasks of MTEB, each task a query: 0.04 to 0.10",
    ),
}
