"""Turn a mined commit into queries: one for each hardness level, and adversarial variants."""

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from karat.extensions.mining.commits import Candidate
from karat.extensions.mining.file_counts import FileCount
from karat.extensions.mining.recipe import MiningRecipe
from karat.extensions.mining.sampling import MinedCase
from karat.extensions.mining.targets import TargetFile, build_targets
from karat.extensions.mining.variants import RewrittenQuery, attacks, levels
from karat.extensions.mining.words import PACKAGE, Leak, content_words, is_identifier, leak
from karat.model import Query
from karat.system.package_data import read_sections


class Category(StrEnum):
    """The kind of a query."""

    ERROR = "error_search"
    API = "api_search"
    PATTERN = "pattern_search"
    FUNCTION = "function_search"
    CONCEPT = "concept_search"


@cache
def _cues() -> tuple[tuple[Category, frozenset[str]], ...]:
    """Return the words of each category, in the order in which categories are tried."""
    sections = read_sections(PACKAGE, "word_lists/categories.txt")
    return tuple(
        (Category(name), frozenset(" ".join(lines).split())) for name, lines in sections.items()
    )


def category(query: str) -> Category:
    """Return the category of *query*.

    The word table decides first. Otherwise a query with a code identifier is a search for a
    function, and any other query is a search for a concept.

    >>> [category(query).value for query in ("crash on empty body", "where is getUser used")]
    ['error_search', 'function_search']
    """
    words = content_words(query)
    for name, cues in _cues():
        if not cues.isdisjoint(words):
            return name
    return Category.FUNCTION if any(map(is_identifier, query.split())) else Category.CONCEPT


class Complexity(StrEnum):
    """How many files a case has: below 2, 2 to 20, above 20."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Difficulty(StrEnum):
    """How hard a query is for a search that only matches words."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class DifficultyFacts(NamedTuple):
    """The inputs of the difficulty; *candidates* counts the searchable files, 0 if unknown."""

    leak: Leak
    has_identifier: bool
    targets: int
    candidates: int = 0


_MANY_CANDIDATES = 1000


def complexity(files: int) -> Complexity:
    """Return the complexity class of a case with *files* target files.

    >>> [complexity(files).value for files in (1, 2, 20, 21)]
    ['low', 'medium', 'medium', 'high']
    """
    if files < 2:
        return Complexity.LOW
    return Complexity.MEDIUM if files <= 20 else Complexity.HIGH


def difficulty(facts: DifficultyFacts) -> Difficulty:
    """Return the difficulty class of a case; each fact that makes word matching harder adds points.

    A query that spells the file name (STEM and above) reveals the target. On django, a folder name
    in the query did not help a lexical search (37 % against 43 % first hits without; 62 % for
    STEM), and code identifiers helped most (57 % against 33 %), so these two facts count double.

    >>> difficulty(DifficultyFacts(Leak.PATH, has_identifier=True, targets=1)).value
    'easy'
    >>> facts = DifficultyFacts(Leak.NONE, has_identifier=False, targets=3, candidates=2600)
    >>> difficulty(facts).value
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


# Tag of the commit that a query was made from; its queries form one cluster.
CLUSTER = "commit"

_ID_LENGTH = 12


def format_time(seconds: int) -> str:
    """Return a time in seconds since 1970 as text.

    >>> format_time(86_400)
    '1970-01-02T00:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def cases(
    case: MinedCase, rewritten: RewrittenQuery, recipe: MiningRecipe, *, searched: FileCount | None
) -> Iterator[Query]:
    """Yield the queries of one mined commit; *rewritten* is its query text and the text's origin.

    Ids begin with the commit id; if a commit can have several queries, the commit id is also a tag.
    The category is that of the unchanged text; leak, identifier and difficulty are those of the
    final text. *searched* counts the files that can be searched, if known.
    """
    commit, paths = case.candidate.commit, tuple(file.path for file in case.files)
    targets = build_targets(case.files, recipe.grain)
    for suffix, text, variant in _variants(rewritten.text, paths, recipe, commit.id):
        facts = DifficultyFacts(
            leak(text, paths),
            any(map(is_identifier, text.split())),
            len(paths),
            searched.production if searched else 0,
        )
        tags = {
            "category": category(rewritten.text).value,
            "complexity": complexity(len(paths)).value,
            "difficulty": difficulty(facts).value,
            "leak": facts.leak.name.lower(),
            "identifier": "yes" if facts.has_identifier else "no",
            **variant,
            **({CLUSTER: commit.id[:_ID_LENGTH]} if recipe.has_variants else {}),
        }
        extra: dict[str, object] = {
            "base_commit": commit.parents[0],
            "commit_hash": commit.id,
            "query_status": rewritten.status.value,
            "timestamp": format_time(commit.time),
            "files": [_as_record(file) for file in case.files],
            "related_tests": list(_tests(case.candidate)),
            "candidates": searched._asdict() if searched else None,
        }
        yield Query(commit.id[:_ID_LENGTH] + suffix, text, targets, tags, extra)


def _variants(
    query: str, paths: Sequence[str], recipe: MiningRecipe, commit: str
) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Yield the id suffix, the text and the tags of each query that *recipe* requests.

    A level that does not change the text adds no query: the first level with a text keeps it.
    """
    texts = levels(query, paths, requested=recipe.hardness)
    used: set[str] = set()
    for level in recipe.hardness:
        if level not in texts or texts[level] in used:
            continue
        used.add(texts[level])
        suffix = f"-{level}" if len(recipe.hardness) > 1 else ""
        tags = {"hardness": level.value}
        if not recipe.adversarial:
            yield suffix, texts[level], tags
            continue
        yield suffix, texts[level], {**tags, "attack": "none"}
        # Seeded by the commit, so that the variants do not depend on the other sampled commits.
        rng = random.Random(f"{recipe.seed} {commit}")
        for attack, text in attacks(texts[level], rng).items():
            yield f"{suffix}-{attack}", text, {**tags, "attack": attack.value}


def _tests(candidate: Candidate) -> Iterator[str]:
    """Yield test files that existed before the commit; names that are not UTF-8 are skipped."""
    for change in candidate.related_tests:
        if (
            change.status != "A"
            and change.old_path.encode(errors="ignore").decode() == change.old_path
        ):
            yield change.old_path


def _as_record(file: TargetFile) -> dict[str, object]:
    """Return a target file as JSON; a region is ``first-last:grade`` and its definitions."""
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
