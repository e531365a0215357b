"""A commit with its truth becomes one query or several: at each hardness, and made worse."""

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from karat.mining.commits import Candidate
from karat.mining.drawing import MinedCase
from karat.mining.leaks import Leak, leak
from karat.mining.recipe import MiningRecipe
from karat.mining.rewriting import RewrittenQuery
from karat.mining.targets import targets
from karat.mining.trees import TreeCount
from karat.mining.truth import FileTruth
from karat.mining.variants import attacks, levels
from karat.mining.words import content_words, is_identifier
from karat.model import Query

__all__ = [
    "CLUSTER",
    "Category",
    "Complexity",
    "Difficulty",
    "Facts",
    "cases",
    "category",
    "complexity",
    "difficulty",
    "instant",
]


class Category(StrEnum):
    """A kind of question."""

    ERROR = "error_search"
    API = "api_search"
    PATTERN = "pattern_search"
    FUNCTION = "function_search"
    CONCEPT = "concept_search"


# The first line that shares a word with the query decides.
_WORDS = {
    Category.ERROR: """
        abort assertion broken bug corrupt crash crashes crashed crashing deadlock error errors
        exception exceptions fail failed failing fails failure failures hang hangs invalid leak
        leaks overflow panic panics race raise raised raises raising regression segfault stacktrace
        traceback unhandled warning warnings wrong
    """,
    Category.API: """
        api apis arg args argument arguments attribute endpoint endpoints flag flags header headers
        interface kwarg kwargs option options param parameter parameters params public request
        response setting settings signature
    """,
    Category.PATTERN: """
        adapter backend builder callback decorator decorators dispatch dispatcher event events
        factory handler handlers hook hooks iterator listener middleware mixin observer pattern
        plugin plugins proxy registry signal signals singleton strategy visitor wrapper
    """,
}
_TABLE = tuple((name, frozenset(words.split())) for name, words in _WORDS.items())


def category(query: str) -> Category:
    """Return the kind of question that *query* is.

    Words decide first; else a name out of code makes it a search for a function, and anything
    else asks about a concept.

    >>> [category(query).value for query in ("crash on empty body", "where is getUser used")]
    ['error_search', 'function_search']
    """
    words = content_words(query)
    for name, cues in _TABLE:
        if not cues.isdisjoint(words):
            return name
    return Category.FUNCTION if any(map(is_identifier, query.split())) else Category.CONCEPT


class Complexity(StrEnum):
    """How many files a case has: below 2, 2 to 20, above 20."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Difficulty(StrEnum):
    """How hard a case is to answer by words alone."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Facts(NamedTuple):
    """What decides the difficulty; *candidates* is how many files are searched, 0 for unknown."""

    leak: Leak
    has_identifier: bool
    targets: int
    candidates: int = 0


_MANY_CANDIDATES = 1000


def complexity(files: int) -> Complexity:
    """Return the class of a case with so many files.

    >>> [complexity(files).value for files in (1, 2, 20, 21)]
    ['low', 'medium', 'medium', 'high']
    """
    if files < 2:
        return Complexity.LOW
    return Complexity.MEDIUM if files <= 20 else Complexity.HIGH


def difficulty(facts: Facts) -> Difficulty:
    """Return the class of a case: each fact that makes words less telling is a point.

    A query that spells the file (STEM and above) gives it away. On django, a word of a folder
    helped lexical search no more than nothing did (37 and 43 % first hits, 62 % for STEM), and
    names out of code helped most (57 against 33 %), so these two weigh double.

    >>> difficulty(Facts(Leak.PATH, has_identifier=True, targets=1)).value
    'easy'
    >>> difficulty(Facts(Leak.NONE, has_identifier=False, targets=3, candidates=2600)).value
    'hard'
    """
    points = (
        2 * (facts.leak < Leak.STEM)
        + 2 * (not facts.has_identifier)
        + (facts.targets > 1)
        + (facts.candidates > _MANY_CANDIDATES)
    )
    if points < 2:
        return Difficulty.EASY
    return Difficulty.MEDIUM if points < 4 else Difficulty.HARD


