"""Make a gold set from the texts of a corpus: by rules, or by a language model that asks."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path
from random import Random
from typing import NamedTuple

from karat.corpus import Corpus, Document, FileSelection, GitRepository, Trait
from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.grammars import GRAMMARS, have_grammars
from karat.corpus.git_objects import git
from karat.corpus.snapshot import FileMasks, Mask, mask_text, masks_json
from karat.engines.base import Engine
from karat.engines.spec import build
from karat.errors import EngineError, InputError, MissingExtra
from karat.experiments.workers.sources import Opener, Source, corpus_source, is_bare
from karat.extensions.llm.batch import (
    CompletionCache,
    CostEstimate,
    Spend,
    answer_cache,
    complete_all,
    estimate,
)
from karat.extensions.llm.client import (
    ChatModel,
    Completion,
    Prompt,
    model_name,
    open_model,
    parse_price,
)
from karat.extensions.mining.cases import format_time
from karat.extensions.mining.commits import UnreadableCommits
from karat.extensions.mining.generate import GenerationResult
from karat.extensions.mining.mine import MinedRepository, MiningProgress
from karat.extensions.mining.questions.asking import (
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
from karat.extensions.mining.questions.docstrings import docstring_questions
from karat.extensions.mining.questions.headings import heading_questions, repeated_titles
from karat.extensions.mining.questions.selection import (
    RULES,
    QuestionSample,
    masks_by_path,
    query_of,
    sample_questions,
    select_questions,
)
from karat.extensions.mining.questions.tests import (
    Definitions,
    SourceText,
    find_tests,
    questions_from_tests,
)
from karat.extensions.mining.questions.wording import Finding, Question
from karat.extensions.mining.recipe import MiningRecipe
from karat.installation import __version__
from karat.model import Dataset, Hit, Target
from karat.model.dataset import MASKS
from karat.model.frozen import EMPTY
from karat.system.files import no_folder

# The texts that queries are made from, with the word for one of them.
FROM = {
    "docstrings": "doc comments",
    "headings": "headings",
    "tests": "tests",
    "code": "definitions",
    "docs": "sections",
}
# These need a language model.
BY_MODEL = ("code", "docs")
MASKED = ("all", "queries")
# Files that are not worth a question, and copies of others.
_UNWANTED = Trait.VENDORED | Trait.GENERATED | Trait.MINIFIED | Trait.LOCK
_UNWANTED_DOCS = _UNWANTED | Trait.CHANGELOG | Trait.LICENSE | Trait.TEST
_PROSE = frozenset({"asciidoc", "markdown", "rst", "text"})
# Questions to generate for each one requested, because checks drop some of them.
_SPARE = 1.5
# Passages that the model is shown for each question, its source included.
_SHOWN = 10
_HITS = 8
# The engines that look for other answers; those whose extra is missing are left out.
_ENGINES = ("bm25", "hybrid(model=static)")


@dataclass(frozen=True, slots=True)
class QuestionRecipe:
    """Settings of a gold set that is made from texts; the same corpus and recipe give the same set.

    *masked* is ``all`` to hide every text of the kind *made_from* in the searched corpus, or
    ``queries`` to hide only those that became queries.
    """

    made_from: str
    revision: str = "HEAD"
    limit: int = 250
    seed: int = 0
    masked: str = "all"
    exclude: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Reject unknown values."""
        if self.made_from not in FROM:
            known = ", ".join(FROM)
            raise InputError(f"--from {self.made_from!r} is not valid; expected one of: {known}")
        if self.masked not in MASKED:
            known = ", ".join(MASKED)
            raise InputError(f"--mask {self.masked!r} is not valid; expected one of: {known}")

    @property
    def candidates(self) -> str:
        """Return which files are searched: tests compete with what they test, pages do not."""
        return "all" if self.kind == "docs" else "production"

    @property
    def kind(self) -> str:
        """Return the kind of file that is searched: that of the texts."""
        return "docs" if self.made_from in ("headings", "docs") else "code"


class OpenedCorpus(NamedTuple):
    """A corpus with its origin: *head* and *time* are those of its commit, "" and 0 of a folder."""

    corpus: Corpus
    path: str
    head: str = ""
    time: int = 0


class _Texts(NamedTuple):
    """The texts of a corpus."""

    corpus: Corpus

    def selected(self, keeps: Callable[[Document], bool]) -> Iterator[tuple[Document, str]]:
        """Yield the documents that *keeps* accepts, with their texts."""
        documents = [document for document in self.corpus if keeps(document)]
        return zip(documents, self.corpus.reader(documents), strict=True)


