"""What the factors on a place's score hold for, and how much."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import Chunk, Document, Trait
from karat.engines.chunk_table import ChunkLocation, ChunkTable
from karat.engines.fusion import Scores, top
from karat.engines.ranking import PLAIN, Names, RankingRules, boost_names, diversify, kind_factors

RULES = RankingRules()


def location(
    path: str = "src/a.py",
    *,
    symbols: tuple[str, ...] = (),
    kind: str = "code",
    traits: Trait = Trait.NONE,
) -> ChunkLocation:
    return ChunkLocation(path, Chunk("", "", 1, 2, "text", symbols, (), kind), traits)


def factor(
    location: ChunkLocation, query: str, *, unit: str = "lines", score: float = 1.0
) -> float:
    names = Names()
    names.grow([location])
    names.show(np.array([0]))
    scores = boost_names(np.full(1, score, np.float32), names, query, RULES, unit=unit)
    return float(scores[0])


@pytest.mark.parametrize(
    ("symbols", "query", "share"),
    [
        (("check_login",), "checkLogin", 1),
        (("check_login",), "where is the login checked", 2 / 3),
        (("other", "check_login"), "is login checked", 2 / 3),
        (("login",), "login of a user", 1 / 2),
        (("logout",), "login", 0),
        ((), "login", 0),
    ],
)
def test_a_name_made_of_the_query_raises_its_definition(
    symbols: tuple[str, ...], query: str, share: float
) -> None:
    expected = 1 + (RULES.definition - 1) * share
    assert factor(location(symbols=symbols), query) == pytest.approx(expected)


def test_a_heading_is_no_definition() -> None:
    section = location("docs/a.md", symbols=("Check login",), kind="prose")
    assert factor(section, "check login") == 1.0


def test_what_was_not_found_is_not_raised() -> None:
    assert factor(location(symbols=("login",)), "login", score=0.0) == 0.0


@pytest.mark.parametrize(
    ("path", "share"),
    [
        ("src/user.py", 1),
        ("src/user_store.py", 2 / 3),
        ("src/user_mail.py", 1 / 3),
        ("a/b.py", 0),
        ("user/__init__.py", 1 / 2),  # its folder speaks for a name that says nothing
    ],
)
def test_only_among_files_is_one_raised_for_its_name(path: str, share: float) -> None:
    query = "where are users stored"
    expected = 1 + (RULES.stem - 1) * share
    assert factor(location(path), query, unit="file") == pytest.approx(expected)
    assert factor(location(path), query) == 1.0


def test_kinds_and_their_factors() -> None:
    places = [
        location(),
        location(traits=Trait.TEST),
        location(symbols=("tests",)),
        location(traits=Trait.VENDORED | Trait.TEST),
        location("docs/tests.md", kind="prose", traits=Trait.DOCS | Trait.TEST),
    ]
    expected = [1.0, RULES.test, RULES.test, RULES.vendored * RULES.test, RULES.docs]
    assert kind_factors(places, RULES) == pytest.approx(expected)
    assert kind_factors(places, PLAIN).tolist() == [1.0] * 5


def table(sizes: list[int]) -> ChunkTable:
    """Return files with so many chunks each."""
    documents = [Document(f"{number}.py", "", 1) for number in range(len(sizes))]
    return ChunkTable.of(documents, [[location().chunk] * size for size in sizes])


def plainly(scores: Scores, places: ChunkTable, k: int, rules: RankingRules) -> list[int]:
    """Return the order of files as it is told, place by place."""
    ranked = top(scores, len(scores))
    of_file: dict[int, list[int]] = {}
    for position, row in enumerate(ranked):
        of_file.setdefault(int(places.files[row]), []).append(position)
    worth = scores[ranked].copy()
    for positions in of_file.values():
        witnesses = positions[1:4]
        worth[positions[0]] += rules.coherence * float(scores[ranked[witnesses]].sum())
        for earlier, position in enumerate(positions):
            worth[position] *= rules.diversity**earlier
    return [int(row) for row in ranked[np.argsort(-worth, kind="stable")[:k]]]


@given(
    files=st.lists(st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.3, 1.7]), max_size=7), max_size=6),
    k=st.integers(1, 30),
)
def test_further_places_of_a_file_count_less(files: list[list[float]], k: int) -> None:
    places = table([len(scores) for scores in files])
    scores = np.array([score for one in files for score in one], np.float32)
    expected = plainly(scores, places, k, RULES)
    assert diversify(scores, places, k, RULES).tolist() == expected


def test_a_file_with_several_good_places_comes_first() -> None:
    places = table([1, 3])
    scores = np.array([1.0, 0.95, 0.9, 0.8], np.float32)
    # b.py is worth 0.95 + 0.17; its further places count 0.9 / 2 and 0.8 / 4.
    assert diversify(scores, places, 4, RULES).tolist() == [1, 0, 2, 3]
