"""What a reader of code expects of an order: definitions first, tests, copies and prose later.

The factors were chosen on two public sets of questions; see design/0004-order-of-code.md.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from posixpath import basename, dirname, splitext

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Trait
from karat.engines.fusion import Scores, top
from karat.engines.lexical.tokens import TokenRules
from karat.engines.places import Place, Places

__all__ = ["PLAIN", "RankingRules", "adjusted", "diversified", "kind_factors"]

IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
TEST_SCOPES = frozenset({"test", "tests", "spec", "specs"})
# File names that say nothing; the folder's name says it for them.
EMPTY_STEMS = frozenset({"mod", "index", "__init__", "lib", "main", "core"})
TERMS = TokenRules()
# How many further places of a file speak for it.
WITNESSES = 3


@dataclass(frozen=True, slots=True)
class RankingRules:
    """Factors on a place's score; 1 leaves it as it is.

    *test*, *docs*, *config*, *vendored* and *generated* are for places of that kind. *definition*
    is for a place that defines a name which the query spells out, *stem* for a file whose name is
    made of words of the query. Only where whole files are judged, a file's best place earns the
    share *coherence* of the next ones, and each further place counts *diversity* of the one before.
    """

    test: float = 0.7
    docs: float = 0.5
    config: float = 0.5
    vendored: float = 0.5
    generated: float = 0.5
    definition: float = 1.3
    stem: float = 1.5
    coherence: float = 0.1
    diversity: float = 0.5


PLAIN = RankingRules(
    test=1.0,
    docs=1.0,
    config=1.0,
    vendored=1.0,
    generated=1.0,
    definition=1.0,
    stem=1.0,
    coherence=0.0,
    diversity=1.0,
)


def kind_factors(places: Collection[Place], rules: RankingRules) -> Scores:
    """Return the factor of each place that depends on what it is, whatever is asked."""
    return np.fromiter((_factor(place, rules) for place in places), np.float32, len(places))


def adjusted(
    scores: Scores, factors: Scores, places: Places, query: str, rules: RankingRules
) -> Scores:
    """Return *scores* times the *factors* of their places, and more for what the query names."""
    result = scores * factors
    names = {word.lower() for word in IDENTIFIER.findall(query) if _spelled_out(word)}
    words = frozenset(TERMS.terms(query))
    by_file: dict[str, float] = {}
    for row in np.flatnonzero(scores > 0):
        place = places.rows[row]
        if place.path not in by_file:
            by_file[place.path] = 1.0 + (rules.stem - 1.0) * _named_share(place.path, words)
        factor = by_file[place.path]
        if names and names.intersection(map(str.lower, place.chunk.symbols)):
            factor *= rules.definition
        if factor != 1.0:
            result[row] *= factor
    return result


def diversified(scores: Scores, places: Places, k: int, rules: RankingRules) -> NDArray[np.intp]:
    """Return *k* rows best first for a reader who wants files.

    A file's best place is worth its score and a share of the next ones; its second place counts
    *diversity* of its own score, its third that of the second, and so on.
    """
    found = top(scores, len(scores))
    of_file: dict[int, list[int]] = {}
    for position, row in enumerate(found):
        of_file.setdefault(int(places.files[row]), []).append(position)
    worth = scores[found].copy()
    for positions in of_file.values():
        witnesses = positions[1 : WITNESSES + 1]
        worth[positions[0]] += rules.coherence * float(scores[found[witnesses]].sum())
        for earlier, position in enumerate(positions):
            worth[position] *= rules.diversity**earlier
    order = np.argsort(-worth, kind="stable")
    return found[order[:k]]


def _spelled_out(word: str) -> bool:
    """Say whether *word* is written as a name in code, not as a word of English."""
    return "_" in word or not (word.islower() or word.istitle() or word.isupper())


def _named_share(path: str, words: frozenset[str]) -> float:
    """Return which share of the words in a file's name the query has."""
    stem = splitext(basename(path))[0]
    if stem.lower() in EMPTY_STEMS:
        stem = f"{stem} {basename(dirname(path))}"
    own = set(TERMS.terms(stem))
    return len(own & words) / len(own) if own else 0.0


def _factor(place: Place, rules: RankingRules) -> float:
    of_trait: Mapping[Trait, float] = {
        Trait.DOCS: rules.docs,
        Trait.CONFIG: rules.config,
        Trait.LOCK: rules.config,
        Trait.VENDORED: rules.vendored,
        Trait.GENERATED: rules.generated,
        Trait.MINIFIED: rules.generated,
    }
    factor = rules.test if _is_test(place) else 1.0
    for trait, penalty in of_trait.items():
        if trait in place.traits:
            factor *= penalty
    return factor


def _is_test(place: Place) -> bool:
    if Trait.TEST in place.traits:
        return True
    return any(name.lower() in TEST_SCOPES for name in (*place.chunk.scope, *place.chunk.symbols))
