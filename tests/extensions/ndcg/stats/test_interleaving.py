from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from karat.errors import InputError
from karat.extensions.ndcg.stats.interleaving import (
    Credit,
    InterleavedRanking,
    InterleavingTest,
    credit,
    interleaving_test,
    team_draft,
)
from karat.scoring.stats.arrays import generator

rankings = st.lists(st.sampled_from("abcdefgh"), max_size=8)


class Coins:
    """A generator whose coins are given."""

    def __init__(self, coins: tuple[int, ...]) -> None:
        self.coins = list(coins)

    def integers(self, high: int) -> int:
        return self.coins.pop(0)


def drafted(a: str, b: str, coins: tuple[int, ...]) -> tuple[str, str]:
    draft = team_draft(list(a), list(b), rng=Coins(coins))  # type: ignore[arg-type]
    return "".join(draft.ranking), "".join(team or "-" for team in draft.teams)


def test_every_draft_of_two_short_rankings_by_hand() -> None:
    # A ranks x, y, z and B ranks y, z, w; 1 lets A choose first in a round.
    assert drafted("xyz", "yzw", (1, 1)) == ("xyzw", "abab")
    assert drafted("xyz", "yzw", (1, 0)) == ("xyz" + "w", "abb-")
    assert drafted("xyz", "yzw", (0, 1)) == ("yxzw", "baab")
    assert drafted("xyz", "yzw", (0, 0)) == ("yxz" + "w", "bab-")


def test_the_rest_of_the_longer_ranking_has_no_team() -> None:
    assert drafted("x", "uvw", (1,)) == ("xuvw", "ab--")
    assert drafted("", "uv", ()) == ("uv", "--")
    assert drafted("", "", ()) == ("", "")


def test_equal_rankings_come_out_unchanged_and_shared() -> None:
    for coins in product((0, 1), repeat=2):
        ranking, teams = drafted("wxyz", "wxyz", coins)
        assert ranking == "wxyz"
        assert Counter(teams) == {"a": 2, "b": 2}


def test_a_cut_and_a_repeated_result() -> None:
    rng = generator(0)
    draft = team_draft(["x", "x", "y"], ["x", "z"], rng=rng, k=2)
    assert len(draft.ranking) == len(draft.teams) == 2
    assert draft.ranking[0] == "x"
    with pytest.raises(InputError, match="k is 0; expected an integer of 1 or more"):
        team_draft(["x"], ["y"], rng=rng, k=0)


@given(rankings, rankings, st.integers(0, 2**32))
def test_laws_of_a_draft(a: list[str], b: list[str], seed: int) -> None:
    draft = team_draft(a, b, rng=generator(seed))
    assert draft == team_draft(a, b, rng=generator(seed))
    assert sorted(draft.ranking) == sorted({*a, *b})
    counts = Counter(draft.teams)
    assert abs(counts["a"] - counts["b"]) <= 1
    for ranking, team in ((a, "a"), (b, "b")):
        seen: set[str] = set()
        for item, chooser in zip(draft.ranking, draft.teams, strict=True):
            if chooser == team:
                assert item == next(best for best in ranking if best not in seen)
            seen.add(item)
    # No prefix lets one system be ahead by more than a choice.
    for cut in range(len(draft.teams)):
        part = draft.teams[:cut]
        assert abs(part.count("a") - part.count("b")) <= 1


def test_credit_by_hand() -> None:
    ranking = InterleavedRanking(("x", "y", "w", "z"), ("a", "b", "b", None))
    assert credit(ranking, []) == Credit(0, 0)
    assert credit(ranking, ["z"]) == Credit(0, 0)
    assert credit(ranking, ["w", "x", "w"]) == Credit(1, 1)
    assert credit(ranking, ["w", "x"]).winner is None
    assert credit(ranking, ["w"]).winner == "b"
    assert credit(ranking, ["x"]).winner == "a"
    with pytest.raises(InputError, match="'q' was clicked but is not in the ranking"):
        credit(ranking, ["x", "q"])


@given(st.lists(st.builds(Credit, st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60))
def test_agrees_with_scipy_and_is_fair(credits: list[Credit]) -> None:
    test = interleaving_test(credits)
    decided = test.wins_a + test.wins_b
    assert decided + test.ties == len(credits)
    if decided:
        exact = stats.binomtest(test.wins_a, decided)
        assert test.p == pytest.approx(exact.pvalue)
        ends = exact.proportion_ci(0.95, method="exact")
        assert (test.interval.low, test.interval.high) == pytest.approx((ends.low, ends.high))
    mirrored = interleaving_test([Credit(entry.b, entry.a) for entry in credits])
    assert mirrored.p == test.p
    assert mirrored.preference == pytest.approx(-(test.preference or 0.0))


def test_nothing_shown_and_nothing_won() -> None:
    for credits, ties, preference in (([], 0, None), ([Credit(1, 1)], 1, 0.0)):
        test = interleaving_test(credits)
        assert test == InterleavingTest(0, 0, ties, preference, None, test.interval, 1.0)
        assert (test.interval.low, test.interval.high) == (0.0, 1.0)
    with pytest.raises(InputError, match="confidence level"):
        interleaving_test([], level=1.0)


def test_finds_the_better_system_and_no_difference_where_there_is_none() -> None:
    rng = generator(11)
    good, bad = list("rstuvwxyz"), list("zyxwvutsr")

    def p_value(a: list[str], b: list[str]) -> float:
        drafts = (team_draft(a, b, rng=rng, k=4) for _ in range(60))
        return interleaving_test(credit(one, {"r", "s"} & {*one.ranking}) for one in drafts).p

    assert p_value(good, bad) < 1e-6
    even = np.array([p_value(good, good) for _ in range(200)])
    assert 0.0 <= (even <= 0.05).mean() <= 0.08
