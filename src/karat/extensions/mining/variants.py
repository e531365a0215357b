"""Variants of a query: hardness levels, adversarial attacks, and rewriting by a model."""

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from karat.errors import EngineError
from karat.extensions.mining.commits import Candidate
from karat.extensions.mining.words import (
    LEAST_WORDS,
    Leak,
    content_words,
    is_identifier,
    leak,
    parts,
)

# Returns a model's answer to an instruction and a text; raises EngineError on failure.
Complete = Callable[[str, str], str]


PROMPT = """\
You turn commit messages into search queries. Someone does not know this change; they search the
code from before it, for the place that has to be changed. Write the one sentence that they would
type: the symptom that they see or the behaviour that they want, in everyday words.
Never name a file, folder, module, class, function, variable, option or any other identifier, not
even one from the message. Do not mention the commit, a ticket, a person or a version.
Answer with that sentence alone: at most 25 words, no quotation marks.
"""
_MOST_WORDS = 40
_MOST_CHARACTERS = 2000


class RewriteStatus(StrEnum):
    """The origin of a query text: a model, or the rules and the reason."""

    REWRITTEN = "rewritten"
    RULES = "rules"
    FAILED = "llm_failed"
    LEAKED = "llm_leaked"
    TOO_SHORT = "llm_too_short"
    TOO_LONG = "llm_too_long"


class RewrittenQuery(NamedTuple):
    """The text of a query, and its origin."""

    text: str
    status: RewriteStatus


class Rewriter:
    """Calls *complete*, a language model, once per commit; each answer is checked."""

    def __init__(self, complete: Complete, *, prompt: str = PROMPT) -> None:
        """Use *prompt*."""
        self._complete = complete
        self._prompt = prompt

    def rewrite(self, candidate: Candidate) -> RewrittenQuery:
        """Return the model's query for *candidate*, or that of the rules if the model fails."""
        try:
            answer = self._complete(self._prompt, candidate.commit.message[:_MOST_CHARACTERS])
        except EngineError:
            return RewrittenQuery(candidate.query, RewriteStatus.FAILED)
        text = " ".join(answer.split()).strip("\"'“” ")
        status = check_rewrite(text, candidate.query, candidate.paths)
        return RewrittenQuery(
            text if status is RewriteStatus.REWRITTEN else candidate.query, status
        )


def check_rewrite(text: str, query: str, paths: Sequence[str]) -> RewriteStatus:
    """Return whether *text* may replace *query*: it is long enough and reveals no more.

    A code identifier is a leak. So is a leak level above PART that the query of the rules does not
    reach, and always the name or path of a file.

    >>> paths = ["src/sessions.py"]
    >>> check_rewrite("users are logged out when the cookie expires", "fix expiry", paths).value
    'rewritten'
    >>> check_rewrite("where does sessions.py set the cookie lifetime", "fix expiry", paths).value
    'llm_leaked'
    """
    if len(content_words(text)) < LEAST_WORDS:
        return RewriteStatus.TOO_SHORT
    if text.count(" ") >= _MOST_WORDS:
        return RewriteStatus.TOO_LONG
    allowed = min(max(Leak.PART, leak(query, paths)), Leak.STEM)
    if leak(text, paths) > allowed or any(map(is_identifier, text.split())):
        return RewriteStatus.LEAKED
    return RewriteStatus.REWRITTEN


