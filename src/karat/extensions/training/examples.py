"""Training examples from a gold set: choose hard negatives, split, and drop contaminated queries.

Nothing here reads files or runs engines; :mod:`karat.extensions.training.export` does both.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, isnan, nan
from typing import NamedTuple

from karat.errors import InputError
from karat.model import Dataset, Query
from karat.model.sampling import allocate, split_by_time
from karat.system.words import counted

_WORDS = re.compile(r"\w+")
# Share of common words from which two texts count as copies of each other.
COPY = 0.8
# A text with fewer words, such as a line of imports, teaches a model nothing.
LEAST_WORDS = 5


class TrainingText(NamedTuple):
    """A chunk as training text, and where it comes from.

    A positive has a grade above 0. *rank* and *score* are those of the engine, 0 and NaN if it did
    not return the chunk.
    """

    text: str
    path: str
    start_line: int
    end_line: int
    grade: float = 0.0
    rank: int = 0
    score: float = nan


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A query with its positive texts and its hard negatives, best ranked first.

    *others* are further texts of its targets, which are not exported.
    """

    query: Query
    positives: tuple[TrainingText, ...]
    negatives: tuple[TrainingText, ...] = ()
    others: tuple[TrainingText, ...] = ()

    @property
    def commit(self) -> str:
        """The commit that the query was mined from, "" for any other query."""
        return str(self.query.extra.get("commit_hash") or "")


@dataclass(frozen=True, slots=True)
class NegativeRules:
    """Which hits become negatives.

    The first *skip* ranks are left out, and *count* are taken from the first *depth*. A negative
    scores at most *max_score_ratio* of the best scored positive ("TopK-PercPos" in NV-Retriever,
    arXiv 2407.15831); 0 turns that off. With *same_file*, other chunks of a file with a target may
    be negatives. Without *any_language*, negatives are in the language of a positive: others are
    too easy.
    """

    count: int = 3
    skip: int = 0
    depth: int = 100
    max_score_ratio: float = 0.95
    same_file: bool = False
    any_language: bool = False

    def check(self) -> None:
        """Raise InputError if no hit can satisfy the rules."""
        if self.skip >= self.depth:
            raise InputError(
                f"--skip {self.skip} leaves no hits of --depth {self.depth}; expected a smaller "
                "--skip or a larger --depth"
            )


class CandidateText(NamedTuple):
    """A hit that may become a negative.

    *grade* is the grade that the gold set gives it, None if it is not judged. *beside* says that a
    target is in the same file, *foreign* that no positive is in its language.
    """

    text: TrainingText
    grade: float | None = None
    beside: bool = False
    foreign: bool = False


def choose_negatives(
    candidates: Sequence[CandidateText],
    positives: Sequence[TrainingText],
    rules: NegativeRules,
    dropped: Counter[str],
) -> tuple[TrainingText, ...]:
    """Return the negatives among *candidates*, the first hits of an engine, best first.

    *dropped* counts the other hits by reason, up to the rank of the last negative. A hit that was
    graded 0 is a negative whatever its score.

    >>> far = TrainingText("def read(path): return open(path)", "io.py", 1, 1, rank=2, score=3.0)
    >>> near = far._replace(text="def log_in(user, secret): check(user)", rank=1, score=9.0)
    >>> right = TrainingText("def login(user): return check(user)", "a.py", 1, 1, 2.0, 1, 8.0)
    >>> dropped = Counter()
    >>> hits = [CandidateText(near), CandidateText(far)]
    >>> [one.rank for one in choose_negatives(hits, [right], NegativeRules(), dropped)]
    [2]
    >>> dropped
    Counter({'scores too close to the positive': 1})
    """
    scores = [positive.score for positive in positives if not isnan(positive.score)]
    known = [_bag(positive.text) for positive in positives]
    limit = _limit(scores, rules.max_score_ratio)
    negatives: list[TrainingText] = []
    taken: list[Counter[str]] = []
    for candidate in candidates[: rules.depth]:
        if len(negatives) == rules.count:
            break
        bag = _bag(candidate.text.text)
        if reason := _reason(candidate, rules, limit):
            dropped[reason] += 1
        elif any(overlap(bag, other) >= COPY for other in known):
            dropped["copy of a positive"] += 1
        elif any(overlap(bag, other) >= COPY for other in taken):
            dropped["copy of another negative"] += 1
        elif bag.total() < LEAST_WORDS:
            dropped["too short"] += 1
        else:
            negatives.append(candidate.text)
            taken.append(bag)
    return tuple(negatives)


