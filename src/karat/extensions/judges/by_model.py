"""Judge hits with chat models; their labels are stored beside the judgments of people."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import NamedTuple, Protocol, TypeVar

from karat.app.pooling import PooledHit, as_target, best_rank, candidates, matcher_of, pool
from karat.corpus.chunkers.base import lines_of
from karat.errors import EngineError, InputError
from karat.extensions.judges.gold_file import GoldFile
from karat.extensions.judges.prompts import (
    CONTEXT_LINES,
    PROMPT_HASHES,
    InvalidAnswer,
    ModelGrade,
    PassageExcerpt,
    RelevanceTask,
    cut_excerpt,
    first_prompts,
    grade_all,
    hide_injection,
    hide_query_injection,
    suspicious_lines,
)
from karat.extensions.judges.sources import Code, target_text
from karat.extensions.llm.batch import CompletionCache, CostEstimate, Spend, estimate
from karat.extensions.llm.client import (
    ChatModel,
    Price,
    Prompt,
    model_name,
    open_model,
    parse_price,
)
from karat.model import Dataset, Hit, Query, Run, Target
from karat.model.judgments import JudgmentRecord, model_labels_of, time_text, with_model_labels

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# Seconds between two saves while answers arrive; more if a save takes long, so that saving takes
# at most a twentieth of the time.
SAVE_S = 3.0
SAVE_PAUSE = 20
# The first word in the note of a label whose passage addressed the judge.
INJECTION = "injection"
PROBE_SAMPLE = 20
FIRST_FAILURES = 8
FAILURES_IN_A_ROW = 40


class HitPassage(NamedTuple):
    """A hit with the passage that is sent to a model.

    *row* is that of the query, *target* the target that the hit would become, with grade 0. In
    *task* suspicious lines are hidden; *unhidden* has them, *hidden* counts them.
    """

    row: int
    target: Target
    task: RelevanceTask
    unhidden: RelevanceTask
    hidden: int = 0


class SkippedPassage(NamedTuple):
    """A hit without a label, and why."""

    query_id: str
    target: Target
    reason: str


def pooled_hits(
    data: Dataset, runs: Mapping[str, Run], *, depth: int, judged: bool = False
) -> list[PooledHit]:
    """Return the unjudged hits of *runs*; with *judged* also those that people judged."""
    if not judged:
        return pool(data, runs, depth=depth)
    pooled = candidates(data, runs, depth=depth)
    return [item for items in pooled.values() for item in sorted(items, key=best_rank)]


def passages_of(
    data: Dataset, items: Iterable[PooledHit], code: Code
) -> tuple[list[HitPassage], list[SkippedPassage]]:
    """Return the passages of *items*, and the items without a text.

    If no item has a text, InputError names the first reason: then the source is a wrong one.
    """
    matcher = matcher_of(data)
    passages: list[HitPassage] = []
    skipped: list[SkippedPassage] = []
    for item in items:
        target = as_target(item.hit, 0.0, matcher, data.targets(item.row))
        content = code(item.row, item.hit.path)
        lines = lines_of(content.text)
        reason = content.reason or missing_lines(item.hit, lines)
        if reason:
            skipped.append(SkippedPassage(data.query_ids[item.row], target, reason))
        else:
            passages.append(_passage(data.texts[item.row], item, target, lines))
    require_texts(passages, skipped, "hits")
    return passages, skipped


def require_texts(passages: Sequence[object], skipped: Sequence[SkippedPassage], noun: str) -> None:
    """Raise InputError if there are only *skipped* ones: then the source is a wrong one."""
    if skipped and not passages:
        raise InputError(
            f"none of the {len(skipped):,} {noun} has a text: {target_text(skipped[0].target)}: "
            f"{skipped[0].reason}; name the searched files with --repo DIR or --corpus DIR"
        )


def missing_lines(hit: Hit | Target, lines: Sequence[str]) -> str:
    """Return why a file with *lines* has no text for *hit*, or ""."""
    if not any(line.strip() for line in lines):
        return "the file is empty"
    return f"the file has only {len(lines):,} lines" if hit.start_line > len(lines) else ""


def _passage(query: str, item: PooledHit, target: Target, lines: Sequence[str]) -> HitPassage:
    hit = item.hit
    start, end = (hit.start_line, min(hit.end_line, len(lines))) if hit.end_line else (1, 1)
    context = CONTEXT_LINES if target.end_line else None
    excerpt = cut_excerpt(lines, start, end, context=context)
    task, unhidden, hidden = make_tasks(query, hit.path, target.symbol, excerpt)
    return HitPassage(item.row, target, task, unhidden, hidden)


def make_tasks(
    query: str, path: str, symbol: str, excerpt: PassageExcerpt
) -> tuple[RelevanceTask, RelevanceTask, int]:
    """Return the task without suspicious lines, the one with them, and how many there are."""
    part = (
        ""
        if excerpt.last - excerpt.first + 1 == excerpt.total
        else f", lines {excerpt.first} to {excerpt.last} of {excerpt.total}"
    )
    name = "".join(c if c.isprintable() else "?" for c in path)
    heading = f"file: {name}{f', {symbol}' if symbol else ''}{part}"
    is_plain = not suspicious_lines([heading])
    text, hidden = hide_injection(excerpt.text)
    # A lone surrogate cannot be sent.
    query = query.encode("utf-8", "replace").decode()
    # A mined query is the message of a stranger's commit.
    plain_query, in_query = hide_query_injection(query)
    plain_heading = heading if is_plain else f"file: [path hidden]{part}"
    return (
        RelevanceTask(plain_query, f"{plain_heading}\n{text}"),
        RelevanceTask(query, f"{heading}\n{excerpt.text}"),
        hidden + (not is_plain) + in_query,
    )


def open_models(
    specs: Sequence[str], prices: Sequence[str] = (), *, timeout_s: float = 60.0
) -> dict[str, ChatModel]:
    """Return the models by the name of the judge in their labels.

    That is the name of the model, without the address of its server. *prices* has one price for
    each model, or one for all.
    """
    if len(prices) not in (0, 1, len(specs)):
        raise InputError(
            f"{len(prices)} prices for {len(specs)} models; give --price once, or once per model"
        )
    each: list[Price | None] = [parse_price(price) for price in prices]
    models: dict[str, ChatModel] = {}
    for number, spec in enumerate(specs):
        name = model_name(spec)
        if name in models:
            raise InputError(
                f"two models have the name {name!r} (addresses do not count); use models with "
                "different names"
            )
        price = each[number % len(each)] if each else None
        models[name] = open_model(spec, price=price, timeout_s=timeout_s)
    return models


@dataclass(frozen=True, slots=True)
class GradingOptions:
    """How models are used: passages per request, parallel requests, tokens of an answer."""

    batch: int = 1
    workers: int = 8
    max_tokens: int = 300
    max_cost: float | None = None
    cache: CompletionCache | None = None

    def spend(self, before: Iterable[Spend] = ()) -> Spend:
        """Return an account with the limit that *before* leaves."""
        if self.max_cost is None:
            return Spend()
        return Spend(limit=max(0.0, self.max_cost - spent(before)))

    def grade(
        self, model: ChatModel, tasks: Sequence[RelevanceTask], spend: Spend
    ) -> Iterator[tuple[int, ModelGrade | InvalidAnswer | EngineError]]:
        """Yield the grades of *tasks*, as :func:`.prompts.grade_all` does."""
        return grade_all(
            model,
            tasks,
            spend=spend,
            cache=self.cache,
            batch=self.batch,
            workers=self.workers,
            max_tokens=self.max_tokens,
        )

    def while_reachable(
        self, outcomes: Iterable[tuple[int, T | EngineError]]
    ) -> Iterator[tuple[int, T | EngineError]]:
        """Yield *outcomes*; raise EngineError after many failures in a row: others would fail too.

        At the beginning fewer are enough: a provider may refuse all passages of one query.
        """
        in_a_row = 0
        for done, (number, outcome) in enumerate(outcomes, 1):
            yield number, outcome
            in_a_row = in_a_row + 1 if isinstance(outcome, EngineError) else 0
            requests = FIRST_FAILURES if in_a_row == done else FAILURES_IN_A_ROW
            if in_a_row == max(self.workers, requests) * self.batch:
                raise EngineError(
                    f"{in_a_row} passages in a row failed, so grading stopped; the same command "
                    f"continues: {outcome}"
                )

    def prompts(self, tasks: Sequence[RelevanceTask]) -> list[Prompt]:
        """Return the prompts that *tasks* begin with."""
        return first_prompts(tasks, batch=self.batch, max_tokens=self.max_tokens)

    def estimate(self, model: ChatModel, prompts: Sequence[Prompt]) -> CostEstimate:
        """Return the largest cost of *prompts*; InputError if the limit needs a price."""
        self.spend().check(model)
        return estimate(model, prompts, self.cache)


def spent(accounts: Iterable[Spend]) -> float:
    """Return the US dollars of *accounts*, with those of lost answers."""
    return sum(account.cost + account.uncertain for account in accounts)


class JudgeEstimate(NamedTuple):
    """The number of passages that a judge has to grade, and the most that they cost."""

    passages: int
    cost: CostEstimate


class InjectionProbe(NamedTuple):
    """Passages that were graded with their suspicious lines too, and the change of the grades."""

    passages: int
    changed: int
    mean_change: float


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """The work of one judge.

    *grades* counts the new labels by grade, *known* those that were there before. *left* were not
    asked for because the spending limit was reached. *flagged* are the passages with text that
    addresses the judge. Without a price, the cost is unknown.
    """

    judge: str
    grades: Mapping[int, int]
    known: int
    invalid: Sequence[SkippedPassage]
    failed: Sequence[SkippedPassage]
    left: int
    flagged: Sequence[SkippedPassage]
    spend: Spend
    is_priced: bool
    probe: InjectionProbe | None = None


# Receives the judge, the number of passages done and in total, and what was spent so far.
JudgeProgress = Callable[[str, int, int, float], None]


class ModelWork(Protocol[T_co]):
    """Work that models do: its estimate, one of its prompts, and its result."""

    @property
    def example(self) -> Prompt | None:
        """Return the first prompt that would be sent."""
        ...

    def estimates(self) -> dict[str, JudgeEstimate]:
        """Return the largest cost of each judge."""
        ...

    def run(self, progress: JudgeProgress | None = None) -> T_co:
        """Ask the models."""
        ...


class ModelJudging:
    """Grades *passages* with each of *models* and stores the labels in the gold set *path*.

    A label that the same model gave by the same rubric is not asked for again.
    """

    def __init__(
        self,
        data: Dataset,
        path: str | os.PathLike[str],
        models: Mapping[str, ChatModel],
        passages: Sequence[HitPassage],
        *,
        options: GradingOptions,
        probe: bool = False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Find what is left to grade; InputError if labels could not be saved."""
        self._data = data
        self._file = _LabelFile(data, path)
        self._models = models
        self._passages = passages
        self._options = options
        self._probe = probe
        self._clock = clock
        self._grades = {name: _known_grades(data, name) for name in models}

    @property
    def example(self) -> Prompt | None:
        """Return the first prompt that would be sent."""
        prompts = (prompt for name in self._models for prompt in self._prompts(name))
        return next(prompts, None)

    def estimates(self) -> dict[str, JudgeEstimate]:
        """Return the largest cost of each judge, without answers to repeat."""
        return {
            name: JudgeEstimate(
                len(self._open(name)), self._options.estimate(model, self._prompts(name))
            )
            for name, model in self._models.items()
        }

    def run(self, progress: JudgeProgress | None = None) -> list[ModelSummary]:
        """Ask each model and save the labels every few seconds and at the end."""
        summaries: list[ModelSummary] = []
        for name, model in self._models.items():
            spend = self._options.spend(summary.spend for summary in summaries)
            before = spent(summary.spend for summary in summaries)

            def report(
                done: int, total: int, name: str = name, spend: Spend = spend, base: float = before
            ) -> None:
                if progress:
                    progress(name, done, total, base + spent([spend]))

            try:
                summaries.append(self._judge(name, model, spend, report))
            finally:
                self._file.save()
        return summaries

    def _open(self, name: str) -> list[HitPassage]:
        grades = self._grades[name]
        return [each for each in self._passages if (each.row, each.target) not in grades]

    def _suspicious(self) -> list[HitPassage]:
        return [each for each in self._passages if each.hidden]

    def _prompts(self, name: str) -> list[Prompt]:
        prompts = self._options.prompts([each.task for each in self._open(name)])
        if self._probe:
            sample = self._suspicious()[:PROBE_SAMPLE]
            prompts += self._options.prompts([each.unhidden for each in sample])
        return prompts

    def _judge(
        self, name: str, model: ChatModel, spend: Spend, report: Callable[[int, int], None]
    ) -> ModelSummary:
        todo = self._open(name)
        grades: Counter[int] = Counter()
        invalid: list[SkippedPassage] = []
        failed: list[SkippedPassage] = []
        report(0, len(todo))
        tasks = [each.task for each in todo]
        outcomes = self._options.while_reachable(self._options.grade(model, tasks, spend))
        for done, (number, outcome) in enumerate(outcomes, 1):
            passage = todo[number]
            if isinstance(outcome, ModelGrade):
                grades[outcome.grade] += 1
                self._store(name, passage, outcome)
            elif isinstance(outcome, InvalidAnswer):
                invalid.append(self._skipped(passage, outcome.problem))
            else:
                failed.append(self._skipped(passage, str(outcome)))
            self._file.save_when_due()
            report(done, len(todo))
        return ModelSummary(
            name,
            {grade: grades[grade] for grade in range(4)},
            len(self._passages) - len(todo),
            invalid,
            failed,
            len(todo) - sum(grades.values()) - len(invalid) - len(failed),
            [self._skipped(each, _hidden(each)) for each in self._suspicious()],
            spend,
            model.price is not None,
            self._measure(name, model, spend) if self._probe else None,
        )

    def _store(self, name: str, passage: HitPassage, given: ModelGrade) -> None:
        self._grades[name][passage.row, passage.target] = given.grade
        note = (
            f"{INJECTION} ({_hidden(passage)}): {given.reason}" if passage.hidden else given.reason
        )
        at = time_text(self._clock())
        target = passage.target._replace(grade=float(given.grade))
        record = JudgmentRecord(target, name, at, note, given.prompt)
        self._file.add(self._data.query_ids[passage.row], record)

    def _measure(self, name: str, model: ChatModel, spend: Spend) -> InjectionProbe:
        """Grade a sample of suspicious passages with nothing hidden."""
        known = self._grades[name]
        sample = [each for each in self._suspicious() if (each.row, each.target) in known]
        sample = sample[:PROBE_SAMPLE]
        answers = self._options.grade(model, [each.unhidden for each in sample], spend)
        changes = [
            outcome.grade - known[sample[number].row, sample[number].target]
            for number, outcome in answers
            if isinstance(outcome, ModelGrade)
        ]
        mean = sum(changes) / len(changes) if changes else 0.0
        return InjectionProbe(len(changes), sum(map(bool, changes)), mean)

    def _skipped(self, passage: HitPassage, reason: str) -> SkippedPassage:
        return SkippedPassage(self._data.query_ids[passage.row], passage.target, reason)


