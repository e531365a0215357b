"""What the factors on a place's score hold for, and how much."""

import numpy as np
import pytest

from karat.corpus import Chunk, Trait
from karat.engines.places import Place, Places
from karat.engines.ranking import PLAIN, RankingRules, kind_factors, raised

RULES = RankingRules()


def place(
    path: str = "src/a.py",
    *,
    symbols: tuple[str, ...] = (),
    kind: str = "code",
    traits: Trait = Trait.NONE,
) -> Place:
    return Place(path, Chunk("", "", 1, 2, "text", symbols, (), kind), traits)


def factor(place: Place, query: str, *, unit: str = "lines", score: float = 1.0) -> float:
    scores = raised(np.full(1, score, np.float32), Places([[place]]), query, RULES, unit=unit)
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
    assert factor(place(symbols=symbols), query) == pytest.approx(expected)


def test_a_heading_is_no_definition() -> None:
    section = place("docs/a.md", symbols=("Check login",), kind="prose")
    assert factor(section, "check login") == 1.0


def test_what_was_not_found_is_not_raised() -> None:
    assert factor(place(symbols=("login",)), "login", score=0.0) == 0.0


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
    assert factor(place(path), query, unit="file") == pytest.approx(expected)
    assert factor(place(path), query) == 1.0


def test_kinds_and_their_factors() -> None:
    places = [
        place(),
        place(traits=Trait.TEST),
        place(symbols=("tests",)),
        place(traits=Trait.VENDORED | Trait.TEST),
        place("docs/tests.md", kind="prose", traits=Trait.DOCS | Trait.TEST),
    ]
    expected = [1.0, RULES.test, RULES.test, RULES.vendored * RULES.test, RULES.docs]
    assert kind_factors(places, RULES) == pytest.approx(expected)
    assert kind_factors(places, PLAIN).tolist() == [1.0] * 5
