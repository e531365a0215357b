"""Queries made worse on purpose, as further questions of a case.

A slip to a neighbouring key, and a thing that is not meant. Other words for the same were tried
too, and left out because no search minded them; see docs/mining.md.
"""

import random
import re
from enum import StrEnum

from karat.mining.words import content_words, is_identifier

__all__ = ["Attack", "attacks"]


class Attack(StrEnum):
    """What was done to a query; the tag of the query that came out."""

    TYPO = "typo"
    NEGATION = "negated-distractor"


_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SHORTEST = 5
_DISTRACTORS = (
    "the documentation",
    "the tests",
    "the build scripts",
    "the logging",
    "the command line",
    "the configuration",
    "the database layer",
    "the templates",
)
_WORD = re.compile(r"[A-Za-z]+")


def attacks(query: str, rng: random.Random) -> dict[Attack, str]:
    """Return *query* after each attack that can be made on it; chance comes from *rng* alone.

    Names out of code are left as they are, for those who search copy them.

    >>> for attack, text in attacks("fix the crash of getUser", random.Random(1)).items():
    ...     print(f"{attack}: {text}")
    typo: fix the ctash of getUser
    negated-distractor: fix the crash of getUser, not the tests
    """
    made = {
        Attack.TYPO: _with_typo(query, rng),
        Attack.NEGATION: _with_distractor(query, rng),
    }
    return {attack: text for attack, text in made.items() if text != query}


def _with_typo(query: str, rng: random.Random) -> str:
    """Return *query* with a slip in a word that tells where to look; others hurt no search.

    Whoever types a number looks at it.
    """
    words = query.split(" ")
    telling = content_words(query)
    able = [
        place
        for place, word in enumerate(words)
        if len(word) >= _SHORTEST
        and word.isalpha()
        and word.lower() in telling
        and not is_identifier(word)
    ]
    if not able:
        return query
    place = rng.choice(able)
    words[place] = _mistyped(words[place], rng)
    return " ".join(words)


def _mistyped(word: str, rng: random.Random) -> str:
    """Return *word* with one letter, never the first, replaced by its neighbour on the keyboard."""
    letter = rng.randrange(1, len(word))
    return word[:letter] + _neighbour(word[letter].lower(), rng) + word[letter + 1 :]


def _neighbour(letter: str, rng: random.Random) -> str:
    row = next(row for row in _ROWS if letter in row)
    place = row.index(letter)
    return rng.choice(row[max(place - 1, 0) : place] + row[place + 1 : place + 2])


def _with_distractor(query: str, rng: random.Random) -> str:
    """Return *query* with something that it does not speak of, as not meant."""
    spoken = set(_WORD.findall(query.lower()))
    free = [thing for thing in _DISTRACTORS if spoken.isdisjoint(thing.split()[1:])]
    return f"{query}, not {rng.choice(free)}" if free else query
