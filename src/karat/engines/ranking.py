"""What a reader of code expects of an order: definitions first, tests, copies and prose later.

The factors were chosen by cross-validation over repositories; see design/0004-order-of-code.md.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Trait
from karat.engines.fusion import Scores, top
from karat.engines.names import Names, words_of
from karat.engines.places import Place, Places

__all__ = ["PLAIN", "RankingRules", "diversified", "kind_factors", "raised"]

TEST_SCOPES = frozenset({"test", "tests", "spec", "specs"})
# How many further places of a file speak for it.
WITNESSES = 3
# Places further down are not raised for what the query names; none of them would come to the top.
RAISED = 500


@dataclass(frozen=True, slots=True)
class RankingRules:
    """Factors on a place's score; 1 leaves it as it is.

    *test*, *docs*, *config*, *vendored* and *generated* are for places of that kind, whatever found
    them. *definition* is for words in code that defines a name made of them. The others hold only
    where whole files are judged: *stem* is for words in a file whose name is made of them, a file's
    best place earns the share *coherence* of the next ones, and each further place counts
    *diversity* of the one before.
    """

    test: float = 0.7
    docs: float = 0.5
    config: float = 0.5
    vendored: float = 0.5
    generated: float = 0.5
    definition: float = 1.8
    stem: float = 1.5
    coherence: float = 0.1
    diversity: float = 0.5

    @property
    def mixes_files(self) -> bool:
        """Return whether another place of the same file changes what a place counts."""
        return self.coherence != 0.0 or self.diversity != 1.0


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


def raised(scores: Scores, names: Names, query: str, rules: RankingRules, *, unit: str) -> Scores:
    """Return the *scores* of words, more where words of *query* make up a name.

    That is the name of something defined, and where *unit* is ``file`` that of the file as well.
    """
    result = scores.copy()
    words = words_of(query)
    rows = top(scores, RAISED)
    result[rows] *= _factors(names.defined(rows, words), rules.definition)
    if unit == "file":
        result[rows] *= _factors(names.files(rows, words), rules.stem)
    return result


def diversified(scores: Scores, places: Places, k: int, rules: RankingRules) -> NDArray[np.intp]:
    """Return *k* rows best first for a reader who wants files.

    A file's best place is worth its score and a share of the next ones; its second place counts
    *diversity* of its own score, its third that of the second, and so on. Both rules expect scores
    whose ratios mean something: cosines and reciprocal ranks are stretched before.
    """
    found = top(scores, len(scores))
    worth = scores[found]
    # The places of each file stand together here, best first; the n-th of its file has turn n.
    together = np.argsort(places.files[found], kind="stable")
    files = places.files[found[together]]
    begins = np.flatnonzero(np.diff(files, prepend=-1))
    turns = np.arange(len(found)) - np.repeat(begins, np.diff(begins, append=len(found)))
    shares = [rules.diversity**turn for turn in range(int(turns.max(initial=0)) + 1)]
    told = np.zeros(len(begins), np.float32)
    for witness in range(1, WITNESSES + 1):
        of_file = np.flatnonzero(turns == witness)
        told[np.searchsorted(begins, of_file, side="right") - 1] += worth[together[of_file]]
    counted = worth[together] * np.array(shares, np.float32)[turns]
    counted[begins] += (rules.coherence * told.astype(np.float64)).astype(np.float32)
    worth[together] = counted
    order = np.argsort(-worth, kind="stable")
    return found[order[:k]]


def _factors(shares: NDArray[np.float64], most: float) -> Scores:
    """Return a factor from 1 to *most* for each of *shares*."""
    return (1.0 + (most - 1.0) * shares).astype(np.float32)


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
    if place.chunk.kind == "prose":
        # A manual's page about testing is no test.
        return False
    if Trait.TEST in place.traits:
        return True
    return any(name.lower() in TEST_SCOPES for name in (*place.chunk.scope, *place.chunk.symbols))
