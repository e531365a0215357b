"""Contextual retrieval: a chat model writes a sentence that situates each chunk in its document."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl

from karat.corpus import Chunk
from karat.corpus.chunkers.base import lines_of
from karat.engines.base import Progress
from karat.engines.caches import Caches
from karat.errors import EngineError, InputError

if TYPE_CHECKING:
    from karat.extensions.llm.batch import CompletionCache, Spend
    from karat.extensions.llm.client import ChatModel, Price


INSTRUCTION = (
    "You are given a document, then one chunk of it. Answer with one short sentence that situates "
    "the chunk within the document, to improve search retrieval of the chunk. Name the subject, "
    "such as the class, the feature or the section that the chunk belongs to. Answer with the "
    "sentence only."
)
MAX_TOKENS = 120
# Longer documents are cut around the chunk: 40,000 characters are about 10,000 tokens.
DOCUMENT_CHARACTERS = 40_000
CONTEXT_CHARACTERS = 600
WORKERS = 8
# US dollars, where the price of the model is known and no budget is given.
DEFAULT_BUDGET = 5.0
OPTIONS = ("budget", "price", "workers")
# What this process has spent, by model, price and budget.
BUDGETS: "dict[tuple[str, Price | None, float | None], Spend]" = {}


class ContextSpec(NamedTuple):
    """A chat model, and the options of its use; *price* and *budget* are in US dollars."""

    model: str
    price: "Price | None" = None
    budget: float | None = None
    workers: int = WORKERS


def parse_context(text: str) -> ContextSpec:
    """Return the model and the options of ``<model>?budget=...&price=...&workers=...``.

    >>> parse_context("openai/gpt-4o-mini?budget=2.5&price=0.15,0.6")
    ContextSpec(model='openai/gpt-4o-mini', price=Price(prompt=0.15, completion=0.6), budget=2.5, \
workers=8)
    >>> parse_context("openai/gpt-4o-mini?bugdet=2")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: context openai/gpt-4o-mini: no option 'bugdet'; known: budget, price, \
