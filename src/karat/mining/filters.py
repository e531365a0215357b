"""Commits in, candidates out, and a waterfall that says which rule dropped how many.

One pass over the history, which holds only what no rule drops. Two rules look at the history as a
whole and come last: a commit that a later one takes back, and one that asks the same as another.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from karat.errors import InputError, UnknownName
from karat.mining.commits import Candidate, Commit
from karat.mining.drafts import Draft, Role, Sorter
from karat.mining.messages import opening
from karat.mining.rules import NO_TARGET, CaseLimits, Rule, rules

__all__ = [
    "CODE_EQUAL",
    "DUPLICATE",
    "Chains",
    "FilterStep",
    "FilterWaterfall",
    "Filters",
    "Reverts",
    "Selection",
    "oldest",
    "rule_table",
    "select",
]


class Chains:
    """Rules, sorted by which commits they may drop."""

    def __init__(self, asked: Sequence[Rule]) -> None:
        """Ask the rules *asked*: first those about files, then reasons, then the others."""
        self._reasons = [(rule.reason, rule.name) for rule in asked if rule.reason]
        said = [place for place, rule in enumerate(asked) if rule.reason]
        # Without reasons the first chain is all there is.
        files, text = (asked[: said[0]], asked[said[-1] + 1 :]) if said else (asked, ())
        self._found = [(rule.name, rule.drops) for rule in files if not rule.targetless]
        self._not_found = {
            sole: [(rule.name, rule.drops) for rule in files if rule.role in {None, sole}]
            for sole in (None, *Role)
        }
        self._text = [(rule.name, rule.drops) for rule in text]

    def first(self, draft: Draft) -> str:
        """Return the name of the first rule that drops *draft*, "" if none does."""
        files = draft.files
        for name, drops in self._found if files.targets else self._not_found[files.sole]:
            if drops(draft):
                return name
        said = draft.text.reasons
        if said:
            for reason, name in self._reasons:
                if reason in said:
                    return name
        for name, drops in self._text:
            if drops(draft):
                return name
        return ""


class FilterStep(NamedTuple):
    """One rule, and how many of those that reached it it dropped."""

    rule: str
    why: str
    dropped: int


class FilterWaterfall(NamedTuple):
    """How *total* commits became as many cases as are *kept*.

    >>> fall = FilterWaterfall(10, (FilterStep("merge", "it only joins two lines of work", 4),))
    >>> fall.kept, fall.then("code-equal", "it changes no code", 1).kept
    (6, 5)
    """

    total: int
    steps: tuple[FilterStep, ...]

    @property
    def kept(self) -> int:
        """How many no rule dropped."""
        return self.total - sum(step.dropped for step in self.steps)

    def then(self, rule: str, why: str, dropped: int) -> "FilterWaterfall":
        """Return the waterfall with one more rule at its end."""
        return self._replace(steps=(*self.steps, FilterStep(rule, why, dropped)))

    def rows(self) -> Iterator[tuple[str, int, int]]:
        """Yield each rule with how many it dropped and how many were left after it."""
        left = self.total
        for step in self.steps:
            left -= step.dropped
            yield step.rule, step.dropped, left


_IDS = re.compile(r"(?i:revert\w*|back(?:ed|s)? out|undo\w*)[\s\w:,]*?\b([0-9a-f]{7,40})\b")
_TITLE = re.compile(r"(?:\[[^\]]*\] *)?(?i:revert\w*|back(?:ed)? out)[\s:]+[\"“'](.+)[\"”']")


class Reverts:
    """Collects what commits say that they take back; commits may come in any order."""

    def __init__(self) -> None:
        """Start with nothing taken back."""
        self._ids: set[str] = set()
        self._lengths: set[int] = set()
        self._titles: dict[str, int] = {}

    def note(self, commit: Commit) -> None:
        """Remember what *commit* takes back, if it does."""
        message = commit.message
        if not ("evert" in message or "ndo" in message or ("ack" in message and " out" in message)):
            return
        for found in _IDS.findall(message):
            self._ids.add(found)
            self._lengths.add(len(found))
        title = _TITLE.match(message)
        if title:
            self._titles[title[1]] = max(commit.time, self._titles.get(title[1], 0))

    def without_reverted(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return those of *candidates* that no commit seen so far takes back."""
        return [candidate for candidate in candidates if not self.took_back(candidate.commit)]

    def took_back(self, commit: Commit) -> bool:
        """Say whether one seen so far takes *commit* back: by its id, or later by its title."""
        if any(commit.id[:length] in self._ids for length in self._lengths):
            return True
        return self._titles.get(opening(commit.message), -1) >= commit.time


