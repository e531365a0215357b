"""Detect runs of which a part has other document names than the dataset, and what repairs it.

Most queries may have a hit on a target, so that nothing looks wrong, while a third of the names
has a prefix, lines or another case. In a sample of the queries, the targets that were not found are
looked for among the first hits, in any spelling. See design/0012.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil
from typing import NamedTuple

from karat.model import Hit, Query, Target
from karat.model.evaluation import Mismatch
from karat.scoring.matching.mismatch import (
    IN_SET,
    LINES,
    NEEDS_LINES,
    TARGETS,
    QuerySample,
    Repair,
    separator,
)

# The number of queries in the sample, and of hits per query: most misspelled targets rank high.
QUERIES, HITS = 200, 30
# The least share of the sample that is worth a warning, and the least number of queries and of
# different targets: one other README.md is a coincidence.
SHARE, FEWEST = 0.05, 2
ESCAPE = r"%[0-9A-Fa-f]{2}"
# A prefix that no path relative to a folder has.
ABSOLUTE = r"/|[A-Za-z]:[/\\]|[a-z]+:/"
DECODE = "decode the percent-encoding (%20) of the names in the run"
STRIP = "remove the blanks and carriage returns around the names in the run"
CASE = "write the names in the run with the upper and lower case of the gold set"


class Spelling(NamedTuple):
    """How the name of a hit differs from that of a target."""

    encoded: bool = False
    blanks: bool = False
    case: bool = False
    prefix: str = ""
    cut_at: str = ""
    has_lines: bool = False

    @property
    def changes(self) -> list[str]:
        """Return what to change in the run because no option does it."""
        pairs = ((self.encoded, DECODE), (self.blanks, STRIP), (self.case, CASE))
        return [text for needed, text in pairs if needed]

    def is_of(self, name: str) -> bool:
        """Return whether *name* has all that this spelling adds; then it is no mistake.

        >>> Spelling(prefix="repo/").is_of("repo/a.py"), Spelling(cut_at=":").is_of("a.py")
        (True, False)
        """
        return bool(
            not (self.case or self.blanks)
            and (not self.encoded or re.search(ESCAPE, name))
            and (not self.prefix or (name.startswith(self.prefix) and not self.is_absolute))
            and (not self.cut_at or self.cut_at in name)
        )

    @property
    def is_absolute(self) -> bool:
        """Return whether the prefix is that of an absolute path or of a URL."""
        return bool(re.match(ABSOLUTE, self.prefix))


class _Sample(NamedTuple):
    query_id: str
    missed: tuple[Target, ...]
    names: tuple[str, ...]


class NearMisses:
    """Collects some answered queries with the targets that they missed, and their first hits."""

    def __init__(self, queries: int) -> None:
        """Choose every n-th of about as many answered *queries*."""
        self._step = max(1, ceil(queries / QUERIES))
        self._answered = 0
        self._samples: list[_Sample] = []

    def add(
        self, query_id: str, missed: Callable[[], Iterable[Target]], hits: Iterable[Hit | str]
    ) -> None:
        """Count an answered query; *missed* returns its relevant targets that no hit has."""
        self._answered += 1
        if self._answered % self._step:
            return
        names = tuple(hit if isinstance(hit, str) else hit.path for hit in islice(hits, HITS))
        self._samples.append(_Sample(query_id, tuple(islice(missed(), TARGETS)), names))

    def mismatch(
        self,
        *,
        by_id: bool,
        tried: Callable[[Repair, Sequence[QuerySample]], Sequence[bool]],
        targets: Iterable[str],
    ) -> Mismatch | None:
        """Return the mismatch of a part of the names, or None.

        *targets* are the paths of the whole dataset, read only where many hits are near misses.
        *tried* returns for each sample whether a hit is on a target with a repair.
        """
        needed = max(FEWEST, ceil(len(self._samples) * SHARE))
        by_spelling: dict[Spelling, dict[str, list[tuple[str, Target]]]] = defaultdict(dict)
        for query_id, missed, names in self._samples:
            for spelling, pair in _near(missed, names, by_id=by_id):
                by_spelling[spelling].setdefault(query_id, []).append(pair)
        paths: list[str] | None = None
        for spelling, queries in sorted(by_spelling.items(), key=lambda item: -len(item[1])):
            if len(queries) < needed:
                break
            paths = list(islice(targets, IN_SET)) if paths is None else paths
            if self._is_usual(spelling, queries, paths):
                continue
            counted = self._repaired(spelling, queries, tried, needed=needed)
            if counted:
                return counted
        return None

    def _is_usual(
        self,
        spelling: Spelling,
        queries: Mapping[str, Sequence[tuple[str, Target]]],
        targets: Iterable[str],
    ) -> bool:
        """Return whether both spellings are names of documents, such as a.py and lib/a.py.

        Then targets have this spelling too, or an answer has a name in both, or one file of a
        common name is found again and again.
        """
        distinct = {target.path for pairs in queries.values() for _, target in pairs}
        if len(distinct) < min(len(queries), FEWEST) or any(map(spelling.is_of, targets)):
            return True
        if spelling.case or (spelling.prefix and not spelling.is_absolute):
            return any(_has_both(names, spelling) for _, _, names in self._samples)
        return False

    def _repaired(
        self,
        spelling: Spelling,
        queries: Mapping[str, Sequence[tuple[str, Target]]],
        tried: Callable[[Repair, Sequence[QuerySample]], Sequence[bool]],
        *,
        needed: int,
    ) -> Mismatch | None:
        """Return the mismatch if the repair really finds a target of so many queries as *needed*.

        What no option can change is changed in the sampled hits first.
        """
        repair = Repair(strip_prefix=spelling.prefix, cut_at=spelling.cut_at)
        samples = []
        for query_id, pairs in queries.items():
            hits = tuple(Hit(_changed(name, target, spelling)) for name, target in pairs)
            targets = tuple(dict.fromkeys(target for _, target in pairs))
            samples.append(QuerySample(Query(query_id, "", targets), hits))
        works = [
            pairs[0]
            for pairs, fits in zip(queries.values(), tried(repair, samples), strict=True)
            if fits
        ]
        if len(works) < needed:
            return None
        name, target = works[0]
        changes = [*spelling.changes, *([NEEDS_LINES] if spelling.has_lines else [])]
        option = str(repair)
        if changes and option and not spelling.has_lines:
            changes.append(f"add {option}")
        return Mismatch(
            len(works),
            len(self._samples),
            name,
            target.path,
            options="" if changes else option,
            sure=False,
            advice=" and ".join(changes),
            partly=True,
        )


def _near(
    missed: Sequence[Target], names: Sequence[str], *, by_id: bool
) -> Iterator[tuple[Spelling, tuple[str, Target]]]:
    """Yield how names of hits differ from missed targets that they contain, each spelling once."""
    if not missed:
        return
    # One search in all names at once: in most queries no missed target is among them.
    text = _folded("\n".join(names))
    seen = set()
    for target in missed:
        folded_path = _folded(target.path)
        if not folded_path or folded_path not in text:
            continue
        for name in names:
            if folded_path in _folded(name):
                spelling = _spelling(name, target, by_id=by_id)
                if spelling and (spelling, target.path) not in seen:
                    seen.add((spelling, target.path))
                    yield spelling, (name, target)


def _folded(name: str) -> str:
    return (_decoded(name) if "%" in name else name).replace("\\", "/").casefold()


def _decoded(name: str) -> str:
    from urllib.parse import unquote  # only few runs have such names

    return unquote(name)


def _spelling(name: str, target: Target, *, by_id: bool) -> Spelling | None:
    """Return how *name* differs from the path of *target*, None if they are different documents.

    >>> _spelling("repo/a.py#L3-L9", Target("a.py"), by_id=False)[3:]
    ('repo/', '#L', False)
    >>> _spelling("src/data.py", Target("a.py"), by_id=False) is None
    True
    """
    path = target.path
    is_encoded = "%" in name and re.search(ESCAPE, name) and not re.search(ESCAPE, path)
    decoded = _decoded(name) if is_encoded else name
    slashed = decoded.replace("\\", "/") if "\\" not in path else decoded
    at = slashed.rfind(path)
    case = at < 0
    if case:
        # Some letters get longer when folded; such a name is left alone.
        at = slashed.casefold().rfind(path.casefold())
        if at < 0 or slashed[at : at + len(path)].casefold() != path.casefold():
            return None
    before, rest = decoded[:at], decoded[at + len(path) :]
    prefix, tail = before.lstrip(), rest.rstrip()
    if prefix and not (prefix[-1] in "/\\" or (by_id and not prefix[-1].isalnum())):
        return None
    if tail and not re.fullmatch(LINES, tail):
        return None
    spelling = Spelling(
        decoded != name,
        (prefix, tail) != (before, rest),
        case,
        prefix,
        separator(tail),
        bool(tail and target.end_line),
    )
    return spelling if spelling != Spelling() else None


def _changed(name: str, target: Target, spelling: Spelling) -> str:
    """Return *name* after the changes of *spelling* that no option makes."""
    if spelling.encoded:
        name = _decoded(name)
    if spelling.blanks:
        name = name.strip()
    if spelling.case:
        at = name.replace("\\", "/").casefold().rfind(target.path.casefold())
        name = name[:at] + target.path + name[at + len(target.path) :]
    return name


def _has_both(names: Sequence[str], spelling: Spelling) -> bool:
    """Return whether one answer has a name with and without what *spelling* adds."""
    if spelling.case:
        return max(Counter(name.casefold() for name in set(names)).values(), default=0) > 1
    start = spelling.prefix
    return any(name.startswith(start) and name[len(start) :] in names for name in names)
