"""The difficulty of any query: how many of its words its targets share."""

from collections.abc import Sequence
from dataclasses import replace

from karat.corpus import Corpus
from karat.corpus.chunkers.base import lines_of
from karat.engines.lexical.tokens import TokenRules
from karat.experiments.target_check import Where
from karat.model import Dataset, Target

__all__ = ["DIFFICULTY", "difficulty_of", "with_difficulty"]

DIFFICULTY = "difficulty"
# The least share of shared words of each class.
EASY, MEDIUM = 0.8, 0.5
UNKNOWN = "unknown"
RULES = TokenRules(whole=False)


def with_difficulty(gold: Dataset, where: Where) -> Dataset:
    """Return *gold* with the tag ``difficulty`` for every query; one that it has stays.

    It is that of :func:`difficulty_of`, in the snapshot that each query is searched on.
    """
    if DIFFICULTY in gold.tags:
        return gold
    found = [UNKNOWN] * len(gold)
    with where.snapshots(gold, seed=0) as snapshots:
        for corpus, wanted, _ in snapshots:
            for row in wanted.rows:
                found[row] = difficulty_of(gold.texts[row], gold.targets(row), corpus)
    return replace(gold, tags={**gold.tags, DIFFICULTY: tuple(found)})


def difficulty_of(query: str, targets: Sequence[Target], corpus: Corpus) -> str:
    """Return ``easy``, ``medium`` or ``hard``: how hard a query is for a search by words.

    Counted is the share of the distinct terms of the query, split and stemmed as for BM25, that are
    in the path or the text of a relevant target, in its lines if it has any; the target with the
    highest share decides. Easy is 80 % or more, medium 50 % or more, hard less. Without a term, or
    without a relevant target in the corpus, it is ``unknown``.

    >>> from karat.corpus import from_texts
    >>> corpus = from_texts({"auth.py": "def login(user): check the password"})
    >>> [difficulty_of(text, [Target("auth.py")], corpus) for text in (
    ...     "user login with a password", "user login in a browser", "sign in")]
    ['easy', 'medium', 'hard']
    """
    terms = set(RULES.terms(query))
    relevant = [target for target in targets if target.grade > 0 and target.path in corpus.by_path]
    if not terms or not relevant:
        return UNKNOWN
    share = max(len(terms & _terms(target, corpus)) for target in relevant) / len(terms)
    if share >= EASY:
        return "easy"
    return "medium" if share >= MEDIUM else "hard"


def _terms(target: Target, corpus: Corpus) -> set[str]:
    text = corpus.read(target.path)
    if target.end_line:
        text = "".join(lines_of(text)[target.start_line - 1 : target.end_line])
    return {*RULES.terms(target.path), *RULES.terms(text)}
