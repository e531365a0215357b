"""The matching modes: how much credit a hit earns for a target; and the unit of each query.

Paths of hits and targets are normalised, except in ``document`` mode, which compares ids unchanged.
A mode for whole files or documents collapses hits to one per file before any cut-off; in the modes
``lines`` and ``symbol`` the targets of each query decide: every target is judged in its own unit,
and a query whose relevant targets are all whole files is judged by files, whatever the other
queries of the dataset have. See design/0011.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.errors import InputError, UnknownName
from karat.model import Dataset, Hit, Run, Target
from karat.model.run import TIES
from karat.registry import Registry


def normalise(path: str, root: str = "") -> str:
    r"""Return *path* with forward slashes, without ``./``, in Unicode NFC, relative to *root*.

    A path outside *root* stays as it is.

    >>> normalise(".\\src\\auth.py"), normalise("/repo/src/auth.py", root="/repo")
    ('src/auth.py', 'src/auth.py')
    """
    if "\\" in path:
        path = path.replace("\\", "/")
    if not path.isascii():
        from unicodedata import normalize

        path = normalize("NFC", path)
    if "./" in path or "//" in path or path.endswith(("/", "/.")):
        lead = "/" if path.startswith("/") else ""
        path = lead + "/".join(part for part in path.split("/") if part not in ("", "."))
    if root and is_within(path, root := normalise(root)):
        path = path[len(root.rstrip("/")) + 1 :]
    return path


def is_suffix(path: str, other: str) -> bool:
    """Return whether one path ends with the other, at a separator.

    >>> is_suffix("src/auth.py", "/repo/src/auth.py"), is_suffix("th.py", "auth.py")
    (True, False)
    """
    short, long = sorted((path, other), key=len)
    return long == short or long.endswith("/" + short.lstrip("/"))


def is_within(path: str, directory: str) -> bool:
    """Return whether *path* is below *directory*, at a separator.

    >>> is_within("src/auth/login.py", "src/auth"), is_within("src/authority.py", "src/auth")
    (True, False)
    """
    return path.startswith(directory.rstrip("/") + "/")


def without_prefix(path: str, prefixes: Iterable[str]) -> str:
    """Return *path* without the first of *prefixes* that it starts with.

    >>> without_prefix("repo-1/src/a.py", ["x/", "repo-1/"]), without_prefix("src/a.py", ["x/"])
    ('src/a.py', 'src/a.py')
    """
    for prefix in prefixes:
        if path.startswith(prefix):
            return path[len(prefix) :]
    return path


def cut_path(path: str, at: str) -> str:
    """Return *path* up to the last *at*, which begins a chunk suffix; all of it without one.

    >>> cut_path("src/a.py#3", "#"), cut_path("guide::chunk_4", "::"), cut_path("src/a.py", "#")
    ('src/a.py', 'guide', 'src/a.py')
    """
    return path.rpartition(at)[0] or path if at else path


DIRECTORY_CREDIT = 0.5
SYMBOL_CREDIT, FILE_CREDIT, PARTIAL_CREDIT = 1.0, 0.7, 0.4


@dataclass(frozen=True, slots=True)
class Matcher:
    """A matching mode.

    ``credit(hit, target)`` is 0 for no match and 1 for a full match. *by_id*: a match is equality
    of ids, so rankings can be counted. *collapse*: the unit of every query is the file, so only the
    first hit of a file counts. *inside* returns whether a target is a part of a file. *by_symbol*:
    a target needs no path. *evidence*: a symbol without a path is evidence for the files of its
    query. *ceiling* returns the maximum credit of a target.
    """

    name: str
    summary: str
    credit: Callable[[Hit, Target], float]
    collapse: bool
    by_id: bool = False
    by_symbol: bool = False
    evidence: bool = False
    inside: Callable[[Target], bool] = lambda _: False
    ceiling: Callable[[Target], float] = lambda _: 1.0

    def spelled(self, path: str, root: str = "") -> str:
        """Return *path* as this mode compares it: normalised, relative to *root*; an id unchanged.

        >>> exact().spelled("./a.py"), document().spelled("./a.py")
        ('a.py', './a.py')
        """
        return path if self.name == "document" else normalise(path, root)


def _same_path(hit: Hit, target: Target) -> float:
    return float(hit.path == target.path)


def _suffix(hit: Hit, target: Target) -> float:
    return float(is_suffix(hit.path, target.path))


def _substring(hit: Hit, target: Target) -> float:
    return float(target.path in hit.path)


def _directory(hit: Hit, target: Target) -> float:
    if hit.path == target.path:
        return 1.0
    return DIRECTORY_CREDIT if is_within(target.path, hit.path) else 0.0


def _symbol(hit: Hit, target: Target) -> float:
    if not target.symbol:
        return _same_path(hit, target)
    if target.path and hit.path != target.path:
        return 0.0
    return float(target.symbol.lower() in hit.symbol.lower())


def _akashic(hit: Hit, target: Target) -> float:
    if target.symbol:
        return float(target.symbol.lower() in hit.symbol.lower())
    return _substring(hit, target)


def _graded(hit: Hit, target: Target) -> float:
    if target.symbol:
        expected, got = target.symbol.lower(), hit.symbol.lower()
        if expected == got:
            return SYMBOL_CREDIT
        return PARTIAL_CREDIT if expected in got else 0.0
    if is_suffix(hit.path, target.path):
        return FILE_CREDIT
    return PARTIAL_CREDIT if target.path in hit.path else 0.0


def _graded_ceiling(target: Target) -> float:
    return SYMBOL_CREDIT if target.symbol else FILE_CREDIT


def _lines(min_overlap: float) -> Callable[[Hit, Target], float]:
    def credit(hit: Hit, target: Target) -> float:
        if hit.path != target.path:
            return 0.0
        if not hit.end_line or not target.end_line:
            return 1.0
        shared = min(hit.end_line, target.end_line) - max(hit.start_line, target.start_line) + 1
        needed = min_overlap * (target.end_line - target.start_line + 1)
        return float(shared > 0 and shared >= needed)

    return credit


def document(min_overlap: float = 0.0) -> Matcher:
    """Return the mode for opaque document ids: equal ids match, nothing is normalised."""
    _refuse(min_overlap)
    return Matcher("document", "the same document id", _same_path, collapse=True, by_id=True)


def exact(min_overlap: float = 0.0) -> Matcher:
    """Return the mode for files: equal normalised paths match."""
    _refuse(min_overlap)
    return Matcher("exact", "the same normalised path", _same_path, collapse=True, by_id=True)


def suffix(min_overlap: float = 0.0) -> Matcher:
    """Return the mode in which one path may be the end of the other."""
    _refuse(min_overlap)
    return Matcher("suffix", "one path ends with the other", _suffix, collapse=True)


def substring(min_overlap: float = 0.0) -> Matcher:
    """Return the mode in which the target is any part of the hit's path."""
    _refuse(min_overlap)
    return Matcher("substring", "the target is part of the hit's path", _substring, collapse=True)


