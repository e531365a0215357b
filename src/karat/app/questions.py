"""Make a gold set from the texts of a corpus: docstrings, headings or tests."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from karat.app.generate import GenerationResult
from karat.corpus import Corpus, Document, FileSelection, GitRepository, Trait
from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.grammars import GRAMMARS, have_grammars
from karat.corpus.git.objects import git
from karat.corpus.masks import FileMasks, Mask, mask_text, masks_json
from karat.errors import InputError, MissingExtra
from karat.experiments.workers.sources import Opener, Source, corpus_source, is_bare
from karat.installation import __version__
from karat.mining.cases import format_time
from karat.mining.commits import UnreadableCommits
from karat.mining.mine import MinedRepository, MiningProgress
from karat.mining.questions.asking import MODEL_RULES
from karat.mining.questions.docstrings import docstring_questions
from karat.mining.questions.headings import heading_questions, repeated_titles
from karat.mining.questions.question import Finding, Question
from karat.mining.questions.selection import (
    RULES,
    QuestionSample,
    masks_by_path,
    query_of,
    select_questions,
)
from karat.mining.questions.tests import Definitions, SourceText, find_tests, questions_from_tests
from karat.mining.recipe import MiningRecipe
from karat.model import Dataset, Target
from karat.model.dataset import MASKS
from karat.model.frozen import EMPTY
from karat.system.files import no_folder

__all__ = [
    "BY_MODEL",
    "FROM",
    "MASKED",
    "OpenedCorpus",
    "QuestionRecipe",
    "generate_from",
    "generate_questions",
    "open_corpus",
    "passage_documents",
    "question_recipe",
    "question_rules",
    "question_set",
    "searched_corpus",
]

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
        return "all" if self.made_from in ("headings", "docs") else "production"


class OpenedCorpus(NamedTuple):
    """A corpus with its origin: *head* and *time* are those of its commit, "" and 0 of a folder."""

    corpus: Corpus
    place: str
    head: str = ""
    time: int = 0


class _Texts(NamedTuple):
    """The texts of a corpus."""

    corpus: Corpus

    def wanted(self, keeps: Callable[[Document], bool]) -> Iterator[tuple[Document, str]]:
        """Yield the documents that *keeps* accepts, with their texts."""
        documents = [document for document in self.corpus if keeps(document)]
        return zip(documents, self.corpus.reader(documents), strict=True)


def generate_from(
    places: Sequence[str],
    mining: MiningRecipe,
    made_from: str,
    *,
    masked: str,
    folder: bool,
    watch: MiningProgress | None = None,
) -> GenerationResult:
    """Return the gold set of one repository or *folder*, with the limits of a mining recipe."""
    recipe = question_recipe(places, mining, made_from, masked=masked)
    dataset, mined = generate_questions(places[0], recipe, folder=folder, watch=watch)
    statuses = Counter(str(extra["query_status"]) for extra in dataset.extras)
    return GenerationResult(dataset, (mined,), dict(statuses.most_common()), "")


def question_rules(made_from: str) -> dict[str, str]:
    """Return the rules that drop questions, with their reasons."""
    return {**(MODEL_RULES if made_from in BY_MODEL else {}), **RULES}


def question_recipe(
    places: Sequence[str], mining: MiningRecipe, made_from: str, *, masked: str = MASKED[0]
) -> QuestionRecipe:
    """Return the recipe for one place with the limits of a mining recipe."""
    if len(places) != 1:
        raise InputError(
            f"--from {made_from} reads one repository or folder, not {len(places)}; generate a set "
            "for each"
        )
    exclude = tuple(mining.filters.exclude)
    return QuestionRecipe(made_from, mining.branch, mining.limit, mining.seed, masked, exclude)


def open_corpus(place: str, *, revision: str | None, stack: ExitStack) -> OpenedCorpus:
    """Return the repository at *place* at a revision, or the folder there without one."""
    if not Path(place).is_dir():
        raise InputError(no_folder(place))
    resolved = str(Path(place).resolve())
    if revision is None and is_bare(Path(place)):
        revision = "HEAD"
    if revision is None:
        return OpenedCorpus(Opener().open(corpus_source(place)), resolved)
    options = ("rev-list", "--no-commit-header", "--max-count=1", "--format=%H %ct", revision)
    head, time = git(place, *options).decode().split()
    repository = stack.enter_context(GitRepository(place))
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
        raise InputError(f"{opened.place}: {_nothing(recipe, sample.waterfall.steps)}")
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
        opened.place,
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
    name = f"{Path(opened.place).name.removesuffix('.git')} {recipe.made_from}"
    return Dataset.of(queries, name=name, match="lines", metadata=about), mined


def _metadata(
    opened: OpenedCorpus, recipe: QuestionRecipe, mined: MinedRepository
) -> dict[str, object]:
    kinds = Counter(query.tags["kind"] for query in mined.queries)
    origin: dict[str, object] = {"corpus": opened.place}
    if opened.head:
        entry = {"name": Path(opened.place).name, "path": opened.place, "head": opened.head}
        origin = {
            "repository": opened.place,
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
    kept = FileSelection(exclude=patterns).apply(corpus).by_path
    return {document.path for document in corpus if document.path not in kept}


def searched_corpus(corpus: Corpus, recipe: QuestionRecipe) -> Corpus:
    """Return the documents that an evaluation of the gold set searches."""
    kind = "docs" if recipe.candidates == "all" else "code"
    return Source(
        "texts", tests=recipe.candidates == "all", selection=FileSelection(kind)
    ).selected(corpus)


def passage_documents(corpus: Corpus, recipe: QuestionRecipe) -> Iterator[tuple[Document, str]]:
    """Yield the documents that a model may be asked about, with their texts."""
    excluded = _excluded(corpus, recipe.exclude)
    keeps = _is_code if recipe.made_from == "code" else _is_page
    for document, text in _Texts(corpus).wanted(keeps):
        if document.path not in excluded:
            yield document, text


def _is_code(document: Document) -> bool:
    return document.language in GRAMMARS and not document.traits


def _docstrings(texts: _Texts, report: MiningProgress) -> Mapping[str, Finding]:
    found = {}
    total = sum(map(_is_code, texts.corpus))
    for done, (document, text) in enumerate(texts.wanted(_is_code), 1):
        found[document.path] = docstring_questions(document.path, text, document.language)
        report("reading files", done, total)
    return found


def _is_page(document: Document) -> bool:
    return (
        document.language in _PROSE
        and Trait.DOCS in document.traits
        and not document.traits & _UNWANTED_DOCS
    )


def _headings(texts: _Texts, report: MiningProgress) -> Mapping[str, Finding]:
    pages = list(texts.wanted(_is_page))
    repeated = repeated_titles((text, document.language) for document, text in pages)
    found = {}
    for done, (document, text) in enumerate(pages, 1):
        found[document.path] = heading_questions(document.path, text, document.language, repeated)
        report("reading files", done, len(pages))
    return found


def _tests(texts: _Texts, report: MiningProgress) -> Mapping[str, Finding]:
    def keeps(document: Document) -> bool:
        return document.language in GRAMMARS and document.traits in (Trait.NONE, Trait.TEST)

    sources, tests = [], []
    total = sum(map(keeps, texts.corpus))
    for done, (document, text) in enumerate(texts.wanted(keeps), 1):
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
