"""Commits in, candidates out, and a waterfall that says which rule dropped how many.

One pass over the history, which holds only what no rule drops. Two rules look at the history as a
whole and come last: a commit that a later one takes back, and one that asks the same as another.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from karat.errors import UnknownName
from karat.mining.candidates import Candidate
from karat.mining.commits import Commit
from karat.mining.drafts import Draft, Sorter
from karat.mining.reverts import Reverts
from karat.mining.roles import Role
from karat.mining.rules import NO_TARGET, Limits, rules
from karat.mining.waterfall import Step, Waterfall

__all__ = ["WHOLE_HISTORY", "Filters", "Selection", "rule_names", "select"]

WHOLE_HISTORY = {
    "reverted": "a later commit takes it back",
    "duplicate": "another commit asks the same",
}
_WORDS = re.compile(r"\w+")


class Filters(NamedTuple):
    """What is asked of a commit.

    *off* holds names of rules that are not asked. With a rule such as ``docs-only`` off, files of
    that kind may be targets. *exclude* holds patterns as in ``.gitignore``; the files that they
    name are in no truth, and a commit that changes nothing else has none.
    """

    limits: Limits = Limits()
    off: frozenset[str] = frozenset()
    exclude: tuple[str, ...] = ()


_ALL = Filters()


class Selection(NamedTuple):
    """The commits that may become cases, in the order of the history, and how they were found."""

    candidates: list[Candidate]
    waterfall: Waterfall


def rule_names() -> tuple[str, ...]:
    """Return the names of all rules, in the order in which they are asked."""
    return (*(rule.name for rule in rules(Limits()) if rule.name != NO_TARGET), *WHOLE_HISTORY)


def select(commits: Iterable[Commit], filters: Filters = _ALL) -> Selection:
    """Return the candidates among *commits*, which may come in any order."""
    _check_names(filters.off)
    asked = [rule for rule in rules(filters.limits) if rule.name not in filters.off]
    sort = Sorter(_target_roles(filters.off), _excluder(filters.exclude)).sort
    dropped: Counter[str] = Counter()
    reverts = Reverts()
    kept: list[Candidate] = []
    total = 0
    for commit in commits:
        total += 1
        reverts.note(commit)
        draft = Draft(commit, sort(commit.changes))
        for rule in asked:
            if rule.drops(draft):
                dropped[rule.name] += 1
                break
        else:
            kept.append(draft.candidate())
    fall = Waterfall(total, tuple(Step(name, why, dropped[name]) for name, why, _ in asked))
    for name, narrow in (("reverted", reverts.without_reverted), ("duplicate", _distinct)):
        if name not in filters.off:
            fewer = narrow(kept)
            fall = fall.then(name, WHOLE_HISTORY[name], len(kept) - len(fewer))
            kept = fewer
    return Selection(kept, fall)


def _check_names(off: Collection[str]) -> None:
    known = rule_names()
    for name in sorted(off):
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise UnknownName(f"no rule named {name!r}; {hint}")


def _target_roles(off: Collection[str]) -> list[Role]:
    return [Role.SOURCE, *(role for role in Role if f"{role}-only" in off)]


def _excluder(patterns: Sequence[str]) -> Callable[[str], bool] | None:
    if not patterns:
        return None
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns).match_file


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the oldest of those that ask the same; a commit picked onto a branch is younger."""
    oldest: dict[str, Candidate] = {}
    for candidate in candidates:
        key = " ".join(_WORDS.findall(candidate.query.lower()))
        known = oldest.setdefault(key, candidate)
        if _age(candidate) < _age(known):
            oldest[key] = candidate
    chosen = {candidate.commit.id for candidate in oldest.values()}
    return [candidate for candidate in candidates if candidate.commit.id in chosen]


def _age(candidate: Candidate) -> tuple[int, str]:
    return candidate.commit.time, candidate.commit.id