def directory(min_overlap: float = 0.0) -> Matcher:
    """Return the mode in which a directory above the target earns half."""
    _refuse(min_overlap)
    return Matcher(
        "directory", "the same path, or half for a directory above it", _directory, collapse=True
    )


def lines(min_overlap: float = 0.0) -> Matcher:
    """Return the mode for overlapping ranges of one file; *min_overlap* is a share of the target.

    A side without lines means the whole file and overlaps any range of it.
    """
    if not 0.0 <= min_overlap <= 1.0:
        raise InputError(f"minimum overlap {min_overlap} is not between 0 and 1")
    return Matcher(
        "lines",
        "overlapping lines of the same file",
        _lines(min_overlap),
        collapse=False,
        inside=lambda target: target.end_line > 0,
    )


def symbol(min_overlap: float = 0.0) -> Matcher:
    """Return the mode for symbols: the target's name is part of the hit's, in any case."""
    _refuse(min_overlap)
    return Matcher(
        "symbol",
        "the target's name is part of the hit's",
        _symbol,
        collapse=False,
        by_symbol=True,
        inside=lambda target: bool(target.symbol),
    )


def akashic(min_overlap: float = 0.0) -> Matcher:
    """Return the mode for expected files (part of the path) and symbols (part of the name).

    If a query has both, its files are the targets and its symbols are evidence for them.
    """
    _refuse(min_overlap)
    return Matcher(
        "akashic",
        "part of the path, or part of the name",
        _akashic,
        collapse=False,
        by_symbol=True,
        evidence=True,
        inside=lambda _: True,
    )


