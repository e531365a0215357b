"""Team-draft interleaving: two rankings shown as one; clicks decide which system is better.

Each user sees results of both systems at once, so far fewer users are needed than in an A/B test.
Radlinski, Kurup and Joachims (2008); the query is the unit of the test, as in Chapelle et al.
(2012).
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np

from karat.errors import InputError
from karat.model.comparison import Interval
from karat.scoring.stats.bootstrap import check_level, clopper_pearson
from karat.scoring.stats.moments import sign_test

Team = Literal["a", "b"]
Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class InterleavedRanking(Generic[Item]):
    """One ranking made of two: ``teams[i]`` is the system that contributed ``ranking[i]``.

    None marks results after one system had no more results: such a result gives no credit.
    """

    ranking: tuple[Item, ...]
    teams: tuple[Team | None, ...]


class Credit(NamedTuple):
    """How many clicked results each system contributed."""

    a: int
    b: int

    @property
    def winner(self) -> Team | None:
        """Return the team with more credit, None for a tie."""
        if self.a == self.b:
            return None
        return "a" if self.a > self.b else "b"


class InterleavingTest(NamedTuple):
    """Which system users prefer.

    - *preference*: A's share of all queries minus a half, a tie counting half; 0.5 if A always won.
    - *share*: A's share of the queries with a winner, with its Clopper-Pearson *interval*; None,
    and
      from 0 to 1, if there are none.
    - *p*: two-sided sign test of this share against a half; ties are skipped.
    """

    wins_a: int
    wins_b: int
    ties: int
    preference: float | None
    share: float | None
    interval: Interval
    p: float


def team_draft(
    a: Sequence[Item],
    b: Sequence[Item],
    *,
    rng: np.random.Generator,
    k: int | None = None,
) -> InterleavedRanking[Item]:
    """Return the first *k* results of a team draft between two rankings; all results without *k*.

    The systems choose in rounds of two; a coin decides the order in each round, and each system
    adds its best result that is not in the list yet. A repeated result counts at its first rank.
    When one system has no results left, the rest of the other follows without a team.

    >>> from karat.scoring.stats.arrays import generator
    >>> drafted = team_draft(["x", "y", "z"], ["y", "w"], rng=generator(1))
    >>> drafted.ranking, drafted.teams
    (('y', 'x', 'w', 'z'), ('b', 'a', 'b', 'a'))
    """
    if k is not None and k < 1:
        raise InputError(f"k is {k}; expected an integer of 1 or more")
    left: dict[Team, list[Item]] = {
        # Reversed, so that the best result is popped from the end.
        "a": list(dict.fromkeys(a))[::-1],
        "b": list(dict.fromkeys(b))[::-1],
    }
    chosen: dict[Item, Team | None] = {}
    while _prune(left["a"], chosen) and _prune(left["b"], chosen):
        order: tuple[Team, Team] = ("a", "b") if rng.integers(2) else ("b", "a")
        for team in order:
            # The first choice of a round may have been the last one of the other system.
            if _prune(left[team], chosen):
                chosen[left[team].pop()] = team
    for team in ("a", "b"):
        while _prune(left[team], chosen):
            chosen[left[team].pop()] = None
    return InterleavedRanking(tuple(chosen)[:k], tuple(chosen.values())[:k])


def _prune(left: list[Item], chosen: dict[Item, Team | None]) -> bool:
    """Drop already chosen results from the end of *left*; return whether any remain."""
    while left and left[-1] in chosen:
        left.pop()
    return bool(left)


def credit(interleaved: InterleavedRanking[Item], clicked: Iterable[Item]) -> Credit:
    """Return the credit of each system from the *clicked* results, each counted once.

    A click on something that was not shown raises InputError.

    >>> credit(InterleavedRanking(("x", "y", "w"), ("a", "b", "b")), ["y", "w", "w"])
    Credit(a=0, b=2)
    """
    team_of = dict(zip(interleaved.ranking, interleaved.teams, strict=True))
    clicks = dict.fromkeys(clicked)
    for item in clicks:
        if item not in team_of:
            raise InputError(f"{item!r} was clicked but is not in the ranking that was shown")
    earned = [team_of[item] for item in clicks]
    return Credit(earned.count("a"), earned.count("b"))


def interleaving_test(credits: Iterable[Credit], *, level: float = 0.95) -> InterleavingTest:
    """Return whether one system wins significantly more queries.

    >>> test = interleaving_test([Credit(1, 0)] * 9 + [Credit(0, 2)] + [Credit(0, 0)] * 10)
    >>> test.wins_a, test.wins_b, test.ties, test.preference, round(test.p, 4)
    (9, 1, 10, 0.2, 0.0215)
    """
    check_level(level)
    winners = [entry.winner for entry in credits]
    wins_a, wins_b, ties = (winners.count(winner) for winner in ("a", "b", None))
    decided = wins_a + wins_b
    return InterleavingTest(
        wins_a=wins_a,
        wins_b=wins_b,
        ties=ties,
        preference=(wins_a - wins_b) / (2 * len(winners)) if winners else None,
        share=wins_a / decided if decided else None,
        interval=clopper_pearson(wins_a, decided, level),
        p=sign_test(wins_a, wins_b),
    )
