"""Commits in, candidates out, and a waterfall that says which rule dropped how many.

One pass over the history, which holds only what no rule drops. Two rules look at the history as a
whole and come last: a commit that a later one takes back, and one that asks the same as another.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from karat.errors import InputError, UnknownName
from karat.mining.candidates import Candidate
from karat.mining.chains import Chains
from karat.mining.commits import Commit
from karat.mining.drafts import Draft, Sorter
from karat.mining.reverts import Reverts
from karat.mining.roles import Role
from karat.mining.rules import NO_TARGET, Limits, rules
from karat.mining.waterfall import Step, Waterfall

__all__ = ["CODE_EQUAL", "DUPLICATE", "Filters", "Selection", "oldest", "rule_table", "select"]

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

    limits: Limits = Limits()
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
    waterfall: Waterfall


def rule_table() -> dict[str, str]:
    """Return every rule that can be turned off, with its reason, in the order of asking."""
    one_commit = {rule.name: rule.why for rule in rules(Limits()) if rule.name != NO_TARGET}
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
    fall = Waterfall(total, tuple(Step(name, why, dropped[name]) for name, why, *_ in asked))
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
