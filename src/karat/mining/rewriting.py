"""Rewrite queries with a language model; a bad answer falls back to the query of the rules."""

import json
import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from karat.errors import EngineError, MissingExtra
from karat.mining.commits import Candidate
from karat.mining.leaks import Leak, leak
from karat.mining.words import LEAST_WORDS, content_words, is_identifier
from karat.system.files import write_text

__all__ = [
    "PROMPT",
    "Complete",
    "RewriteStatus",
    "Rewriter",
    "RewrittenQuery",
    "check_rewrite",
    "make_completer",
]

# Returns a model's answer to an instruction and a text; raises EngineError on failure.
Complete = Callable[[str, str], str]


def make_completer(
    model: str, *, api_base: str | None = None, timeout_s: float = 60.0, retries: int = 2
) -> Complete:
    """Return a function that calls *model*, such as ``openai/gpt-4o-mini`` or ``ollama/llama3``.

    Model names are those of litellm, which reads API keys from the environment. *api_base* is the
    address of a server with an OpenAI-compatible API.
    """
    # Without this, litellm downloads a list of prices at import.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        import litellm
        import openai
    except ImportError as error:
        raise MissingExtra("litellm", extra="llm", purpose="rewriting queries") from error

    # litellm prints advice to standard output with every error.
    litellm.suppress_debug_info = True

    def complete(instruction: str, text: str) -> str:
        messages = [
            {"role": "system", "content": instruction},
            {"role": "user", "content": text},
        ]
        try:
            answer = litellm.completion(
                model=model,
                messages=messages,
                temperature=0,
                timeout=timeout_s,
                max_retries=retries,
                api_base=api_base,
            )
        except openai.OpenAIError as error:  # all litellm errors derive from it
            said = str(error).partition("\n")[0]
            raise EngineError(f"{model}: {type(error).__name__}: {said}") from error
        content = answer.choices[0].message.content
        if not isinstance(content, str) or not content.strip():
            raise EngineError(f"{model}: the answer is empty; expected a query")
        return content

    return complete


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
    """Calls *complete*, which queries *model*, once per commit; caches answers in *folder*.

    The cache key is commit, prompt and model, so a second run makes no calls and gives the same
    result. Failures are not cached. Each run checks cached answers again.
    """

    def __init__(
        self, complete: Complete, *, model: str, folder: Path, prompt: str = PROMPT
    ) -> None:
        """Use *prompt*; *folder* is created with the first cached answer."""
        self._complete = complete
        self._folder = folder
        self._prompt = prompt
        self._kind = f"{sha256(prompt.encode()).hexdigest()}\0{model}"

    def rewrite(self, candidate: Candidate) -> RewrittenQuery:
        """Return the model's query for *candidate*, or that of the rules if the model fails."""
        kept = self._file(candidate)
        answer = _read(kept)
        if answer is None:
            try:
                answer = self._complete(self._prompt, candidate.commit.message[:_MOST_CHARACTERS])
            except EngineError:
                return RewrittenQuery(candidate.query, RewriteStatus.FAILED)
            self._folder.mkdir(parents=True, exist_ok=True)
            write_text(kept, json.dumps({"answer": answer}))
        text = " ".join(answer.split()).strip("\"'“” ")
        status = check_rewrite(text, candidate.query, candidate.paths)
        return RewrittenQuery(
            text if status is RewriteStatus.REWRITTEN else candidate.query, status
        )

    def _file(self, candidate: Candidate) -> Path:
        key = sha256(f"{candidate.commit.id}\0{self._kind}".encode()).hexdigest()
        return self._folder / f"{key}.json"


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


def _read(path: Path) -> str | None:
    """Return a cached answer; None if it is missing or unreadable."""
    try:
        answer = json.loads(path.read_text(encoding="utf-8"))["answer"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return answer if isinstance(answer, str) else None