def _limit(scores: Sequence[float], ratio: float) -> float | None:
    """Return the highest score of a negative, None without a limit.

    Logits of a reranker may be negative: a share of them is a higher score, so the limit is then
    the score itself.
    """
    if not ratio or not scores:
        return None
    best = max(scores)
    return best * ratio if best > 0 else best


def _reason(candidate: CandidateText, rules: NegativeRules, limit: float | None) -> str:
    """Return why a hit cannot be a negative, "" if its place, grade and score allow it."""
    text, grade, beside, foreign = candidate
    reasons = {
        "relevant": bool(grade),
        "skipped rank": text.rank <= rules.skip,
        "same file as a target": grade is None and beside and not rules.same_file,
        "another language": foreign and not rules.any_language,
        "scores too close to the positive": (
            grade is None and limit is not None and text.score > limit
        ),
    }
    return next((reason for reason, applies in reasons.items() if applies), "")


def _bag(text: str) -> Counter[str]:
    return Counter(_WORDS.findall(text.lower()))


def overlap(first: Counter[str], second: Counter[str]) -> float:
    """Return the share of common words of two bags of words, 1 for equal bags.

    >>> overlap(Counter("abc"), Counter("abcd"))
    0.75
    """
    total = (first | second).total()
    return (first & second).total() / total if total else 1.0


class NearCopies:
    """Finds texts that share at least COPY of their words with one of *texts*.

    Two such texts share one of their rarest words, so only texts with one of these are compared
    (prefix filtering, Chaudhuri et al. 2006): the result is exact.

    >>> held = NearCopies(["fix the crash when a session cookie expires early"])
    >>> "Fix the crash when session cookie expires early!" in held, "fix the crash" in held
    (True, False)
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Index *texts* by their rarest words."""
        self._bags = [_bag(text) for text in dict.fromkeys(texts)]
        self._counts = Counter(word for bag in self._bags for word in bag)
        self._by_word: dict[tuple[str, int], list[int]] = {}
        for number, bag in enumerate(self._bags):
            for word in self._rarest(bag):
                self._by_word.setdefault(word, []).append(number)

    def __contains__(self, text: object) -> bool:
        """Return whether *text* is one of the texts, or nearly so."""
        bag = _bag(str(text))
        near = {number for word in self._rarest(bag) for number in self._by_word.get(word, ())}
        return any(overlap(bag, self._bags[number]) >= COPY for number in near)

    def _rarest(self, bag: Counter[str]) -> list[tuple[str, int]]:
        """Return the words one of which a copy must share; each occurrence counts by itself."""
        words = [(word, number) for word, count in bag.items() for number in range(count)]
        words.sort(key=lambda word: (self._counts[word[0]], word))
        return words[: len(words) - ceil(COPY * len(words)) + 1]


@dataclass(frozen=True, slots=True)
class Contamination:
    """What training data shares with held-out data: the ids of queries by reason.

    A query may have several reasons. *negatives* counts negatives of other queries that are nearly
    the text of a held-out target.
    """

    queries: Mapping[str, tuple[str, ...]]
    negatives: int

    @property
    def ids(self) -> frozenset[str]:
        """The queries that share anything."""
        return frozenset(one for ids in self.queries.values() for one in ids)


SAME_QUERY, SAME_COMMIT, SAME_TARGET = "same query", "same commit", "same target text"


