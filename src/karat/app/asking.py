"""Make a gold set with a language model: it writes questions, then finds their answers blind."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import ceil, floor
from random import Random
from typing import NamedTuple

from karat.app.generate import GenerationResult
from karat.app.questions import (
    OpenedCorpus,
    QuestionRecipe,
    open_corpus,
    passage_documents,
    question_set,
    searched_corpus,
)
from karat.corpus import Corpus
from karat.engines.base import Engine
from karat.engines.spec import build
from karat.errors import EngineError, InputError, MissingExtra
from karat.llm.batch import (
    CompletionCache,
    CostEstimate,
    Spend,
    answer_cache,
    complete_all,
    estimate,
)
from karat.llm.client import ChatModel, Completion, Prompt, model_name, open_model, parse_price
from karat.mining.mine import MiningProgress
from karat.mining.questions.asking import (
    KINDS,
    MODEL_RULES,
    NOT_ASKED,
    SourcePassage,
    code_passages,
    doc_passages,
    grade_prompt,
    graded,
    longest_grade_prompt,
    prompt_digest,
    question_prompt,
    read_grades,
    read_question,
    shuffled,
)
from karat.mining.questions.question import Question
from karat.mining.questions.selection import sample_questions, select_questions
from karat.model import Hit

__all__ = ["AskingPlan", "AskingRecipe", "plan_asking", "run_asking"]

# Questions to generate for each one wanted, because checks drop some of them.
_SPARE = 1.5
# Passages that the model is shown for each question, its source included.
_SHOWN = 10
_HITS = 8
# The engines that look for other answers; those whose extra is missing are left out.
_ENGINES = ("bm25", "hybrid(model=static)")


@dataclass(frozen=True, slots=True)
class AskingRecipe:
    """Which model writes the questions, how, and for how much money.

    *hard* is the share of questions that should have few words in common with their answer.
    """

    model: str
    hard: float = 0.5
    max_cost: float | None = None
    price: str = ""
    workers: int = 8


class _Draft(NamedTuple):
    passage: SourcePassage
    kind: str
    hard: bool


@dataclass(frozen=True, slots=True)
class AskingPlan:
    """The first prompts, and the most that the whole set can cost."""

    recipe: QuestionRecipe
    asking: AskingRecipe
    opened: OpenedCorpus
    model: ChatModel
    passages: Sequence[SourcePassage]
    drafts: Sequence[_Draft]
    prompts: Sequence[Prompt]
    estimate: CostEstimate

    @property
    def sample(self) -> Prompt:
        """Return the first prompt, to be looked at."""
        return self.prompts[0]


def plan_asking(
    place: str, recipe: QuestionRecipe, asking: AskingRecipe, *, folder: bool, stack: ExitStack
) -> AskingPlan:
    """Choose the passages and estimate the cost; nothing is sent. *stack* closes the repository."""
    price = parse_price(asking.price) if asking.price else None
    model = open_model(asking.model, price=price)
    Spend(asking.max_cost).check(model)
    opened = open_corpus(place, revision=None if folder else recipe.revision, stack=stack)
    passages = _passages(opened.corpus, recipe)
    if not passages:
        raise InputError(
            f"{opened.place}: no passage found to write questions about; expected "
            f"{'functions or classes' if recipe.made_from == 'code' else 'sections'} of 5 lines or "
            "more"
        )
    drafts = _drafts(passages, recipe, asking)
    prompts = [question_prompt(one.passage, one.kind, hard=one.hard) for one in drafts]
    with answer_cache() as cache:
        first = estimate(model, prompts, cache)
    return AskingPlan(
        recipe,
        asking,
        opened,
        model,
        passages,
        drafts,
        prompts,
        _with_grading(first, passages, len(drafts), model),
    )


def _with_grading(
    first: CostEstimate, passages: Sequence[SourcePassage], count: int, model: ChatModel
) -> CostEstimate:
    """Return the estimate with one more, longest prompt for each question."""
    longest = longest_grade_prompt(passages, _SHOWN)
    tokens = first.prompt_tokens + count * longest.prompt_tokens
    answers = first.completion_tokens + count * longest.completion_tokens
    cost = model.price.cost(tokens, answers) if model.price else None
    return CostEstimate(first.requests + count, first.cached, tokens, answers, cost)


def _passages(corpus: Corpus, recipe: QuestionRecipe) -> list[SourcePassage]:
    find = code_passages if recipe.made_from == "code" else doc_passages
    return [
        passage
        for document, text in passage_documents(corpus, recipe)
        for passage in find(document.path, text, document.language)
    ]


def _drafts(
    passages: Sequence[SourcePassage], recipe: QuestionRecipe, asking: AskingRecipe
) -> list[_Draft]:
    """Return a sample of passages over languages, folders and files, with a kind for each."""
    by_place = {(one.path, one.start_line): one for one in reversed(passages)}
    sources = [
        Question("", (one.target,), "", one.language, place) for place, one in by_place.items()
    ]
    wanted = ceil(recipe.limit * _SPARE)
    chosen = sample_questions(sorted(sources, key=lambda one: one.place), wanted, recipe.seed)
    kinds = list(KINDS)
    order = list(range(len(chosen)))
    Random(f"{recipe.seed} kinds").shuffle(order)
    drafts = []
    for one, turn in zip(chosen, order, strict=True):
        # Each round has all kinds; the share of hard rounds is the share of hard questions.
        before, kind = divmod(turn, len(kinds))
        hard = floor((before + 1) * asking.hard) > floor(before * asking.hard)
        drafts.append(_Draft(by_place[one.place], kinds[kind], hard))
    return drafts


@dataclass(slots=True)
class _Answers:
    """Sends prompts and counts what came back; *failure* is the first error."""

    plan: AskingPlan
    spend: Spend
    cache: CompletionCache
    report: MiningProgress
    failure: str = ""

    def get(self, step: str, prompts: Sequence[Prompt]) -> dict[int, str | None]:
        """Return the text of each answer by index; None for a failure, nothing if not sent."""
        found: dict[int, str | None] = {}
        for index, answer in complete_all(
            self.plan.model,
            prompts,
            spend=self.spend,
            cache=self.cache,
            workers=self.plan.asking.workers,
        ):
            if isinstance(answer, Completion):
                found[index] = answer.text
            else:
                found[index] = None
                self.failure = self.failure or str(answer)
            self.report(step, len(found), len(prompts))
        return found


def run_asking(
    plan: AskingPlan, *, watch: MiningProgress | None = None
) -> tuple[GenerationResult, Spend]:
    """Ask the model, judge the answers blind, and return the gold set and what was spent.

    Answers are cached, so that a run that was interrupted or reached the limit continues where it
    stopped.
    """
    spend = Spend(plan.asking.max_cost)
    with answer_cache() as cache:
        answers = _Answers(plan, spend, cache, watch or (lambda *_: None))
        questions = _asked(plan, answers)
        judged = _judged(plan, answers, questions)
    sample = select_questions(
        judged,
        limit=plan.recipe.limit,
        seed=plan.recipe.seed,
        excluded=lambda _: False,
        further=MODEL_RULES,
    )
    if not sample.questions:
        counts = ", ".join(f"{rule} {n:,}" for rule, _, n in sample.waterfall.steps if n)
        raise EngineError(
            f"{plan.model.name}: {_stopped(spend)}no question remains (dropped: {counts})"
            + (f"; first error: {answers.failure}" if answers.failure else "")
        )
    hard = {(one.passage.path, one.passage.start_line): one.hard for one in plan.drafts}
    dataset, mined = question_set(
        plan.opened,
        plan.recipe,
        sample,
        tags=lambda one: {"hard": "yes" if hard[one.place] else "no"},
        extra={"query_status": "model"},
        metadata={
            "model": model_name(plan.model.name),
            "prompt_digest": prompt_digest(),
            "hard_share": plan.asking.hard,
        },
    )
    result = GenerationResult(dataset, (mined,), {"model": len(dataset)}, answers.failure)
    return result, spend


def _stopped(spend: Spend) -> str:
    """Return what to do if the spending limit was reached, else ""."""
    if not spend.is_stopped:
        return ""
    how = (
        "it limits each call; repeat the command to continue, cached answers cost nothing"
        if spend.requests
        else "it is below the cost of one request"
    )
    return f"the spending limit was reached (--max-cost {spend.limit:g}: {how}); "


def _asked(plan: AskingPlan, answers: _Answers) -> list[Question]:
    """Return a question for each draft, with the reason if it is not usable."""
    found = answers.get("asking", plan.prompts)
    questions = []
    for index, draft in enumerate(plan.drafts):
        passage = draft.passage
        text, reason = "", NOT_ASKED
        if index in found:
            answer = found[index]
            text, reason = (
                ("", "model-failed") if answer is None else read_question(answer, passage)
            )
        place = passage.path, passage.start_line
        questions.append(
            Question(text, (passage.target,), draft.kind, passage.language, place, reason)
        )
    return questions


def _judged(plan: AskingPlan, answers: _Answers, questions: Sequence[Question]) -> list[Question]:
    """Return *questions* with all passages that answer them, found without knowing the source."""
    usable = [index for index, one in enumerate(questions) if not one.reason]
    shown = _candidates(plan, [questions[index] for index in usable], answers.report)
    prompts = [
        grade_prompt(questions[index].text, shown[questions[index].place]) for index in usable
    ]
    found = answers.get("judging", prompts)
    judged = list(questions)
    for number, index in enumerate(usable):
        question = questions[index]
        passages = shown[question.place]
        if number not in found:
            judged[index] = question._replace(reason=NOT_ASKED)
            continue
        answer = found[number]
        grades = None if answer is None else read_grades(answer, len(passages))
        if grades is None:
            reason = "model-failed" if answer is None else "invalid-answer"
            judged[index] = question._replace(reason=reason)
        else:
            judged[index] = graded(question, plan.drafts[index].passage, passages, grades)
    return judged


def _candidates(
    plan: AskingPlan, questions: Sequence[Question], report: MiningProgress
) -> dict[tuple[str, int], list[SourcePassage]]:
    """Return for each question the passages to show: its source among those that engines find."""
    corpus = searched_corpus(plan.opened.corpus, plan.recipe)
    sources = {(one.passage.path, one.passage.start_line): one.passage for one in plan.drafts}
    by_path: dict[str, list[SourcePassage]] = defaultdict(list)
    for passage in plan.passages:
        by_path[passage.path].append(passage)
    hits: dict[tuple[str, int], list[SourcePassage]] = defaultdict(list)
    for engine in _engines(corpus):
        for done, question in enumerate(questions, 1):
            found = engine.search(question.text, _HITS)
            hits[question.place] += filter(None, (_passage_at(hit, by_path) for hit in found))
            report("searching", done, len(questions))
    return {
        one.place: shuffled(one.text, _apart(sources[one.place], hits[one.place]))
        for one in questions
    }


def _apart(source: SourcePassage, hits: Iterable[SourcePassage]) -> list[SourcePassage]:
    """Return *source* and the first of *hits*, none of which have lines in common."""
    found = [source]
    for passage in hits:
        if len(found) < _SHOWN and not any(map(passage.overlaps, found)):
            found.append(passage)
    return found


def _engines(corpus: Corpus) -> Iterable[Engine]:
    for spec in _ENGINES:
        try:
            engine = build(spec)
            engine.index(corpus)
        except (MissingExtra, EngineError):
            continue
        yield engine


def _passage_at(hit: Hit, by_path: Mapping[str, Sequence[SourcePassage]]) -> SourcePassage | None:
    """Return the passage that shares most lines with *hit*; of equal ones, the shortest."""

    def shared(passage: SourcePassage) -> tuple[int, int]:
        first = max(passage.start_line, hit.start_line)
        last = min(passage.end_line, hit.end_line)
        return last - first + 1, passage.start_line - passage.end_line

    best = max(by_path.get(hit.path, ()), key=shared, default=None)
    return best if best and shared(best)[0] > 0 else None
