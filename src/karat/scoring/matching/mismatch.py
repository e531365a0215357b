"""Detect runs whose document names do not match the dataset, and the option that repairs it.

A bad engine misses targets; a run with an extra path prefix cannot match any. To distinguish them,
a sample of the queries without any hit on a target is judged again with each repair. See
design/0012.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from math import ceil
from typing import NamedTuple

from karat.model import Hit, Query, Target
from karat.model.evaluation import Mismatch
from karat.scoring.matching.modes import Matcher, is_suffix, is_within, normalise

# The number of queries in the sample, and of hits and targets per query.
QUERIES, HITS, TARGETS = 64, 300, 50
# The number of targets of the whole dataset that are compared with the hits of the sample.
IN_SET = 100_000
# The share of the sample that must match with a repair: if no query has any hit on a target, and if
# some have.
OF_ALL, OF_SOME = 0.1, 0.5
# With fewer queries, a bad engine may miss everything.
FEW = 10
# Of the queries that some missing path prefix fits, the share that one prefix must fit.
NEARLY_ALL = 0.9
# If more than this share of hits is in the top folders of targets, both have the same root.
SAME_ROOT = 0.1
WHOLE_FILES = ("document", "exact")
# Compiled at use, as only a mismatch needs it.
LINES = r"(:L?\d+([-:,]L?\d+)?|#(L\d+(-L?\d+)?|\d+-\d+))$"
NEEDS_LINES = (
    "the run needs lines as fields: write a Karat run, JSON lines with path, start_line and "
    "end_line of each hit"
)
NEEDS_PATHS = "no option can repair this: the run needs the full paths of the gold set"


class QuerySample(NamedTuple):
    """A query with its targets as in the dataset, and the first hits of a run."""

    query: Query
    hits: tuple[Hit, ...]


class Repair(NamedTuple):
    """Options that would make names match.

    *instead* is set if the scores would be wrong with these options: it is the advice to give.
    """

    match: str | None = None
    root: str = ""
    strip_prefix: str = ""
    cut_at: str = ""
    instead: str = ""

    def __str__(self) -> str:
        """Return the repair as options of the command line."""
        from shlex import quote

        options = [
            ("--match", self.match),
            ("--root", self.root),
            ("--strip-prefix", self.strip_prefix),
            ("--cut-at", self.cut_at),
        ]
        return " ".join(f"{name} {quote(value)}" for name, value in options if value)


class MismatchCounts:
    """Counts answered queries with a relevant target, and those without any hit on one."""

    def __init__(self) -> None:
        """Start with no queries."""
        self.answered = 0
        self.queries = 0
        self._misses: list[tuple[str, Sequence[Target], tuple[Hit | str, ...]]] = []

    def add(
        self, query_id: str, targets: Callable[[], Sequence[Target]], hits: Iterable[Hit | str]
    ) -> None:
        """Count an answered query without a hit on its *targets*; the first few become the sample.

        *hits* may be ids. The first ones are copied: a ranking may be changed later, or be a slice
        of much larger columns.
        """
        self.answered += 1
        self.queries += 1
        if len(self._misses) < QUERIES:
            self._misses.append((query_id, targets(), tuple(islice(hits, HITS))))

    def _samples(self) -> list[QuerySample]:
        samples = []
        for query_id, targets, hits in self._misses:
            first = (Hit(hit) if isinstance(hit, str) else hit for hit in hits)
            samples.append(QuerySample(Query(query_id, "", tuple(targets)), tuple(first)))
        return samples

    def mismatch(
        self,
        matcher: Matcher,
        *,
        tried: Callable[[Repair, Sequence[QuerySample]], Sequence[bool]],
        targets: Iterable[str],
    ) -> Mismatch | None:
        """Return the mismatch, or None if hits and targets have matching names.

        *targets* are the paths of the whole dataset, read only if most queries have no hit on a
        target. *tried* returns for each sample whether a hit is on a target with a repair.
        """
        if self.queries * 2 <= self.answered:
            return None
        whole_sample = self._samples()
        # A depth may have hidden hits that do match.
        matched = tried(Repair(), whole_sample)
        samples = [each for each, fits in zip(whole_sample, matched, strict=True) if not fits]
        share = OF_ALL if self.queries == self.answered else OF_SOME
        # Among more than two queries, one hit with a similar name is a coincidence.
        needed = max(ceil(len(samples) * share), 2 if len(samples) > 2 else 1)
        counted = [
            (sum(tried(each, samples)), each) for each in _repairs(samples, matcher, targets)
        ]
        enough = [(count, repair) for count, repair in counted if count >= needed]
        if enough:
            # An option is better than advice, unless it repairs less than half as much.
            _, repair = max(enough, key=lambda pair: pair[0] / (2 if pair[1].instead else 1))
            works = tried(repair, samples)
            fixed = next(each for each, fits in zip(samples, works, strict=True) if fits)
            alone = (QuerySample(fixed.query, (hit,)) for hit in fixed.hits)
            example = next(each for each in alone if tried(repair, [each])[0])
            return self._as_mismatch(example, repair)
        whole = self.queries == self.answered and len(samples) == len(whole_sample)
        sure = _other_kind(samples)
        if whole and (self.answered >= FEW or sure) and not _shared(samples):
            return replace(self._as_mismatch(samples[0], Repair()), sure=sure)
        return None

    def _as_mismatch(self, example: QuerySample, repair: Repair) -> Mismatch:
        hit = example.hits[0].path
        targets = [target.path for target in example.query.targets if target.path]
        near = [path for path in targets if path in hit or is_suffix(normalise(hit), path)]
        return Mismatch(
            self.queries,
            self.answered,
            hit,
            (near or targets or [""])[0],
            options="" if repair.instead else str(repair),
            advice=repair.instead,
        )


def _pairs(samples: Iterable[QuerySample]) -> Iterator[tuple[str, str]]:
    """Yield every sampled hit with every target of its query."""
    for query, hits in samples:
        relevant = (target.path for target in query.targets if target.path and target.grade > 0)
        for hit, target in product(hits, islice(relevant, TARGETS)):
            yield hit.path, target


def _repairs(
    samples: Sequence[QuerySample], matcher: Matcher, targets: Iterable[str]
) -> Iterator[Repair]:
    """Yield repairs to try, the narrowest first; *targets* are those of the whole dataset."""
    by_id = matcher.name == "document"
    has_lines = matcher.name == "lines" and _named_by_lines(samples)
    for repair in _of_longer(samples, by_id=by_id):
        yield repair._replace(instead=NEEDS_LINES if has_lines and repair.cut_at else "")
    if by_id:
        yield Repair(match="exact")
    clash = _clash(samples, targets)
    roots = list(_of_shorter(samples, match="exact" if by_id else None, clash=clash))
    # A package may have a folder of its own name: requests/requests/api.py.
    nested = len(samples) > 2 and any(_all_below(repair.root, samples) for repair in roots)
    if _same_root(samples) and not nested:
        return
    yield from roots
    if matcher.name in WHOLE_FILES:
        yield Repair(match="suffix", instead=clash)


def _same_root(samples: Sequence[QuerySample]) -> bool:
    """Return whether hits are in the top folders of targets: then no path prefix is missing.

    An engine that misses its target often returns another README.md.
    """
    folders = {_top(target.path) for query, _ in samples for target in query.targets} - {""}
    tops = [top for _, hits in samples for hit in hits if (top := _top(hit.path))]
    return sum(top in folders for top in tops) > SAME_ROOT * len(tops)


def _top(path: str) -> str:
    return normalise(path).rpartition("/")[0].partition("/")[0]


def _all_below(folder: str, samples: Sequence[QuerySample]) -> bool:
    return all(
        is_within(normalise(target.path), folder)
        for query, _ in samples
        for target in query.targets
    )


def _named_by_lines(samples: Sequence[QuerySample]) -> bool:
    """Return whether line targets meet hits whose lines are in their name instead of in fields.

    If the name were cut, the lines would be lost, and the hit would match every range of its file.
    """
    return any(
        not hit.end_line and re.search(LINES, hit.path)
        for query, hits in samples
        if any(target.end_line and target.grade > 0 for target in query.targets)
        for hit in hits
    )


def _of_shorter(
    samples: Sequence[QuerySample], *, match: str | None, clash: str
) -> Iterator[Repair]:
    """Yield the root that hits lack; it must fit nearly all queries with a longer target."""
    leads: Counter[str] = Counter()
    possible = 0
    for sample in samples:
        pairs = ((normalise(hit), normalise(target)) for hit, target in _pairs([sample]))
        prefixes = {target[: -len(hit)] for hit, target in pairs if target.endswith(f"/{hit}")}
        leads.update(prefixes)
        possible += bool(prefixes)
    for lead, queries in leads.most_common(1):
        names = [hit.path for _, hits in samples for hit in hits]
        bare = sum("/" not in normalise(name) for name in names) * 2 > len(names)
        instead = clash if bare else ""
        if queries < possible * NEARLY_ALL:
            instead = clash or NEEDS_PATHS
        yield Repair(match=match, root=lead.rstrip("/"), instead=instead)


def _clash(samples: Sequence[QuerySample], targets: Iterable[str]) -> str:
    """Return a warning if the name of a hit fits several of *targets*, empty if none does."""
    names = dict.fromkeys(normalise(hit.path) for _, hits in samples for hit in hits)
    ending: dict[str, list[str]] = {}
    for name in names:
        for end in _ends(name):
            ending.setdefault(end, []).append(name)
    fits: dict[str, str] = {}
    for target in map(normalise, islice(targets, IN_SET)):
        for name in (*filter(names.__contains__, _ends(target)), *ending.get(target, ())):
            first = fits.setdefault(name, target)
            if first != target:
                return f"{name!r} fits several targets, {first!r} and {target!r}: {NEEDS_PATHS}"
    return ""


def _ends(path: str) -> Iterator[str]:
    """Yield *path*, and its ends without the first folders.

    >>> list(_ends("src/ui/a.py"))
    ['src/ui/a.py', 'ui/a.py', 'a.py']
    """
    parts = path.split("/")
    return ("/".join(parts[start:]) for start in range(len(parts)))


def _of_longer(samples: Sequence[QuerySample], *, by_id: bool) -> Iterator[Repair]:
    """Yield repairs for hits that are longer than the target, at either end."""

    def spelled(path: str) -> str:
        return path if by_id else normalise(path)

    affixes: Counter[tuple[str, str]] = Counter()
    for hit, target in _pairs(samples):
        prefix, same, rest = spelled(hit).rpartition(spelled(target))
        at = separator(rest)
        if same and (by_id or prefix == "" or prefix.endswith("/")) and bool(at) == bool(rest):
            affixes[prefix, at] += 1
    paths = [spelled(hit.path) for _, hits in samples for hit in hits]
    for (prefix, at), _ in affixes.most_common(3):
        fits = sum(path.startswith(prefix) and at in path for path in paths)
        # File names contain these too: they begin a chunk suffix only if every hit ends in a
        # number.
        if at in ("_", ".") and not all(re.search(rf"{re.escape(at)}\d+$", path) for path in paths):
            continue
        if (prefix or at) and fits * 2 >= len(paths):
            folder = prefix.rstrip("/")
            if by_id or not folder:
                yield Repair(strip_prefix=prefix, cut_at=at)
            else:
                yield Repair(root=folder, cut_at=at)


def separator(rest: str) -> str:
    """Return the separator of a chunk suffix, empty if *rest* does not look like one.

    >>> [separator(rest) for rest in ("#3", ":10-20", "::chunk_4", "#intro", "_0", "17", "")]
    ['#', ':', '::chunk_', '#', '_', '', '']
    """
    before_digits = re.match(r"[^\w/]\D*(?=\d)|_\D+(?=\d)|_(?=\d+$)|[^\w/]+", rest)
    return before_digits.group() if before_digits else ""


def _other_kind(samples: Sequence[QuerySample]) -> bool:
    """Return whether hits and targets are names of different kinds, such as numbers and paths."""
    hits = {_kind(hit.path) for _, hits in samples for hit in hits}
    targets = {_kind(target.path) for query, _ in samples for target in query.targets}
    return hits.isdisjoint(targets)


def _kind(name: str) -> str:
    if "/" in name or re.search(r"\.[A-Za-z]\w*$", name):
        return "path"
    return "number" if name.isdecimal() else "name"


def _shared(samples: Sequence[QuerySample]) -> bool:
    """Return whether a hit is a target of another query: then the names have the same form."""
    targets = {normalise(target.path) for query, _ in samples for target in query.targets}
    return any(normalise(hit.path) in targets for _, hits in samples for hit in hits)
