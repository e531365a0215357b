"""Whether a run names documents otherwise than the gold set, and which option repairs that.

A bad search misses targets; a run with a prefix too many can find none. The two are told apart by
trying: a sample of the queries without any hit on a target is judged again with each repair. See
design/0012.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from math import ceil
from shlex import quote
from typing import NamedTuple

from karat.matching.modes import Matcher
from karat.matching.paths import is_suffix, normalise
from karat.model import Hit, Query, Target
from karat.model.mismatch import Mismatch

__all__ = ["Repair", "Sample", "Unmatched"]

# So many queries, and hits and targets of each, are tried again.
QUERIES, HITS, TARGETS = 64, 300, 50
# The share of the sample that a repair must bring to match: where no query has any hit on a target,
# and where some have.
OF_ALL, OF_SOME = 0.1, 0.5
# A search may miss everything in fewer queries by being bad.
FEW = 10
WHOLE_FILES = ("document", "exact")


class Sample(NamedTuple):
    """A query with its targets as they are written, and the first hits that a run returned."""

    query: Query
    hits: tuple[Hit, ...]


class Repair(NamedTuple):
    """Options that would make names match."""

    match: str | None = None
    root: str = ""
    strip_prefix: str = ""
    cut_at: str = ""

    def __str__(self) -> str:
        """Return the repair as options of the command line."""
        options = [
            ("--match", self.match),
            ("--root", self.root),
            ("--strip-prefix", self.strip_prefix),
            ("--cut-at", self.cut_at),
        ]
        return " ".join(f"{name} {quote(value)}" for name, value in options if value)


class Unmatched:
    """Counts answered queries with a relevant target, and those without any hit on one."""

    def __init__(self) -> None:
        """Begin with no query."""
        self.answered = 0
        self.queries = 0
        self._kept: list[tuple[str, Sequence[Target], Iterable[Hit | str]]] = []

    def add(
        self, query_id: str, targets: Callable[[], Sequence[Target]], hits: Iterable[Hit | str]
    ) -> None:
        """Count an answered query whose *targets* no hit is on; a few are kept to be looked at.

        *hits* may be ids, and are read later, if at all.
        """
        self.answered += 1
        self.queries += 1
        if len(self._kept) < QUERIES:
            self._kept.append((query_id, targets(), hits))

    def _samples(self) -> list[Sample]:
        samples = []
        for query_id, targets, hits in self._kept:
            first = (Hit(hit) if isinstance(hit, str) else hit for hit in islice(hits, HITS))
            samples.append(Sample(Query(query_id, "", tuple(targets)), tuple(first)))
        return samples

    def mismatch(
        self, matcher: Matcher, *, tried: Callable[[Repair, Sequence[Sample]], Sequence[bool]]
    ) -> Mismatch | None:
        """Return what does not fit, None where hits and targets are named alike.

        *tried* says for each sample whether a hit is on a target with a repair.
        """
        if self.queries * 2 <= self.answered:
            return None
        whole_sample = self._samples()
        # A depth may have hidden hits that do match.
        samples = _left(whole_sample, tried(Repair(), whole_sample))
        needed = ceil(len(samples) * (OF_ALL if self.queries == self.answered else OF_SOME))
        best: tuple[int, Repair] = (0, Repair())
        for repair in _repairs(samples, matcher):
            count = sum(tried(repair, samples))
            if count > best[0]:
                best = count, repair
        if best[0] >= max(needed, 1):
            repair = best[1]
            works = tried(repair, samples)
            fixed = next(each for each, fits in zip(samples, works, strict=True) if fits)
            alone = (Sample(fixed.query, (hit,)) for hit in fixed.hits)
            shown = next(each for each in alone if tried(repair, [each])[0])
            return self._found(shown, str(repair))
        whole = self.queries == self.answered and len(samples) == len(whole_sample)
        sure = _other_kind(samples)
        if whole and (self.answered >= FEW or sure) and not _shared(samples):
            return replace(self._found(samples[0], ""), sure=sure)
        return None

    def _found(self, example: Sample, options: str) -> Mismatch:
        hit = example.hits[0].path
        targets = [target.path for target in example.query.targets if target.path]
        near = [path for path in targets if path in hit or is_suffix(normalise(hit), path)]
        return Mismatch(self.queries, self.answered, hit, (near or targets or [""])[0], options)


def _left(samples: Sequence[Sample], matched: Sequence[bool]) -> list[Sample]:
    return [sample for sample, fits in zip(samples, matched, strict=True) if not fits]


def _pairs(samples: Sequence[Sample]) -> Iterator[tuple[str, str]]:
    """Yield every sampled hit with every target of its query."""
    for query, hits in samples:
        relevant = (target.path for target in query.targets if target.path and target.grade > 0)
        for hit, target in product(hits, islice(relevant, TARGETS)):
            yield hit.path, target


def _repairs(samples: Sequence[Sample], matcher: Matcher) -> Iterator[Repair]:
    """Yield repairs worth trying, the narrowest first."""
    by_id = matcher.name == "document"
    yield from _of_longer(samples, by_id=by_id)
    if by_id:
        yield Repair(match="exact")
    leads = Counter(
        target[: -len(hit)]
        for hit, target in ((normalise(hit), normalise(target)) for hit, target in _pairs(samples))
        if target.endswith(f"/{hit}")
    )
    for lead, _ in leads.most_common(1):
        yield Repair(match="exact" if by_id else None, root=lead.rstrip("/"))
    if matcher.name in WHOLE_FILES:
        yield Repair(match="suffix")


def _of_longer(samples: Sequence[Sample], *, by_id: bool) -> Iterator[Repair]:
    """Yield repairs of hits that have more than the target, before or after it."""

    def spelled(path: str) -> str:
        return path if by_id else normalise(path)

    found: Counter[tuple[str, str]] = Counter()
    for hit, target in _pairs(samples):
        prefix, same, rest = spelled(hit).rpartition(spelled(target))
        at = _separator(rest)
        if same and (by_id or prefix == "" or prefix.endswith("/")) and bool(at) == bool(rest):
            found[prefix, at] += 1
    paths = [spelled(hit.path) for _, hits in samples for hit in hits]
    for (prefix, at), _ in found.most_common(3):
        fits = sum(path.startswith(prefix) and at in path for path in paths)
        if (prefix or at) and fits * 2 >= len(paths):
            folder = prefix.rstrip("/")
            if by_id or not folder:
                yield Repair(strip_prefix=prefix, cut_at=at)
            else:
                yield Repair(root=folder, cut_at=at)


def _separator(rest: str) -> str:
    """Return what begins the name of a chunk, empty where *rest* does not look like one.

    >>> [_separator(rest) for rest in ("#3", ":10-20", "::chunk_4", "#intro", "17", "")]
    ['#', ':', '::chunk_', '#', '', '']
    """
    before_digits = re.match(r"[^\w/]\D*(?=\d)|_\D+(?=\d)|[^\w/]+", rest)
    return before_digits.group() if before_digits else ""


def _other_kind(samples: Sequence[Sample]) -> bool:
    """Return whether hits and targets are names of different kinds, such as numbers and paths."""
    hits = {_kind(hit.path) for _, hits in samples for hit in hits}
    targets = {_kind(target.path) for query, _ in samples for target in query.targets}
    return hits.isdisjoint(targets)


def _kind(name: str) -> str:
    if "/" in name or re.search(r"\.[A-Za-z]\w*$", name):
        return "path"
    return "number" if name.isdecimal() else "name"


def _shared(samples: Sequence[Sample]) -> bool:
    """Return whether a hit is a target of some other query: then names are alike."""
    targets = {normalise(target.path) for query, _ in samples for target in query.targets}
    return any(normalise(hit.path) in targets for _, hits in samples for hit in hits)
