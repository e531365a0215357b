"""Queries rewritten by a language model: checked like any other, and the rules' where they fail."""

import json
import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from karat.errors import EngineError, MissingExtra
from karat.formats.atomic import write_text
from karat.mining.commits import Candidate
from karat.mining.leaks import Leak, leak
from karat.mining.words import LEAST_WORDS, content_words, is_identifier

__all__ = [
    "PROMPT",
    "Complete",
    "RewriteStatus",
    "Rewriter",
    "RewrittenQuery",
    "check",
    "completer",
]

# Returns the answer of a model to an instruction and a text; EngineError where there is none.
Complete = Callable[[str, str], str]


def completer(
    model: str, *, api_base: str | None = None, timeout_s: float = 60.0, retries: int = 2
) -> Complete:
    """Return what asks *model*, named as litellm does (``openai/gpt-4o-mini``, ``ollama/llama3``).

    Keys come from the environment, as litellm reads them. *api_base* is the address of a server
    that speaks OpenAI's format.
    """
    # litellm else asks the network for a list of prices when it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        import litellm
        import openai
    except ImportError as error:
        raise MissingExtra("litellm", extra="llm", purpose="rewriting queries") from error

    # It prints advice to standard output beside every error.
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
        except openai.OpenAIError as error:  # every error of litellm is one
            said = str(error).partition("\n")[0]
            raise EngineError(f"{model}: {type(error).__name__}: {said}") from error
        content = answer.choices[0].message.content
        if not isinstance(content, str) or not content.strip():
            raise EngineError(f"{model}: the answer is empty; expected a question")
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
    """Where the text of a query comes from: a model, or the rules and why."""

    REWRITTEN = "rewritten"
    RULES = "rules"
    FAILED = "llm_failed"
    LEAKED = "llm_leaked"
    TOO_SHORT = "llm_too_short"
    TOO_LONG = "llm_too_long"


class RewrittenQuery(NamedTuple):
    """The text of a query, and where it comes from."""

    text: str
    status: RewriteStatus


class Rewriter:
    """Asks *complete*, which speaks for *model*, once for each commit; answers stay in *folder*.

    An answer is kept by commit, prompt and model, so that a second run asks nothing and gives the
    same. A failure is not kept. Which answers pass is decided anew in each run.
    """

    def __init__(
        self, complete: Complete, *, model: str, folder: Path, prompt: str = PROMPT
    ) -> None:
        """Ask with *prompt*; *folder* is created when there is something to keep."""
        self._complete = complete
        self._folder = folder
        self._prompt = prompt
        self._kind = f"{sha256(prompt.encode()).hexdigest()}\0{model}"

    def rewrite(self, candidate: Candidate) -> RewrittenQuery:
        """Return the model's query for *candidate*; where it fails, that of the rules."""
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
        status = check(text, candidate.query, candidate.paths)
        return RewrittenQuery(
            text if status is RewriteStatus.REWRITTEN else candidate.query, status
        )

    def _file(self, candidate: Candidate) -> Path:
        key = sha256(f"{candidate.commit.id}\0{self._kind}".encode()).hexdigest()
        return self._folder / f"{key}.json"


def check(text: str, query: str, paths: Sequence[str]) -> RewriteStatus:
    """Say whether *text* may stand for *query*: long enough, and it gives away no more.

    A name out of code is a leak. So is any step of the ladder above PART that the query of the
    rules does not reach, and the name or path of a file always.

    >>> paths = ["src/sessions.py"]
    >>> check("users are logged out when the cookie expires early", "fix expiry", paths).value
    'rewritten'
    >>> check("where does sessions.py set the cookie lifetime", "fix expiry", paths).value
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
    """Return a kept answer; None where there is none, or none that can be read."""
    try:
        answer = json.loads(path.read_text(encoding="utf-8"))["answer"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return answer if isinstance(answer, str) else None