# The tag that says which queries were made of one commit.
CLUSTER = "commit"

_ID_LENGTH = 12


def instant(seconds: int) -> str:
    """Return a time in seconds since 1970 as text.

    >>> instant(86_400)
    '1970-01-02T00:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def cases(
    found: MinedCase, asked: RewrittenQuery, recipe: MiningRecipe, *, searched: TreeCount | None
) -> Iterator[Query]:
    """Yield the queries of one commit; *asked* is its question, and where that comes from.

    Their ids begin with that of the commit, which is a tag where there may be several. The category
    is that of the question as it was; leak, identifiers and difficulty are those of the text that
    is searched for. *searched* counts the files there are to choose from, if that is known.
    """
    commit, paths = found.candidate.commit, tuple(file.path for file in found.files)
    wanted = targets(found.files, recipe.grain)
    for suffix, text, variant in _variants(asked.text, paths, recipe, commit.id):
        facts = Facts(
            leak(text, paths),
            any(map(is_identifier, text.split())),
            len(paths),
            searched.production if searched else 0,
        )
        tags = {
            "category": category(asked.text).value,
            "complexity": complexity(len(paths)).value,
            "difficulty": difficulty(facts).value,
            "leak": facts.leak.name.lower(),
            "identifier": "yes" if facts.has_identifier else "no",
            **variant,
            **({CLUSTER: commit.id[:_ID_LENGTH]} if recipe.asks_again else {}),
        }
        extra: dict[str, object] = {
            "base_commit": commit.parents[0],
            "commit_hash": commit.id,
            "query_status": asked.status.value,
            "timestamp": instant(commit.time),
            "files": [_as_record(file) for file in found.files],
            "related_tests": list(_tests(found.candidate)),
            "candidates": searched._asdict() if searched else None,
        }
        yield Query(commit.id[:_ID_LENGTH] + suffix, text, wanted, tags, extra)


def _variants(
    query: str, paths: Sequence[str], recipe: MiningRecipe, commit: str
) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Yield the end of the id, the text and the tags of each query that *recipe* asks for.

    A level that changes nothing asks nothing: the query has the first level that gives its text.
    """
    texts = levels(query, paths, wanted=recipe.hardness)
    asked: set[str] = set()
    for level in recipe.hardness:
        if level not in texts or texts[level] in asked:
            continue
        asked.add(texts[level])
        suffix = f"-{level}" if len(recipe.hardness) > 1 else ""
        tags = {"hardness": level.value}
        if not recipe.adversarial:
            yield suffix, texts[level], tags
            continue
        yield suffix, texts[level], {**tags, "attack": "none"}
        # By the commit, so that a case is made worse in the same way whatever else is drawn.
        rng = random.Random(f"{recipe.seed} {commit}")
        for attack, text in attacks(texts[level], rng).items():
            yield f"{suffix}-{attack}", text, {**tags, "attack": attack.value}


def _tests(candidate: Candidate) -> Iterator[str]:
    """Yield the tests that were there before; a name that is not UTF-8 cannot be written down."""
    for change in candidate.related_tests:
        if (
            change.status != "A"
            and change.old_path.encode(errors="ignore").decode() == change.old_path
        ):
            yield change.old_path


def _as_record(file: FileTruth) -> dict[str, object]:
    """Return a file of the truth as JSON; a region is ``first-last:grade`` and its definitions."""
    return {
        "path": file.path,
        "blob": file.blob,
        "status": file.status,
        "new_path": file.new_path,
        "grade": file.grade,
        "regions": [
            " ".join(
                [
                    f"{region.start_line}-{region.end_line}:{region.grade}",
                    ", ".join(symbol.qualified for symbol in region.symbols),
                ]
            ).rstrip()
            for region in file.regions
        ],
    }
