"""What a reader of code expects of an order: definitions first, tests and copies later.

The factors were chosen by cross-validation over repositories; see design/0004.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Trait
from karat.engines.fusion import Scores, top
from karat.engines.places import Place, Places

__all__ = ["PLAIN", "RankingRules", "adjusted", "diversified", "kind_factors"]

IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
TEST_SCOPES = frozenset({"test", "tests", "spec", "specs"})


@dataclass(frozen=True, slots=True)
class RankingRules:
    """Factors on a place's score; 1 leaves it as it is.

    *test*, *vendored* and *generated* are for places of that kind. *definition* is for a place
    that defines a name which the query spells out. *diversity* is for each further place of a file
    already listed, and only where whole files are judged.
    """

    test: float = 0.7
    vendored: float = 0.5
    generated: float = 0.5
    definition: float = 1.3
    diversity: float = 0.5


PLAIN = RankingRules(test=1.0, vendored=1.0, generated=1.0, definition=1.0, diversity=1.0)


def kind_factors(places: Places, rules: RankingRules) -> Scores:
    """Return the factor of each place that depends on what it is, whatever is asked."""
    return np.fromiter((_factor(place, rules) for place in places), np.float32, len(places))


def adjusted(
    scores: Scores, factors: Scores, places: Places, query: str, rules: RankingRules
) -> Scores:
    """Return *scores* times the *factors* of their places, and more for what the query names."""
    result = scores * factors
    if rules.definition != 1.0:
        names = {word.lower() for word in IDENTIFIER.findall(query) if _spelled_out(word)}
        if names:
            for row in np.flatnonzero(scores > 0):
                if names.intersection(map(str.lower, places.rows[row].chunk.symbols)):
                    result[row] *= rules.definition
    return result


def diversified(scores: Scores, places: Places, k: int, rules: RankingRules) -> NDArray[np.intp]:
    """Return *k* rows best first, where a file's second place counts *diversity*, its third less.

    Each file's best place keeps its score, so that the order of files is the order of these.
    """
    found = top(scores, len(scores))
    seen: dict[int, int] = {}
    worth = np.empty(len(found), np.float32)
    files = places.files
    for position, row in enumerate(found):
        earlier = seen.get(int(files[row]), 0)
        worth[position] = scores[row] * rules.diversity**earlier
        seen[int(files[row])] = earlier + 1
    order = np.argsort(-worth, kind="stable")
    return found[order[:k]]


def _spelled_out(word: str) -> bool:
    """Say whether *word* is written as a name in code, not as a word of English."""
    return "_" in word or not (word.islower() or word.istitle() or word.isupper())


def _factor(place: Place, rules: RankingRules) -> float:
    factor = 1.0
    if _is_test(place):
        factor *= rules.test
    if Trait.VENDORED in place.traits:
        factor *= rules.vendored
    if Trait.GENERATED in place.traits or Trait.MINIFIED in place.traits:
        factor *= rules.generated
    return factor


def _is_test(place: Place) -> bool:
    if Trait.TEST in place.traits:
        return True
    return any(name.lower() in TEST_SCOPES for name in (*place.chunk.scope, *place.chunk.symbols))
