"""Look up a target in a snapshot: the files it may refer to, and the definitions."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from os.path import commonpath
from urllib.parse import unquote, urlsplit

from karat.corpus.chunkers.definitions import Symbol
from karat.mining.snapshots import CommitSnapshot
from karat.model import Hit, Target
from karat.scoring.matching.modes import Matcher, is_suffix, normalise

__all__ = [
    "NOT_IN_REPOSITORY",
    "defines",
    "definitions_named",
    "files_defining",
    "find_paths",
    "has_name",
    "suggest",
]

# Reference types that only their own collection can resolve.
NOT_IN_REPOSITORY = frozenset({"document_id", "content_hash"})
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
        return [found for found in snapshot.entries if is_suffix(found, path)]
    if target.ref == "file_name":
        return [found for found in snapshot.entries if _name(found) == path]
    path = normalise(path)
    if path in snapshot.entries:
        return [path]
    wanted = Target(path)
    return [found for found in snapshot.entries if matcher.credit(Hit(found), wanted)]


def files_defining(
    snapshot: CommitSnapshot, symbol: str, *, part: bool, among: Iterable[str] | None = None
) -> Iterator[str]:
    """Yield the paths of files in *snapshot* that define *symbol*; only *among*, if given."""
    for path in snapshot.holding(_last(symbol), among):
        if defines(snapshot, path, symbol, part=part):
            yield path


def defines(snapshot: CommitSnapshot, path: str, symbol: str, *, part: bool) -> bool:
    """Return whether the file at *path* defines *symbol*; without a grammar, contains its name."""
    found = snapshot.definitions(path)
    if found is None:
        return _last(symbol).lower() in snapshot.content(path).text.lower()
    return bool(definitions_named(found, symbol, part=part))


def definitions_named(definitions: Iterable[Symbol], symbol: str, *, part: bool) -> list[Symbol]:
    """Return those of *definitions* whose name is *symbol*."""
    return [found for found in definitions if has_name(found, symbol, part=part)]


def has_name(definition: Symbol, symbol: str, *, part: bool) -> bool:
    """Return whether *symbol* is the name of *definition*, alone or with enclosing names.

    With *part*, any part of the name in any case is enough, as in symbol matching of hits.

    >>> login = Symbol("login", "method", 1, 2, parent="auth.Session")
    >>> [has_name(login, name, part=False) for name in ("login", "Session::login", "log")]
    [True, True, False]
    >>> has_name(login, "LOG", part=True)
    True
    """
    wanted = _SEPARATOR.sub(".", symbol)
    if part:
        return wanted.lower() in definition.qualified.lower()
    return f".{definition.qualified}".endswith(f".{wanted}")


def suggest(wanted: str, known: Iterable[str]) -> str:
    """Return suggestions for the path *wanted* as a clause, or an empty text.

    Suggestions are files with the same or a similar name; of many, those with similar folders come
    first.

    >>> suggest("src/auth.py", ["lib/auth.py", "lib/other.py"]), suggest("x.c", ["a.py"])
    ("; did you mean 'lib/auth.py'?", '')
    """
    path = normalise(wanted)
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