def graded(min_overlap: float = 0.0) -> Matcher:
    """Return the preset 1.0 for the exact symbol, 0.7 for the file, 0.4 for a part of either."""
    _refuse(min_overlap)
    return Matcher(
        "graded",
        "1.0 symbol, 0.7 file, 0.4 part of either",
        _graded,
        collapse=False,
        by_symbol=True,
        evidence=True,
        inside=lambda _: True,
        ceiling=_graded_ceiling,
    )


def _refuse(min_overlap: float) -> None:
    if min_overlap:
        raise InputError("a minimum overlap applies only to the mode 'lines'")


MATCHERS: Registry[Callable[..., Matcher]] = Registry(
    "matcher",
    {
        name: f"karat.scoring.matching.modes:{name}"
        for name in (
            "document",
            "exact",
            "suffix",
            "substring",
            "directory",
            "lines",
            "symbol",
            "akashic",
            "graded",
        )
    },
    # The default; a dataset names its own mode.
    closed=True,
)


TIE_POLICIES = ("trec10", "trec9", "order", "expected", "best", "worst")


def tie_policy(requested: str | None, run: object) -> str:
    """Return the tie policy *requested*, or else that of *run*.

    A run of an engine keeps the order of the engine. For any other run, such as one from a file, it
    is the rule of trec_eval.

    >>> tie_policy(None, {}), tie_policy("worst", {})
    ('trec10', 'worst')
    >>> tie_policy(None, Run.of([], metadata={"ties": "order"}))
    'order'
    """
    own = run.metadata.get(TIES) if isinstance(run, Run) else None
    return check_policy(requested or (str(own) if own else TIE_POLICIES[0]))


def check_policy(name: str) -> str:
    """Return *name* if it is a tie policy.

    >>> check_policy("trec9")
    'trec9'
    """
    if name not in TIE_POLICIES:
        raise UnknownName(f"no tie policy named {name!r}; known: {', '.join(TIE_POLICIES)}")
    return name


def as_float32(score: float) -> float:
    """Return *score* rounded as trec_eval 9 stores it.

    >>> as_float32(0.1) == 0.1
    False
    """
    return array("f", (score,))[0]


class QueryTargets(NamedTuple):
    """The targets of one query, as metrics count them.

    * ``targets``: those that count. A target that is listed twice counts once, with the highest
    grade,
      and so do all targets in one file if hits are collapsed to files.
    * ``symbols``: names that are evidence for a target, each once; see :func:`counted_targets`.
    * ``positions``: for each given target its position in ``targets``, -1 for evidence.
    * ``files``: paths whose hits collapse into the first one; None means every path.
    """

    targets: list[Target]
    symbols: list[Target]
    positions: list[int]
    files: frozenset[str] | None

    def collapsed(self, ranked: Iterable[tuple[Hit, float]]) -> list[tuple[Hit, float]]:
        """Return *ranked* hits with their scores; of a file that is one unit, only the first."""
        result: list[tuple[Hit, float]] = []
        seen: set[str] = set()
        for hit, score in ranked:
            if self.files is None or hit.path in self.files:
                if hit.path in seen:
                    continue
                seen.add(hit.path)
            result.append((hit, score))
        return result


