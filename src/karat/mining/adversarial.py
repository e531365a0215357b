"""Queries made worse on purpose, as further questions of a case.

Typos of neighbouring keys, other words for the same, and a thing that is not meant.
"""

import random
import re
from enum import StrEnum

from karat.mining.words import is_identifier

__all__ = ["Attack", "attacks"]


class Attack(StrEnum):
    """What was done to a query; the tag of the query that came out."""

    TYPO = "typo"
    SYNONYM = "synonym"
    NEGATION = "negated-distractor"


_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SHORTEST = 5
_SYNONYMS = {
    "add": "introduce",
    "allow": "permit",
    "argument": "parameter",
    "avoid": "prevent",
    "broken": "defective",
    "bug": "defect",
    "check": "verify",
    "choose": "select",
    "convert": "transform",
    "crash": "abort",
    "create": "make",
    "delete": "erase",
    "disable": "turn off",
    "empty": "blank",
    "enable": "turn on",
    "ensure": "guarantee",
    "error": "failure",
    "exception": "error",
    "fast": "quick",
    "fetch": "retrieve",
    "fix": "repair",
    "folder": "directory",
    "directory": "folder",
    "hide": "conceal",
    "ignore": "disregard",
    "improve": "enhance",
    "incorrect": "wrong",
    "invalid": "illegal",
    "keep": "retain",
    "limit": "restrict",
    "missing": "absent",
    "multiple": "several",
    "option": "setting",
    "parameter": "argument",
    "prevent": "avoid",
    "raise": "throw",
    "remove": "drop",
    "replace": "substitute",
    "return": "give back",
    "send": "transmit",
    "setting": "option",
    "show": "display",
    "skip": "pass over",
    "slow": "sluggish",
    "stop": "halt",
    "use": "employ",
    "wrong": "incorrect",
}
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
    synonym: repair the abort of getUser
    negated-distractor: fix the crash of getUser, not the tests
    """
    made = {
        Attack.TYPO: _with_typo(query, rng),
        Attack.SYNONYM: _with_synonyms(query),
        Attack.NEGATION: _with_distractor(query, rng),
    }
    return {attack: text for attack, text in made.items() if text != query}


def _with_typo(query: str, rng: random.Random) -> str:
    words = query.split(" ")
    able = [
        place
        for place, word in enumerate(words)
        if len(word) >= _SHORTEST and word.isascii() and word.isalpha() and not is_identifier(word)
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


def _with_synonyms(query: str) -> str:
    return " ".join(
        word if is_identifier(word) else _WORD.sub(_synonym, word) for word in query.split(" ")
    )


def _synonym(word: re.Match[str]) -> str:
    return _SYNONYMS.get(word[0], word[0])


def _with_distractor(query: str, rng: random.Random) -> str:
    """Return *query* with something that it does not speak of, as not meant."""
    spoken = set(_WORD.findall(query.lower()))
    free = [thing for thing in _DISTRACTORS if spoken.isdisjoint(thing.split()[1:])]
    return f"{query}, not {rng.choice(free)}" if free else query