def _hidden(passage: HitPassage) -> str:
    if passage.task == passage.unhidden:
        return "the query addresses a judge"
    return f"{passage.hidden} line{'s' * (passage.hidden > 1)} hidden"


def _known_grades(data: Dataset, judge: str) -> dict[tuple[int, Target], float]:
    """Return the grades of *judge* by the current rubric."""
    return {
        (row, _ungraded(label.target)): label.target.grade
        for row, query in enumerate(data.queries())
        for label in model_labels_of(query)
        if label.judge == judge and label.prompt in PROMPT_HASHES
    }


def _ungraded(target: Target) -> Target:
    return target._replace(grade=0.0)


class _LabelFile:
    """Adds labels to a gold set now and then."""

    def __init__(self, data: Dataset, path: str | os.PathLike[str]) -> None:
        self._gold = GoldFile(data, path)
        self._labels: dict[str, list[JudgmentRecord]] = {}
        self._is_saved = True
        self._due_s = monotonic() + SAVE_S

    def add(self, query_id: str, label: JudgmentRecord) -> None:
        self._labels.setdefault(query_id, []).append(label)
        self._is_saved = False

    def save(self) -> None:
        if self._is_saved:
            return
        began_s = monotonic()
        self._gold.change(dict.fromkeys(self._labels, self._labelled))
        self._is_saved = True
        now_s = monotonic()
        self._due_s = now_s + max(SAVE_S, SAVE_PAUSE * (now_s - began_s))

    def save_when_due(self) -> None:
        if monotonic() >= self._due_s:
            self.save()

    def _labelled(self, query: Query) -> Query:
        new = self._labels[query.id]
        replaced = {(label.judge, _ungraded(label.target)) for label in new}
        unchanged = [
            label
            for label in model_labels_of(query)
            if (label.judge, _ungraded(label.target)) not in replaced
        ]
        # Answers arrive in any order; the file has one.
        ordered = sorted(new, key=lambda label: (label.judge, *label.target[:1], *label.target[2:]))
        return with_model_labels(query, [*unchanged, *ordered])
