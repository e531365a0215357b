"""Sample cases from the candidates; replace candidates that turn out to be unusable."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from karat.extensions.mining.commits import Candidate, Change, Commit, UnreadableCommits
from karat.extensions.mining.drafts import Role
from karat.extensions.mining.filters import (
    CODE_EQUAL,
    Filters,
    FilterWaterfall,
    Selection,
    rule_table,
)
from karat.extensions.mining.targets import TargetFile, read_targets
from karat.extensions.mining.words import leak
from karat.model.sampling import allocate

_PERIODS = 4
_FOLDERS = 8
_OTHER = "*"


class Sampler:
    """Draws a stratified sample from *candidates*, without replacement.

    A stratum is a quarter of the history, a leak level, a number of targets (1, 2 to 3, more) and a
    folder (one of the eight largest, or any other). Each stratum gets its proportional share, and
    at least one case while there is room. Inside a stratum the choice is random, by *seed* only.
    """

    def __init__(self, candidates: Sequence[Candidate], seed: int) -> None:
        """Sort *candidates* into strata and shuffle each."""
        self._candidates = candidates
        strata: defaultdict[Hashable, list[int]] = defaultdict(list)
        for index, stratum in enumerate(_strata(candidates)):
            strata[stratum].append(index)
        self._left = {stratum: strata[stratum] for stratum in sorted(strata, key=repr)}
        rng = random.Random(seed)
        for indexes in self._left.values():
            rng.shuffle(indexes)

    def __len__(self) -> int:
        return sum(map(len, self._left.values()))

    def take(self, limit: int) -> list[Candidate]:
        """Return *limit* of the remaining candidates in their order, or all if there are fewer."""
        shares = allocate({stratum: len(indexes) for stratum, indexes in self._left.items()}, limit)
        chosen = [self._left[stratum].pop() for stratum in shares for _ in range(shares[stratum])]
        return [self._candidates[index] for index in sorted(chosen)]


def _strata(candidates: Sequence[Candidate]) -> list[Hashable]:
    by_time = sorted(range(len(candidates)), key=lambda index: candidates[index].commit.time)
    period = {index: rank * _PERIODS // len(by_time) for rank, index in enumerate(by_time)}
    folders = [_folder(candidate.paths[0]) for candidate in candidates]
    common = {folder for folder, _ in sorted(Counter(folders).items(), key=_most)[:_FOLDERS]}
    return [
        (
            period[index],
            leak(candidate.query, candidate.paths).name,
            min(len(candidate.targets), 4) // 2,
            folder if folder in common else _OTHER,
        )
        for index, (candidate, folder) in enumerate(zip(candidates, folders, strict=True))
    ]


def _most(counted: tuple[str, int]) -> tuple[int, str]:
    return -counted[1], counted[0]


def _folder(path: str) -> str:
    """Return the first two folders of *path*; one folder often contains everything."""
    return "/".join(path.split("/")[:-1][:2])


# Reasons to drop a candidate here, besides the rule table; they cannot be turned off.
NOT_SAMPLED, TOO_HARD, UNREADABLE = "not-drawn", "too-hard", "unreadable"
_WHY = {
    NOT_SAMPLED: "left out by --limit",
    TOO_HARD: "too few words are left at the chosen hardness",
    UNREADABLE: "too few of its files are readable text",
}
# Half of the shortest command line limit (Windows); each path needs some characters around it.
_LONGEST = 16_000


class MinedCase(NamedTuple):
    """A case: a candidate commit, and its target files before it."""

    candidate: Candidate
    files: tuple[TargetFile, ...]


class Sampling(NamedTuple):
    """How to sample: the number of cases (0: all) and the conditions.

    A candidate for which *fits* is false is replaced. Without *syntax* nothing is parsed.
    """

    limit: int
    seed: int
    fits: Callable[[Candidate], bool]
    syntax: bool = True


class SampledCases(NamedTuple):
    """Cases in the order of the history, and the waterfall that led to them."""

    cases: list[MinedCase]
    waterfall: FilterWaterfall


def sample_cases(
    repository: str,
    selection: Selection,
    filters: Filters,
    sampling: Sampling,
    *,
    unreadable: UnreadableCommits,
    progress: Callable[[int, int], None] | None = None,
) -> SampledCases:
    """Return as many cases as *sampling* requests, or all that *selection* has.

    Files with equal code before and after are not targets; the rest must still satisfy the limits
    of *filters*. *progress* is called with the number of cases so far and the total; if there are
    fewer cases than requested, the last call still reports completion.
    """
    sampler = Sampler(selection.candidates, sampling.seed)
    count = min(sampling.limit or len(sampler), len(sampler))
    dropped = Counter({NOT_SAMPLED: 0, TOO_HARD: 0, UNREADABLE: 0, CODE_EQUAL: 0})
    cases: dict[str, MinedCase] = {}
    while some := sampler.take(count - len(cases)):
        fitting = [candidate for candidate in some if sampling.fits(candidate)]
        dropped[TOO_HARD] += len(some) - len(fitting)
        examined = _examined(
            repository, fitting, filters, syntax=sampling.syntax, unreadable=unreadable
        )
        for case, reason in examined:
            if reason:
                dropped[reason] += 1
            else:
                cases[case.candidate.commit.id] = case
                if progress:
                    progress(len(cases), count)
    if progress and len(cases) < count:
        progress(count, count)
    dropped[NOT_SAMPLED] = len(sampler)
    fall = selection.waterfall
    for rule, why in {**_WHY, CODE_EQUAL: rule_table()[CODE_EQUAL]}.items():
        fall = fall.then(rule, why, dropped[rule])
    ordered = (cases.get(candidate.commit.id) for candidate in selection.candidates)
    return SampledCases([case for case in ordered if case], fall)


def _examined(
    repository: str,
    candidates: Sequence[Candidate],
    filters: Filters,
    *,
    syntax: bool,
    unreadable: UnreadableCommits,
) -> Iterator[tuple[MinedCase, str]]:
    """Yield each of *candidates* with its targets and the reason to drop it ("" for none)."""
    least = max(filters.limits.min_files, 1)
    waiting = {candidate.commit.id: candidate for candidate in candidates}
    paths = {path for candidate in candidates for path in candidate.paths}
    for commit, known in read_targets(
        repository,
        list(waiting),
        selects=paths.__contains__,
        paths=_compared(candidates),
        syntax=syntax,
        minified=Role.GENERATED in filters.roles,
        unreadable=unreadable,
    ):
        candidate = waiting.pop(commit)
        files = tuple(file for file in known if file.path in candidate.paths)
        altered = files
        if CODE_EQUAL not in filters.off:
            altered = tuple(file for file in files if not file.same_code)
        reason = UNREADABLE if len(files) < least else CODE_EQUAL if len(altered) < least else ""
        yield MinedCase(candidate, altered), reason
    for candidate in waiting.values():
        yield MinedCase(candidate, ()), UNREADABLE


def _compared(candidates: Sequence[Candidate]) -> set[str]:
    """Return the paths that the diffs of *candidates* need; empty means all paths.

    Renames are detected among everything that a commit deletes and adds.
    """
    paths = {
        path
        for candidate in candidates
        for change in (*candidate.targets, *_moves(candidate.commit))
        for path in (change.old_path, change.path)
    }
    # Non-ASCII paths may be encoded differently on the way to Git.
    handed_over = sum(map(len, paths)) <= _LONGEST and all(map(str.isascii, paths))
    return paths if handed_over else set()


def _moves(commit: Commit) -> list[Change]:
    """Return the files that *commit* deletes or adds; none if a rename is impossible."""
    moved = [change for change in commit.changes if change.status in "ADR"]
    return moved if any(change.status != "A" for change in moved) else []