def without_held_out(
    examples: Sequence[TrainingExample], held_out: Collection[TrainingExample]
) -> tuple[list[TrainingExample], Contamination]:
    """Return *examples* without what they share with *held_out*, and what that was.

    Dropped are queries whose text is nearly that of a held-out query, queries of the same commit,
    queries with a positive that is nearly the text of a held-out target, and negatives that are
    nearly such a text. A query may lose all its negatives that way; it then stays.
    """
    texts = NearCopies(example.query.text for example in held_out)
    commits = {example.commit for example in held_out} - {""}
    targets = NearCopies(
        text.text for example in held_out for text in (*example.positives, *example.others)
    )
    shared: dict[str, list[str]] = {SAME_QUERY: [], SAME_COMMIT: [], SAME_TARGET: []}
    clean: list[TrainingExample] = []
    negatives = 0
    for example in examples:
        reasons = {
            SAME_QUERY: example.query.text in texts,
            SAME_COMMIT: example.commit in commits,
            SAME_TARGET: any(text.text in targets for text in example.positives),
        }
        for reason, applies in reasons.items():
            if applies:
                shared[reason].append(example.query.id)
        if not any(reasons.values()):
            left = tuple(text for text in example.negatives if text.text not in targets)
            negatives += len(example.negatives) - len(left)
            clean.append(replace(example, negatives=left))
    return clean, Contamination({reason: tuple(ids) for reason, ids in shared.items()}, negatives)


def split_dataset(
    gold: Dataset, names: Sequence[str], *, by: str, held_out: float
) -> dict[str, tuple[str, ...]]:
    """Return the query ids of each part, the training part first.

    *held_out* is the share of the queries outside the first part; of two further parts, each gets
    half. By ``time`` each part is newer than the one before. By ``repository`` all queries of a
    repository are in one part.
    """
    if len(set(names)) != len(names) or not 2 <= len(names) <= 3:
        raise InputError(
            f"--split {','.join(names)}: expected two or three different names, such as train,dev"
        )
    return _SPLITS[by](gold, names, held_out)


def _by_time(gold: Dataset, names: Sequence[str], held_out: float) -> dict[str, tuple[str, ...]]:
    for query in gold.queries():
        if not query.extra.get("timestamp"):
            raise InputError(
                f"query {query.id!r} has no timestamp and cannot be split by time; expected a "
                "gold set of karat generate, or --split-by repository"
            )
    first, *others = names
    older, rest = split_by_time(gold, (first, others[0]), share=held_out)
    parts = {first: older, others[0]: rest}
    if len(others) > 1:
        parts |= zip(others, split_by_time(rest, (others[0], others[1]), share=0.5), strict=True)
    return {name: part.query_ids for name, part in parts.items()}


def _by_repository(
    gold: Dataset, names: Sequence[str], held_out: float
) -> dict[str, tuple[str, ...]]:
    of_query = gold.tags.get("repository", ("",) * len(gold))
    sizes = Counter(of_query)
    if len(sizes) < len(names):
        raise InputError(
            f"{gold.name} has {counted(len(sizes), 'repository')} for {len(names)} parts; expected "
            "at least one repository per part, or --split-by time"
        )
    shares = [1 - held_out, *[held_out / (len(names) - 1)] * (len(names) - 1)]
    left = dict(
        allocate(
            {name: round(1_000_000 * share) for name, share in zip(names, shares, strict=True)},
            len(gold),
        )
    )
    # The largest repositories first; each goes to the part that lacks most queries, and an empty
    # part comes first when the repositories run out.
    part_of: dict[str, str] = {}
    ordered = sorted(sizes, key=lambda name: (-sizes[name], name))
    for number, repository in enumerate(ordered):
        empty = [name for name in names if name not in part_of.values()]
        choice = empty if len(ordered) - number <= len(empty) else names
        part = max(choice, key=lambda name: left[name])
        part_of[repository] = part
        left[part] -= sizes[repository]
    return {
        name: tuple(
            query_id
            for query_id, repository in zip(gold.query_ids, of_query, strict=True)
            if part_of[repository] == name
        )
        for name in names
    }


_SPLITS: Mapping[str, Callable[[Dataset, Sequence[str], float], dict[str, tuple[str, ...]]]] = {
    "time": _by_time,
    "repository": _by_repository,
}
