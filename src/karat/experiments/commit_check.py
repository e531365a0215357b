"""Check that every target of a dataset exists at the commit it was written for."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from os.path import commonpath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.grammars import Symbol
from karat.corpus.git import object_ids
from karat.errors import InputError
from karat.experiments.commit_snapshots import CommitSnapshot, SnapshotReader
from karat.model import Dataset, Hit, Target
from karat.scoring.matching.modes import MATCHERS, Matcher, is_suffix, normalise

# Reference types that only their own collection can resolve.
NOT_IN_REPOSITORY = frozenset({"document_id", "content_hash", "quote"})
_SEPARATOR = re.compile(r"::|[:#]")
_MOST_OFFERED = 3


def find_paths(snapshot: CommitSnapshot, target: Target, matcher: Matcher) -> list[str]:
    """Return the paths in *snapshot* that *target* refers to, by the rule that will match its hits.

    An existing path refers to itself. A file name refers to all files of that name; a URI, to the
    files whose path is the end of it.
    """
    path = target.path
    if target.ref == "uri":
        path = unquote(urlsplit(path).path)
        return [entry for entry in snapshot.entries if is_suffix(entry, path)]
    if target.ref == "file_name":
        return [entry for entry in snapshot.entries if _name(entry) == path]
    path = normalise(path)
    if path in snapshot.entries:
        return [path]
    as_target = Target(path)
    return [entry for entry in snapshot.entries if matcher.credit(Hit(entry), as_target)]


def files_defining(
    snapshot: CommitSnapshot, symbol: str, *, part: bool, among: Iterable[str] | None = None
) -> Iterator[str]:
    """Yield the paths of files in *snapshot* that define *symbol*; only *among*, if given."""
    for path in snapshot.holding(_last(symbol), among):
        if defines(snapshot, path, symbol, part=part):
            yield path


def defines(snapshot: CommitSnapshot, path: str, symbol: str, *, part: bool) -> bool:
    """Return whether the file at *path* defines *symbol*; without a grammar, contains its name."""
    definitions = snapshot.definitions(path)
    if definitions is None:
        return _last(symbol).lower() in snapshot.content(path).text.lower()
    return bool(definitions_named(definitions, symbol, part=part))


def definitions_named(definitions: Iterable[Symbol], symbol: str, *, part: bool) -> list[Symbol]:
    """Return those of *definitions* whose name is *symbol*."""
    return [definition for definition in definitions if has_name(definition, symbol, part=part)]


def has_name(definition: Symbol, symbol: str, *, part: bool) -> bool:
    """Return whether *symbol* is the name of *definition*, alone or with enclosing names.

    With *part*, any part of the name in any case is enough, as in symbol matching of hits.

    >>> login = Symbol("login", "method", 1, 2, parent="auth.Session")
    >>> [has_name(login, name, part=False) for name in ("login", "Session::login", "log")]
    [True, True, False]
    >>> has_name(login, "LOG", part=True)
    True
    """
    dotted = _SEPARATOR.sub(".", symbol)
    if part:
        return dotted.lower() in definition.qualified.lower()
    return f".{definition.qualified}".endswith(f".{dotted}")


def suggest(missing: str, known: Iterable[str]) -> str:
    """Return suggestions for the path *missing* as a clause, or an empty text.

    Suggestions are files with the same or a similar name; of many, those with similar folders come
    first.

    >>> suggest("src/auth.py", ["lib/auth.py", "lib/other.py"]), suggest("x.c", ["a.py"])
    ("; did you mean 'lib/auth.py'?", '')
    """
    path = normalise(missing)
    by_name: dict[str, list[str]] = {}
    for other in known:
        by_name.setdefault(_name(other).lower(), []).append(other)
    names = get_close_matches(_name(path).lower(), by_name, n=1, cutoff=0.8)
    alike = [other for name in names for other in by_name[name]]
    alike.sort(key=lambda other: len(commonpath([other[::-1], path[::-1]])), reverse=True)
    offered = [repr(other) for other in alike[:_MOST_OFFERED]]
    if len(alike) > _MOST_OFFERED:
        offered.append(f"{len(alike) - _MOST_OFFERED} more")
    return f"; did you mean {' or '.join(offered)}?" if offered else ""


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _last(symbol: str) -> str:
    return _SEPARATOR.sub(".", symbol).rpartition(".")[2]


class MissingReference(NamedTuple):
    """A reference that does not resolve, or is ambiguous: a file name that several files have.

    *sort* is commits, paths, names, lines or symbols.
    """

    query_id: str
    sort: str
    message: str

    def __str__(self) -> str:
        return f"query {self.query_id!r}: {self.message}"


@dataclass(frozen=True, slots=True)
class PresenceReport:
    """The number of checked references by sort, and the missing ones in the order of the queries.

    *unchecked* counts targets that no snapshot can resolve: document ids and content hashes.
    """

    checked: Mapping[str, int]
    missing: tuple[MissingReference, ...]
    unchecked: int = 0


class BaseCommits(NamedTuple):
    """The rows of a dataset by base commit; *unknown* has commits that the repository lacks."""

    known: Mapping[str, list[int]]
    unknown: Mapping[str, list[int]]


def check_presence(data: Dataset, repository: str, *, revision: str = "HEAD") -> PresenceReport:
    """Look up every path, line range and symbol of *data* in *repository*.

    Each query is checked at its ``base_commit``, or at *revision* if it has none.
    """
    matcher = MATCHERS.get(data.match)()
    commits = base_commits(data, repository, default=revision)
    missing: dict[int, list[MissingReference]] = {}
    for name, rows in commits.unknown.items():
        for row in rows:
            problem = MissingReference(
                data.query_ids[row], "commits", f"no commit {name!r} in {repository}"
            )
            missing[row] = [problem]
    checked = Counter(commits=len(commits.known) + len(commits.unknown))
    unchecked = 0
    with SnapshotReader(repository) as snapshots:
        for snapshot in snapshots.each(commits.known):
            for row in commits.known[snapshot.commit]:
                targets = data.targets(row)
                inside = [target for target in targets if target.ref not in NOT_IN_REPOSITORY]
                unchecked += len(targets) - len(inside)
                for target in inside:
                    checked.update(_sorts(target))
                missing[row] = [
                    MissingReference(data.query_ids[row], *problem)
                    for target in inside
                    for problem in _problems(snapshot, target, matcher)
                ]
    listed = (problem for row in sorted(missing) for problem in missing[row])
    return PresenceReport(dict(checked), tuple(listed), unchecked)


def base_commits(data: Dataset, repository: str, *, default: str) -> BaseCommits:
    """Return the rows of *data* by commit; rows without a ``base_commit`` belong to *default*.

    A *default* that is not a commit raises InputError.
    """
    rows_of: dict[str, list[int]] = {}
    for row, extra in enumerate(data.extras):
        rows_of.setdefault(str(extra.get("base_commit") or ""), []).append(row)
    names = [name or default for name in rows_of]
    known: dict[str, list[int]] = {}
    unknown: dict[str, list[int]] = {}
    oids = object_ids(repository, names, "commit")
    for (given, rows), name, commit in zip(rows_of.items(), names, oids, strict=True):
        if commit:
            known.setdefault(commit, []).extend(rows)
        elif given:
            unknown[name] = rows
        else:
            raise InputError(f"{repository}: no revision {name!r}; expected a commit or a tag")
    return BaseCommits(known, unknown)


def _sorts(target: Target) -> list[str]:
    there = {"paths": target.path, "lines": target.end_line, "symbols": target.symbol}
    return [sort for sort, given in there.items() if given]


def _problems(
    snapshot: CommitSnapshot, target: Target, matcher: Matcher
) -> Iterator[tuple[str, str]]:
    """Yield the problems of *target*; a missing file is reported once, without its details."""
    symbol, part = target.symbol, matcher.by_symbol
    if not target.path:
        if not any(files_defining(snapshot, symbol, part=part)):
            yield "symbols", f"nothing defines {symbol!r} at {snapshot.short}"
        return
    paths = find_paths(snapshot, target, matcher)
    if not paths:
        offer = suggest(target.path, snapshot.entries)
        yield "paths", f"no file {target.path!r} at {snapshot.short}{offer}"
        return
    if target.ref == "file_name" and len(paths) > 1:
        yield "names", f"{len(paths)} files are called {target.path!r} at {snapshot.short}"
    if target.end_line:
        lengths = [len(lines_of(snapshot.content(path).text)) for path in paths]
        if max(lengths) < target.end_line:
            expected = f"expected lines {target.start_line}-{target.end_line}"
            yield "lines", f"{_size(snapshot, paths[0])} at {snapshot.short}; {expected}"
    if symbol and not any(defines(snapshot, path, symbol, part=part) for path in paths):
        yield "symbols", f"{target.path} does not define {symbol!r} at {snapshot.short}"


def _size(snapshot: CommitSnapshot, path: str) -> str:
    content = snapshot.content(path)
    if content.reason:
        return f"{path} is not text ({content.reason})"
    count = len(lines_of(content.text))
    return f"{path} has {count} line{'' if count == 1 else 's'}"