def generate_from(
    paths: Sequence[str],
    mining: MiningRecipe,
    made_from: str,
    *,
    masked: str,
    folder: bool,
    watch: MiningProgress | None = None,
) -> GenerationResult:
    """Return the gold set of one repository or *folder*, with the limits of a mining recipe."""
    recipe = question_recipe(paths, mining, made_from, masked=masked)
    dataset, mined = generate_questions(paths[0], recipe, folder=folder, watch=watch)
    statuses = Counter(str(extra["query_status"]) for extra in dataset.extras)
    return GenerationResult(dataset, (mined,), dict(statuses.most_common()), "")


def question_rules(made_from: str) -> dict[str, str]:
    """Return the rules that drop questions, with their reasons."""
    return {**(MODEL_RULES if made_from in BY_MODEL else {}), **RULES}


def question_recipe(
    repositories: Sequence[str], mining: MiningRecipe, made_from: str, *, masked: str = MASKED[0]
) -> QuestionRecipe:
    """Return the recipe for one repository or folder with the limits of a mining recipe."""
    if len(repositories) != 1:
        raise InputError(
            f"--from {made_from} reads one repository or folder, not {len(repositories)}; "
            "generate a set for each"
        )
    exclude = tuple(mining.filters.exclude)
    return QuestionRecipe(made_from, mining.branch, mining.limit, mining.seed, masked, exclude)


def open_corpus(path: str, *, revision: str | None, stack: ExitStack) -> OpenedCorpus:
    """Return the repository at *path* at a revision, or the folder there without one."""
    if not Path(path).is_dir():
        raise InputError(no_folder(path))
    resolved = str(Path(path).resolve())
    if revision is None and is_bare(Path(path)):
        revision = "HEAD"
    if revision is None:
        return OpenedCorpus(Opener().open(corpus_source(path)), resolved)
    options = ("rev-list", "--no-commit-header", "--max-count=1", "--format=%H %ct", revision)
    head, time = git(path, *options).decode().split()
    repository = stack.enter_context(GitRepository(path))
    return OpenedCorpus(repository.corpus(head), resolved, head, int(time))


def generate_questions(
    place: str,
    recipe: QuestionRecipe,
    *,
    folder: bool = False,
    watch: MiningProgress | None = None,
) -> tuple[Dataset, MinedRepository]:
    """Return the gold set that *recipe* gives for a Git repository, or for a plain *folder*."""
    if recipe.made_from not in ("headings", "docs") and not have_grammars():
        raise MissingExtra(
            "tree-sitter", extra="code", purpose=f"questions from {recipe.made_from}"
        )
    with ExitStack() as stack:
        opened = open_corpus(place, revision=None if folder else recipe.revision, stack=stack)
        return _made(opened, recipe, watch)


def _made(
    opened: OpenedCorpus, recipe: QuestionRecipe, watch: MiningProgress | None
) -> tuple[Dataset, MinedRepository]:
    texts = _Texts(opened.corpus)
    findings = _FINDERS[recipe.made_from](texts, watch or (lambda *_: None))
    excluded = _excluded(opened.corpus, recipe.exclude)
    sample = select_questions(
        (question for finding in findings.values() for question in finding.questions),
        limit=recipe.limit,
        seed=recipe.seed,
        excluded=excluded.__contains__,
    )
    if not sample.questions:
        raise InputError(f"{opened.path}: {_nothing(recipe, sample.waterfall.steps)}")
    chosen = sample.questions if recipe.masked == "queries" else None
    return question_set(opened, recipe, sample, ranges=masks_by_path(findings, chosen))


def question_set(
    opened: OpenedCorpus,
    recipe: QuestionRecipe,
    sample: QuestionSample,
    *,
    ranges: Mapping[str, tuple[Mask, ...]] = EMPTY,
    tags: Callable[[Question], Mapping[str, str]] = lambda _: EMPTY,
    extra: Mapping[str, object] = EMPTY,
    metadata: Mapping[str, object] = EMPTY,
) -> tuple[Dataset, MinedRepository]:
    """Return the gold set of a sample; *ranges* are the lines to mask, by path."""
    corpus = opened.corpus
    searched = searched_corpus(corpus, recipe).by_path
    masks = {
        path: FileMasks(corpus.by_path[path].blob, own)
        for path, own in ranges.items()
        if path in searched
    }
    texts: dict[str, str] = {}

    def read(target: Target) -> str:
        if target.path not in texts:
            texts[target.path] = mask_text(corpus.read(target.path), ranges.get(target.path, ()))
        lines = lines_of(texts[target.path])
        if not 1 <= target.start_line <= target.end_line <= len(lines):
            raise InputError(
                f"{target.path}: lines {target.start_line} to {target.end_line} are not in the "
                f"file, which has {len(lines):,}"
            )
        return "".join(lines[target.start_line - 1 : target.end_line])

    origin: dict[str, object] = {}
    if opened.head:
        origin = {"base_commit": opened.head, "timestamp": format_time(opened.time)}
    queries = tuple(
        query_of(
            question, read, candidates=len(searched), extra={**origin, **extra}, tags=tags(question)
        )
        for question in sample.questions
    )
    mined = MinedRepository(
        opened.path,
        opened.head,
        opened.time,
        queries,
        sample.waterfall,
        UnreadableCommits(),
        FROM[recipe.made_from],
        corpus.skipped_files,
    )
    about = {**_metadata(opened, recipe, mined), **metadata}
    if masks:
        about[MASKS] = masks_json(masks)
    name = f"{Path(opened.path).name.removesuffix('.git')} {recipe.made_from}"
    return Dataset.of(queries, name=name, match="lines", metadata=about), mined