DUPLICATE = "duplicate"

WHOLE_HISTORY = {
    "reverted": "a later commit takes it back",
    DUPLICATE: "another commit asks the same",
}
# It has to read files, so it is asked of those commits only that are drawn.
CODE_EQUAL = "code-equal"
_WORDS = re.compile(r"\w+")


class Filters(NamedTuple):
    """What is asked of a commit.

    *off* holds names of rules that are not asked. With a rule such as ``docs-only`` off, files of
    that kind may be targets. *exclude* holds patterns as in ``.gitignore``; the files that they
    name are in no truth, and a commit that changes nothing else has none.
    """

    limits: CaseLimits = CaseLimits()
    off: frozenset[str] = frozenset()
    exclude: tuple[str, ...] = ()

    @property
    def roles(self) -> list[Role]:
        """What a file may be to be a target."""
        return [Role.SOURCE, *(role for role in Role if f"{role}-only" in self.off)]


_ALL = Filters()


class Selection(NamedTuple):
    """The commits that may become cases, in the order of the history, and how they were found."""

    candidates: list[Candidate]
    waterfall: FilterWaterfall


def rule_table() -> dict[str, str]:
    """Return every rule that can be turned off, with its reason, in the order of asking."""
    one_commit = {rule.name: rule.why for rule in rules(CaseLimits()) if rule.name != NO_TARGET}
    changed = {CODE_EQUAL: "it changes only comments, docstrings or layout"}
    return one_commit | WHOLE_HISTORY | changed


def select(commits: Iterable[Commit], filters: Filters = _ALL) -> Selection:
    """Return the candidates among *commits*, which may come in any order."""
    _check_names(filters.off)
    asked = [rule for rule in rules(filters.limits) if rule.name not in filters.off]
    chains = Chains(asked)
    sort = Sorter(filters.roles, _excluder(filters.exclude)).sort
    dropped: Counter[str] = Counter()
    reverts = Reverts()
    kept: list[Candidate] = []
    total = 0
    for commit in commits:
        total += 1
        reverts.note(commit)
        draft = Draft(commit, sort(commit.changes))
        if dropping := chains.first(draft):
            dropped[dropping] += 1
        else:
            kept.append(draft.candidate())
    fall = FilterWaterfall(
        total, tuple(FilterStep(name, why, dropped[name]) for name, why, *_ in asked)
    )
    for name, narrow in (("reverted", reverts.without_reverted), (DUPLICATE, _distinct)):
        if name not in filters.off:
            fewer = narrow(kept)
            fall = fall.then(name, WHOLE_HISTORY[name], len(kept) - len(fewer))
            kept = fewer
    return Selection(kept, fall)


def _check_names(off: Collection[str]) -> None:
    known = rule_table()
    for name in sorted(off):
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise UnknownName(f"no rule named {name!r}; {hint}")


def _excluder(patterns: Sequence[str]) -> Callable[[str], bool] | None:
    if not patterns:
        return None
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns).match_file
    except ValueError as error:
        raise InputError(f"{error}; expected patterns as in .gitignore") from error


def oldest(queries: Iterable[tuple[Candidate, str]]) -> set[str]:
    """Return the commits to keep so that no two ask the same, by candidates with their query.

    Case and punctuation do not count. The oldest commit of each query stays: one that was picked
    onto another branch is younger.
    """
    first: dict[str, Candidate] = {}
    for candidate, query in queries:
        key = " ".join(_WORDS.findall(query.lower()))
        known = first.setdefault(key, candidate)
        if known is not candidate and _age(candidate) < _age(known):
            first[key] = candidate
    return {candidate.commit.id for candidate in first.values()}


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    kept = oldest((candidate, candidate.query) for candidate in candidates)
    return [candidate for candidate in candidates if candidate.commit.id in kept]


def _age(candidate: Candidate) -> tuple[int, str]:
    return candidate.commit.time, candidate.commit.id