workers
    """
    from karat.extensions.llm.client import parse_price, reject_user_info

    reject_user_info(text)
    model, _, query = text.partition("?")
    if not model.strip():
        raise InputError(f"context {text!r}: no model is named; expected <model>?<options>")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := [name for name in options if name not in OPTIONS]:
        raise InputError(f"context {model}: no option {unknown[0]!r}; known: {', '.join(OPTIONS)}")
    budget, workers = options.get("budget"), options.get("workers", str(WORKERS))
    if not (workers.isascii() and workers.isdigit() and 1 <= int(workers) <= 64):
        raise InputError(f"context {model}: workers={workers}; expected a number from 1 to 64")
    return ContextSpec(
        model,
        parse_price(options["price"]) if "price" in options else None,
        None if budget is None else _budget(budget, model),
        int(workers),
    )


def _budget(text: str, model: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf:
        raise InputError(f"context {model}: budget={text}; expected US dollars, from 0 up")
    return amount


class ChatContextWriter:
    """Adds to chunks the sentences that the model of *text* writes.

    Answers are cached by model, instruction, document and chunk. *spend* counts requests, tokens
    and US dollars of this writer; all writers of a process with the same model, price and budget
    share that budget.
    """

    def __init__(
        self,
        text: str,
        *,
        caches: Caches,
        open_model: "Callable[[ContextSpec], ChatModel] | None" = None,
    ) -> None:
        """Open the model; nothing is sent."""
        from karat.extensions.llm.batch import Spend

        self.spec = parse_context(text)
        self._caches = caches
        self._model = (open_model or _opened)(self.spec)
        if self.spec.budget is not None and self._model.price is None:
            raise InputError(
                f"context {self.spec.model}: the price is unknown, so the budget cannot be "
                "enforced; add "
                "price=PROMPT,ANSWER, US dollars per million tokens (0,0 if free)"
            )
        default = None if self._model.price is None else DEFAULT_BUDGET
        limit = default if self.spec.budget is None else self.spec.budget
        key = self.spec.model, self._model.price, limit
        self.spend = Spend(limit, shared=BUDGETS.setdefault(key, Spend(limit)))
        self.progress: Progress | None = None

    def write(self, documents: Sequence[tuple[str, Sequence[Chunk]]]) -> list[list[Chunk]]:
        """Return the chunks of each document, a text with its chunks, with their contexts.

        The id of a chunk changes with its context. EngineError is raised if a context is missing.
        """
        from karat.extensions.llm.batch import complete_all
        from karat.extensions.llm.client import Prompt

        prompts = [
            Prompt(INSTRUCTION, prompt_text(text, chunk), MAX_TOKENS)
            for text, chunks in documents
            for chunk in chunks
        ]
        contexts = [""] * len(prompts)
        problems: list[str] = []
        with self._caches.alone(f"context {self.spec.model}"), self._cache() as cache:
            answers = complete_all(
                self._model, prompts, spend=self.spend, cache=cache, workers=self.spec.workers
            )
            for done, (number, answer) in enumerate(answers, 1):
                if isinstance(answer, EngineError):
                    problems.append(str(answer))
                else:
                    contexts[number] = sentence(answer.text)
                if self.progress:
                    self.progress(done, len(prompts))
        self._check(contexts, problems)
        remaining = iter(contexts)
        return [[situated(chunk, next(remaining)) for chunk in chunks] for _, chunks in documents]

    def work(self) -> dict[str, float]:
        """Return the contexts written and reused, their tokens and their cost so far."""
        spend = self.spend
        return {
            "contexts": spend.requests - spend.retries - spend.failed,
            "contexts_reused": spend.cached,
            "context_tokens": spend.prompt_tokens + spend.completion_tokens,
            "context_cost": spend.cost,
        }

    def _check(self, contexts: Sequence[str], problems: Sequence[str]) -> None:
        missing = sum(not context for context in contexts)
        if not missing:
            return
        if self.spend.is_stopped:
            why = (
                f"the budget of ${self.spend.limit:g} for all indexes of this process is spent; "
                "raise it with ?budget="
            )
        else:
            why = problems[0] if problems else "the answers of the model are empty"
        raise EngineError(
            f"context {self.spec.model}: {missing:,} of {len(contexts):,} chunks have no context: "
            f"{why}. Contexts that were written are cached: run again for the others"
        )

    @contextmanager
    def _cache(self) -> "Iterator[CompletionCache | None]":
        from karat.extensions.llm.batch import answer_cache

        if self._caches.folder is None:
            yield None
            return
        with answer_cache(self._caches.folder) as cache:
            yield cache


def _opened(spec: ContextSpec) -> "ChatModel":
    from karat.extensions.llm.client import open_model

    return open_model(spec.model, price=spec.price)


def prompt_text(document: str, chunk: Chunk) -> str:
    """Return the document and the chunk, as the model reads them.

    The document comes first, so that a provider can reuse it for all its chunks.
    """
    whole = around(document, chunk.text, line=chunk.start_line)
    return f"<document>\n{whole}\n</document>\n<chunk>\n{chunk.text}\n</chunk>"


def around(document: str, part: str, *, line: int = 1, most: int = DOCUMENT_CHARACTERS) -> str:
    r"""Return *document*, or *most* characters of it around *part*, which starts in *line*.

    >>> around("one two three four five", "three", most=13)
    'two three fou'
    >>> around("end\nclass A:\nend\nclass B:\nend\n", "end\n", line=5, most=13)
    'class B:\nend\n'
    """
    if len(document) <= most:
        return document
    before = sum(map(len, lines_of(document)[: line - 1]))
    middle = max(before, document.find(part, before)) + len(part) // 2
    start = min(max(0, middle - most // 2), len(document) - most)
    return document[start : start + most]


def sentence(answer: str) -> str:
    r"""Return *answer* as one line of limited length.

    >>> sentence(" It describes\n the login. ")
    'It describes the login.'
    """
    return " ".join(answer.split())[:CONTEXT_CHARACTERS]


def situated(chunk: Chunk, context: str) -> Chunk:
    """Return *chunk* with its *context*, and an id that depends on both."""
    key = f"{chunk.id}\0{context}".encode("utf-8", "surrogatepass")
    return replace(chunk, id=blake2b(key, digest_size=16).hexdigest(), context=context)


class ChatContexts:
    """Opens writers of contexts by chat models."""

    def __call__(self, argument: str, *, caches: Caches) -> ChatContextWriter:
        """Return the writer of ``<model>?<options>``."""
        return ChatContextWriter(argument, caches=caches)

    def check(self, argument: str) -> None:
        """Raise InputError for a wrong or missing option, price or key; nothing is sent."""
        ChatContextWriter(argument, caches=Caches(None))
        model = parse_context(argument).model
        if "://" in model:
            return
        import litellm

        if missing := litellm.validate_environment(model=model).get("missing_keys"):
            raise InputError(
                f"context {model}: the provider needs an API key; set {', '.join(missing)}"
            )


chat = ChatContexts()