def _metadata(
    opened: OpenedCorpus, recipe: QuestionRecipe, mined: MinedRepository
) -> dict[str, object]:
    kinds = Counter(query.tags["kind"] for query in mined.queries)
    origin: dict[str, object] = {"corpus": opened.path}
    if opened.head:
        entry = {"name": Path(opened.path).name, "path": opened.path, "head": opened.head}
        origin = {
            "repository": opened.path,
            "generated_at": format_time(opened.time),
            "repositories": [entry],
        }
    return {
        **origin,
        "generated_from": recipe.made_from,
        "test_cases_generated": len(mined.queries),
        "tool": f"karat {__version__}",
        "kinds": dict(sorted(kinds.items())),
        "candidates": recipe.candidates,
        "kind": recipe.kind,
        **({} if recipe.made_from in BY_MODEL else {"masked": recipe.masked}),
        "limit": recipe.limit,
        "seed": recipe.seed,
        "exclude_patterns": list(recipe.exclude),
        "waterfall": {step.rule: step.dropped for step in mined.waterfall.steps},
    }


def _nothing(recipe: QuestionRecipe, steps: object) -> str:
    dropped = ", ".join(f"{rule} {count:,}" for rule, _, count in steps if count)  # type: ignore[attr-defined]
    word = FROM[recipe.made_from]
    if not dropped:
        return f"no {word} found; --from {recipe.made_from} needs some"
    return f"no {word} remain as queries (dropped: {dropped}); choose another --from"


def _excluded(corpus: Corpus, patterns: tuple[str, ...]) -> set[str]:
    if not patterns:
        return set()
    included = FileSelection(exclude=patterns).apply(corpus).by_path
    return {document.path for document in corpus if document.path not in included}


def searched_corpus(corpus: Corpus, recipe: QuestionRecipe) -> Corpus:
    """Return the documents that an evaluation of the gold set searches."""
    return Source(
        "texts", tests=recipe.candidates == "all", selection=FileSelection(recipe.kind)
    ).selected(corpus)


def passage_documents(corpus: Corpus, recipe: QuestionRecipe) -> Iterator[tuple[Document, str]]:
    """Yield the documents that a model may be asked about, with their texts."""
    excluded = _excluded(corpus, recipe.exclude)
    keeps = _is_code if recipe.made_from == "code" else _is_page
    for document, text in _Texts(corpus).selected(keeps):
        if document.path not in excluded:
            yield document, text


def _is_code(document: Document) -> bool:
    return document.language in GRAMMARS and not document.traits


def _docstrings(texts: _Texts, report: MiningProgress) -> Mapping[str, Finding]:
    findings = {}
    total = sum(map(_is_code, texts.corpus))
    for done, (document, text) in enumerate(texts.selected(_is_code), 1):
        findings[document.path] = docstring_questions(document.path, text, document.language)
        report("reading files", done, total)
    return findings


def _is_page(document: Document) -> bool:
    return (
        document.language in _PROSE
        and Trait.DOCS in document.traits
        and not document.traits & _UNWANTED_DOCS
    )


def _headings(texts: _Texts, report: MiningProgress) -> Mapping[str, Finding]:
    pages = list(texts.selected(_is_page))
    repeated = repeated_titles((text, document.language) for document, text in pages)
    findings = {}
    for done, (document, text) in enumerate(pages, 1):
        findings[document.path] = heading_questions(
            document.path, text, document.language, repeated
        )
        report("reading files", done, len(pages))
    return findings