class Attack(StrEnum):
    """An attack on a query; also the tag of the attacked query."""

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
    """Return *query* after each attack that applies to it; randomness comes from *rng* only.

    Code identifiers stay unchanged, because developers copy them.

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
    """Return *query* with a typo in a content word; a typo elsewhere does not affect a search.

    Numbers stay unchanged, because people check them while typing.
    """
    words = query.split(" ")
    telling = content_words(query)
    able = [
        index
        for index, word in enumerate(words)
        if len(word) >= _SHORTEST
        and word.isalpha()
        and word.lower() in telling
        and not is_identifier(word)
    ]
    if not able:
        return query
    index = rng.choice(able)
    words[index] = _mistyped(words[index], rng)
    return " ".join(words)


def _mistyped(word: str, rng: random.Random) -> str:
    """Return *word* with one letter, never the first, replaced by its neighbour on the keyboard."""
    letter = rng.randrange(1, len(word))
    return word[:letter] + _neighbour(word[letter].lower(), rng) + word[letter + 1 :]


def _neighbour(letter: str, rng: random.Random) -> str:
    row = next(row for row in _ROWS if letter in row)
    column = row.index(letter)
    return rng.choice(row[max(column - 1, 0) : column] + row[column + 1 : column + 2])


def _with_distractor(query: str, rng: random.Random) -> str:
    """Return *query* with an unrelated topic that is explicitly not wanted."""
    spoken = set(_WORD.findall(query.lower()))
    free = [thing for thing in _DISTRACTORS if spoken.isdisjoint(thing.split()[1:])]
    return f"{query}, not {rng.choice(free)}" if free else query


class Level(StrEnum):
    """The hardness: all words, no paths, identifiers split into words, no identifiers."""

    CLEANED = "cleaned"
    MASKED = "masked"
    WORDS = "words"
    DROPPED = "dropped"


_PATHLIKE = re.compile(r"\w/[\w.-]+\.\w+|^\.?/\w|\w/\w[\w.-]*/\w")
# Words that dangle once the word after them is removed.
_BEFORE_NAMES = """
a an and as at before by for from in inside into of on or per the this to using via when with within
"""
_LEADING = frozenset(_BEFORE_NAMES.split())


def levels(
    query: str,
    paths: Sequence[str],
    *,
    requested: Iterable[Level] = Level,
    least: int = LEAST_WORDS,
) -> dict[Level, str]:
    """Return *query* at each level of *requested* that leaves at least *least* content words.

    *paths* are the target paths before the change.

    >>> for level, text in levels(
    ...     "fix crash of getUser() with blank password in src/users.py", ["src/users.py"]
    ... ).items():
    ...     print(f"{level}: {text}")
    cleaned: fix crash of getUser() with blank password in src/users.py
    masked: fix crash of getUser() with blank password
    words: fix crash of get user with blank password
    dropped: fix crash with blank password
    """
    leveled = ((level, _MAKERS[level](query, paths)) for level in requested)
    return {
        level: text
        for level, text in leveled
        if level is Level.CLEANED or len(content_words(text)) >= least
    }


def without_paths(query: str, paths: Sequence[str]) -> str:
    """Return *query* without words that spell a path, or a file or module of *paths*.

    >>> without_paths("fix crash in flask.ext and docs/a.rst on reload", ["flask/ext/__init__.py"])
    'fix crash on reload'
    """
    return _without(query, lambda word: _spells_path(word, paths))


def _spells_path(word: str, paths: Sequence[str]) -> bool:
    if "." not in word and "/" not in word and "::" not in word:
        return False
    return bool(_PATHLIKE.search(word)) or leak(word, paths) >= Leak.BASENAME


def _as_words(text: str) -> str:
    words = (" ".join(parts(word)) if is_identifier(word) else word for word in text.split())
    return " ".join(word for word in words if word)


def _without(text: str, drops: Callable[[str], bool]) -> str:
    words: list[str] = []
    for word in text.split():
        if not drops(word):
            words.append(word)
            continue
        while words and words[-1].lower() in _LEADING:
            words.pop()
    return " ".join(words).strip(" ,;:-")


_MAKERS: Mapping[Level, Callable[[str, Sequence[str]], str]] = {
    Level.CLEANED: lambda query, _: query,
    Level.MASKED: without_paths,
    Level.WORDS: lambda query, paths: _as_words(without_paths(query, paths)),
    Level.DROPPED: lambda query, paths: _without(without_paths(query, paths), is_identifier),
}
