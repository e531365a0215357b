"""Rewrite queries with a language model; a bad answer falls back to the query of the rules."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from karat.errors import EngineError
from karat.mining.commits import Candidate
from karat.mining.leaks import Leak, leak
from karat.mining.words import LEAST_WORDS, content_words, is_identifier

__all__ = [
    "PROMPT",
    "Complete",
    "RewriteStatus",
    "Rewriter",
    "RewrittenQuery",
    "check_rewrite",
]

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
