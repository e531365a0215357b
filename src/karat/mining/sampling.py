"""Some of many candidates, such that every kind of case has its share."""

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from karat.mining.candidates import Candidate
from karat.mining.leaks import leak

__all__ = ["Sampler", "seats"]

Stratum = TypeVar("Stratum", bound=Hashable)

_PERIODS = 4
_FOLDERS = 8
_OTHER = "*"


class Sampler:
    """Draws from *candidates*; what was drawn is not drawn again.

    A stratum is a quarter of the history, a leak, a number of targets (1, 2 to 3, more) and a
    folder (the eight with most cases, or any other). Each gets its proportional share, and one
    as long as there is room; within it chance decides, by *seed* alone.
    """

    def __init__(self, candidates: Sequence[Candidate], seed: int) -> None:
        """Sort *candidates* into strata and shuffle each."""
        self._candidates = candidates
        strata: defaultdict[Hashable, list[int]] = defaultdict(list)
        for place, stratum in enumerate(_strata(candidates)):
            strata[stratum].append(place)
        self._left = {stratum: strata[stratum] for stratum in sorted(strata, key=repr)}
        rng = random.Random(seed)
        for places in self._left.values():
            rng.shuffle(places)

    def __len__(self) -> int:
        return sum(map(len, self._left.values()))

    def take(self, limit: int) -> list[Candidate]:
        """Return *limit* of those that are left, in their order; all where there are no more."""
        shares = seats({stratum: len(places) for stratum, places in self._left.items()}, limit)
        chosen = [self._left[stratum].pop() for stratum in shares for _ in range(shares[stratum])]
        return [self._candidates[place] for place in sorted(chosen)]


def seats(sizes: Mapping[Stratum, int], limit: int) -> dict[Stratum, int]:
    """Return how many of *limit* each stratum of *sizes* gets, by largest remainder.

    What is left after the whole shares goes first to strata that have none, the largest of them
    first, then by remainder; ties fall to the name.

    >>> seats({"a": 90, "b": 9, "c": 1}, 10)
    {'a': 9, 'b': 1, 'c': 0}
    """
    total = sum(sizes.values())
    limit = min(limit, total)
    given = {stratum: limit * size // max(total, 1) for stratum, size in sizes.items()}
    waiting = sorted(
        (stratum for stratum in sizes if given[stratum] < sizes[stratum]),
        key=lambda stratum: (
            given[stratum] > 0,
            -(limit * sizes[stratum] % total),
            repr(stratum),
        ),
    )
    for stratum in waiting[: limit - sum(given.values())]:
        given[stratum] += 1
    return given


def _strata(candidates: Sequence[Candidate]) -> list[Hashable]:
    by_time = sorted(range(len(candidates)), key=lambda place: candidates[place].commit.time)
    period = {place: rank * _PERIODS // len(by_time) for rank, place in enumerate(by_time)}
    folders = [_folder(candidate.paths[0]) for candidate in candidates]
    common = {folder for folder, _ in sorted(Counter(folders).items(), key=_most)[:_FOLDERS]}
    return [
        (
            period[place],
            leak(candidate.query, candidate.paths).name,
            min(len(candidate.targets), 4) // 2,
            folder if folder in common else _OTHER,
        )
        for place, (candidate, folder) in enumerate(zip(candidates, folders, strict=True))
    ]


def _most(counted: tuple[str, int]) -> tuple[int, str]:
    return -counted[1], counted[0]


def _folder(path: str) -> str:
    """Return the first two folders of *path*: one often holds everything."""
    return "/".join(path.split("/")[:-1][:2])