def _tests(texts: _Texts, report: MiningProgress) -> Mapping[str, Finding]:
    def keeps(document: Document) -> bool:
        return document.language in GRAMMARS and document.traits in (Trait.NONE, Trait.TEST)

    sources, tests = [], []
    total = sum(map(keeps, texts.corpus))
    for done, (document, text) in enumerate(texts.selected(keeps), 1):
        source = SourceText(document.path, text, document.language)
        is_test = Trait.TEST in document.traits
        tests += find_tests(source, inline=not is_test)
        if not is_test:
            sources.append(source)
        report("reading files", done, total)
    return questions_from_tests(tests, Definitions(sources, tests))


_FINDERS: Mapping[str, Callable[[_Texts, MiningProgress], Mapping[str, Finding]]] = {
    "docstrings": _docstrings,
    "headings": _headings,
    "tests": _tests,
}


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
    path: str, recipe: QuestionRecipe, asking: AskingRecipe, *, folder: bool, stack: ExitStack
) -> AskingPlan:
    """Choose the passages and estimate the cost; nothing is sent. *stack* closes the repository."""
    price = parse_price(asking.price) if asking.price else None
    model = open_model(asking.model, price=price)
    Spend(asking.max_cost).check(model)
    opened = open_corpus(path, revision=None if folder else recipe.revision, stack=stack)
    passages = _passages(opened.corpus, recipe)
    if not passages:
        raise InputError(
            f"{opened.path}: no passage found to write questions about; expected "
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
    by_origin = {(one.path, one.start_line): one for one in reversed(passages)}
    sources = [
        Question("", (one.target,), "", one.language, origin) for origin, one in by_origin.items()
    ]
    count = ceil(recipe.limit * _SPARE)
    chosen = sample_questions(sorted(sources, key=lambda one: one.origin), count, recipe.seed)
    kinds = list(KINDS)
    order = list(range(len(chosen)))
    Random(f"{recipe.seed} kinds").shuffle(order)
    drafts = []
    for one, turn in zip(chosen, order, strict=True):
        # Each round has all kinds; the share of hard rounds is the share of hard questions.
        before, kind = divmod(turn, len(kinds))
        hard = floor((before + 1) * asking.hard) > floor(before * asking.hard)
        drafts.append(_Draft(by_origin[one.origin], kinds[kind], hard))
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
        texts: dict[int, str | None] = {}
        for index, answer in complete_all(
            self.plan.model,
            prompts,
            spend=self.spend,
            cache=self.cache,
            workers=self.plan.asking.workers,
        ):
            if isinstance(answer, Completion):
                texts[index] = answer.text
            else:
                texts[index] = None
                self.failure = self.failure or str(answer)
            self.report(step, len(texts), len(prompts))
        return texts


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
        tags=lambda one: {"hard": "yes" if hard[one.origin] else "no"},
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
    texts = answers.get("asking", plan.prompts)
    questions = []
    for index, draft in enumerate(plan.drafts):
        passage = draft.passage
        text, reason = "", NOT_ASKED
        if index in texts:
            answer = texts[index]
            text, reason = (
                ("", "model-failed") if answer is None else read_question(answer, passage)
            )
        origin = passage.path, passage.start_line
        questions.append(
            Question(text, (passage.target,), draft.kind, passage.language, origin, reason)
        )
    return questions


def _judged(plan: AskingPlan, answers: _Answers, questions: Sequence[Question]) -> list[Question]:
    """Return *questions* with all passages that answer them, found without knowing the source."""
    usable = [index for index, one in enumerate(questions) if not one.reason]
    candidates = _candidates(plan, [questions[index] for index in usable], answers.report)
    prompts = [
        grade_prompt(questions[index].text, candidates[questions[index].origin]) for index in usable
    ]
    texts = answers.get("judging", prompts)
    judged = list(questions)
    for number, index in enumerate(usable):
        question = questions[index]
        passages = candidates[question.origin]
        if number not in texts:
            judged[index] = question._replace(reason=NOT_ASKED)
            continue
        answer = texts[number]
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
            engine_hits = engine.search(question.text, _HITS)
            hits[question.origin] += filter(
                None, (_passage_at(hit, by_path) for hit in engine_hits)
            )
            report("searching", done, len(questions))
    return {
        one.origin: shuffled(one.text, _apart(sources[one.origin], hits[one.origin]))
        for one in questions
    }


def _apart(source: SourcePassage, hits: Iterable[SourcePassage]) -> list[SourcePassage]:
    """Return *source* and the first of *hits*, none of which have lines in common."""
    separate = [source]
    for passage in hits:
        if len(separate) < _SHOWN and not any(map(passage.overlaps, separate)):
            separate.append(passage)
    return separate


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
