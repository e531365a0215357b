"""Choose questions: drop unclear and repeated ones, sample, and turn them into queries."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from karat.corpus.snapshot import Mask
from karat.extensions.mining.cases import DifficultyFacts, category, complexity, difficulty
from karat.extensions.mining.filters import FilterStep, FilterWaterfall
from karat.extensions.mining.questions.wording import Finding, Question, normalised
from karat.extensions.mining.sampling import NOT_SAMPLED
from karat.extensions.mining.words import content_words, is_identifier, leak
from karat.model import Query, Target
from karat.model.frozen import EMPTY
from karat.model.sampling import allocate

# Rules that drop a question, in their order, with the reason that users read.
RULES = {
    "excluded": "its file is excluded (--exclude-pattern)",
    "no-description": "the text describes nothing: a licence, a to-do, a reference",
    "generic": "the heading is generic, such as Introduction",
    "repeated": "several sections have this heading",
    "too-short": "fewer content words than a query needs",
    "too-long": "more than 40 words",
    "identifiers": "it consists of code identifiers",
    "nothing-left": "without the masked text, too little is left to find",
    "unresolved": "the code under test is unclear",
    "ambiguous": "more than three places have the same text",
    "near-duplicate": "another place is described in nearly the same words",
    NOT_SAMPLED: "left out by --limit",
}
# A text of this many places has several targets; of more, it is ambiguous.
_MOST_PLACES = 3
_ALIKE = 0.8
_FOLDERS = 8
# Shares of the words of a query that are in its target.
_FEW, _MOST = 1 / 3, 2 / 3
_ID_LENGTH = 12


class QuestionSample(NamedTuple):
    """The chosen questions in the order of the corpus, and how the others were dropped."""

    questions: tuple[Question, ...]
    waterfall: FilterWaterfall


def select_questions(
    candidates: Iterable[Question],
    *,
    limit: int,
    seed: int,
    excluded: Callable[[str], bool],
    further: Mapping[str, str] = EMPTY,
) -> QuestionSample:
    """Return at most *limit* clear and distinct questions, 0 for all of them.

    The sample is stratified by kind, language, folder (the eight largest, or any other) and leak
    level; inside a stratum, files take turns. It depends on the questions and *seed* only.
    *further* are rules before those of RULES.
    """
    questions = sorted(candidates, key=lambda one: one.origin)
    dropped: Counter[str] = Counter()
    clear = []
    for one in questions:
        reason = "excluded" if any(excluded(t.path) for t in one.targets) else one.reason
        if reason:
            dropped[reason] += 1
        else:
            clear.append(one)
    united = _united(clear, dropped)
    distinct = _distinct(united, dropped)
    chosen = sample_questions(distinct, limit, seed)
    dropped[NOT_SAMPLED] = len(distinct) - len(chosen)
    steps = tuple(
        FilterStep(rule, why, dropped[rule]) for rule, why in {**further, **RULES}.items()
    )
    # Places with the same text are one question.
    total = len(questions) - (len(clear) - dropped["ambiguous"] - len(united))
    return QuestionSample(tuple(chosen), FilterWaterfall(total, steps))


def _united(questions: Sequence[Question], dropped: Counter[str]) -> list[Question]:
    """Return one question for each text, with the targets of all places that have it."""
    groups: dict[str, list[Question]] = defaultdict(list)
    for one in questions:
        groups[normalised(one.text)].append(one)
    united = []
    for group in groups.values():
        targets = dict.fromkeys(target for one in group for target in one.targets)
        if len(targets) > _MOST_PLACES:
            dropped["ambiguous"] += len(group)
        else:
            united.append(group[0]._replace(targets=tuple(targets)))
    return united


def _distinct(questions: Sequence[Question], dropped: Counter[str]) -> list[Question]:
    """Return *questions* without all those that nearly repeat another one."""
    words = [frozenset(content_words(one.text)) for one in questions]
    rarity = Counter(word for some in words for word in some)
    by_word: dict[str, list[int]] = defaultdict(list)
    alike: set[int] = set()
    for index, own in enumerate(words):
        ordered = sorted(own, key=lambda word: (rarity[word], word))
        # Two sets this similar have one of their rarest words in common.
        prefix = ordered[: len(own) - int(_ALIKE * len(own)) + 1]
        for other in {other for word in prefix for other in by_word[word]}:
            shared = len(own & words[other])
            if shared >= _ALIKE * len(own | words[other]):
                alike |= {index, other}
        for word in prefix:
            by_word[word].append(index)
    dropped["near-duplicate"] += len(alike)
    return [one for index, one in enumerate(questions) if index not in alike]


def sample_questions(questions: Sequence[Question], limit: int, seed: int) -> list[Question]:
    """Return a stratified sample of *limit* questions in their order, 0 for all of them."""
    if not limit or len(questions) <= limit:
        return list(questions)
    folders = [_folder(one.targets[0].path) for one in questions]
    ranked = sorted(Counter(folders).items(), key=lambda item: (-item[1], item[0]))
    common = {folder for folder, _ in ranked[:_FOLDERS]}
    strata: dict[Hashable, list[int]] = defaultdict(list)
    for index, (one, folder) in enumerate(zip(questions, folders, strict=True)):
        level = leak(one.text, [target.path for target in one.targets]).name
        strata[one.kind, one.language, folder if folder in common else "*", level].append(index)
    rng = random.Random(seed)
    chosen: list[int] = []
    shares = allocate({key: len(strata[key]) for key in sorted(strata, key=repr)}, limit)
    for stratum, share in shares.items():
        indexes = strata[stratum]
        rng.shuffle(indexes)
        turns: Counter[str] = Counter()
        order: list[tuple[int, int, int]] = []
        for index in indexes:
            path = questions[index].targets[0].path
            order.append((turns[path], len(order), index))
            turns[path] += 1
        chosen += [index for *_, index in sorted(order)[:share]]
    return [questions[index] for index in sorted(chosen)]


def _folder(path: str) -> str:
    return "/".join(path.split("/")[:-1][:3])


def masks_by_path(
    findings: Mapping[str, Finding], chosen: Iterable[Question] | None
) -> dict[str, tuple[Mask, ...]]:
    """Return the masks of the *chosen* questions by path, or of all texts that were found."""
    origins = None if chosen is None else {one.origin for one in chosen}
    by_path = {}
    for path, finding in findings.items():
        masks = {
            mask
            for question, own in zip(finding.questions, finding.masks, strict=True)
            for mask in own
            if origins is None or question.origin in origins
        }
        if masks:
            by_path[path] = tuple(sorted(masks))
    return by_path


def overlap(query: str, passages: Iterable[str]) -> float:
    """Return the share of the content words of *query* that one of *passages* has, at most.

    >>> round(overlap("parse the cookie date", ["def parse(cookie): ..."]), 2)
    0.67
    """
    own = content_words(query)
    best = max((len(own & content_words(text)) for text in passages), default=0)
    return best / max(len(own), 1)


def overlap_tier(share: float) -> str:
    """Return the tag of an overlap: few, some or most of the words."""
    return "few" if share < _FEW else "some" if share < _MOST else "most"


def query_of(
    question: Question,
    read: Callable[[Target], str],
    *,
    candidates: int,
    extra: Mapping[str, object],
    tags: Mapping[str, str] | None = None,
) -> Query:
    """Return the query of a question; *read* returns the masked text of a target.

    The id is a hash of the path and the text, so that it does not depend on the other questions.
    """
    paths = list(dict.fromkeys(target.path for target in question.targets))
    facts = DifficultyFacts(
        leak(question.text, paths),
        any(map(is_identifier, question.text.split())),
        len(paths),
        candidates,
    )
    share = overlap(question.text, map(read, question.targets))
    label = sha256(f"{question.origin[0]}\0{normalised(question.text)}".encode()).hexdigest()
    return Query(
        f"{question.kind}-{label[:_ID_LENGTH]}",
        question.text,
        question.targets,
        {
            "category": category(question.text).value,
            "complexity": complexity(len(paths)).value,
            "difficulty": difficulty(facts).value,
            "identifier": "yes" if facts.has_identifier else "no",
            "kind": question.kind,
            "language": question.language,
            "leak": facts.leak.name.lower(),
            "overlap": overlap_tier(share),
            **(tags or {}),
        },
        {"query_status": question.kind, **extra},
    )