def counted_targets(targets: Sequence[Target], matcher: Matcher) -> list[bool]:
    """Return which of *targets* count in recall and gain.

    In the modes ``akashic`` and ``graded``, a relevant symbol without a path is evidence for the
    files of its query and not a target, if there is a relevant target with a path.

    >>> counted_targets([Target("auth.py"), Target("", symbol="login")], MATCHERS.get("akashic")())
    [True, False]
    """
    if not matcher.evidence or not any(t.path and t.grade > 0 for t in targets):
        return [True] * len(targets)
    return [bool(target.path) or target.grade <= 0 for target in targets]


def relevant_targets(
    targets: Sequence[Target], matcher: Matcher, *, level: float = 0.0
) -> tuple[bool, ...]:
    """Return which of *targets* count and are relevant at *level*; level 0 is any grade above 0."""
    return tuple(
        counts and (target.grade >= level if level else target.grade > 0)
        for target, counts in zip(targets, counted_targets(targets, matcher), strict=True)
    )


def judges_files(targets: Sequence[Target], matcher: Matcher) -> bool:
    """Return whether a query with *targets* is judged by whole files: one hit per file counts.

    >>> lines = MATCHERS.get("lines")()
    >>> judges_files([Target("a.py")], lines), judges_files([Target("a.py", 1, 3, 9)], lines)
    (True, False)
    """
    relevant = [target for target in targets if target.grade > 0] or targets
    return not any(map(matcher.inside, relevant))


def matches_by_id(targets: Sequence[Target], matcher: Matcher) -> bool:
    """Return whether hits on *targets* match by an equal id or path alone, one per document."""
    return matcher.by_id or (not matcher.collapse and judges_files(targets, matcher))


def files_judged(dataset: Dataset, match: str | None = None) -> tuple[bool, ...]:
    """Return for each query of *dataset* whether it is judged by whole files.

    >>> from karat.model import Query
    >>> queries = [Query("q1", "", (Target("a.py"),)), Query("q2", "", (Target("a.py", 1, 3, 9),))]
    >>> files_judged(Dataset.of(queries, match="lines"))
    (True, False)
    """
    matcher = MATCHERS.get(match or dataset.match)()
    return tuple(judges_files(dataset.targets(row), matcher) for row in range(len(dataset)))


def query_targets(targets: Sequence[Target], matcher: Matcher) -> QueryTargets:
    """Return *targets*, whose paths are in the form that *matcher* compares, in their units."""
    files = _files(targets, matcher)
    counted: list[Target] = []
    symbols: dict[str, Target] = {}
    positions: list[int] = []
    first_of: dict[Target, int] = {}
    for original, counts in zip(targets, counted_targets(targets, matcher), strict=True):
        target = original
        if not counts:
            symbols.setdefault(target.symbol.lower(), target)
            positions.append(-1)
            continue
        if files is None or target.path in files:
            target = Target(target.path, target.grade)
        index = first_of.setdefault(target._replace(grade=0.0, ref=""), len(counted))
        if index == len(counted):
            counted.append(target)
        elif target.grade > counted[index].grade:
            counted[index] = counted[index]._replace(grade=target.grade)
        positions.append(index)
    return QueryTargets(counted, list(symbols.values()), positions, files)


def _files(targets: Sequence[Target], matcher: Matcher) -> frozenset[str] | None:
    """Return the paths that are one unit each, None if every path is."""
    if judges_files(targets, matcher):
        return None
    inside = {target.path for target in targets if matcher.inside(target)}
    if "" in inside:  # a symbol without a path may be in any file
        return frozenset()
    return frozenset(target.path for target in targets if target.grade > 0) - inside
