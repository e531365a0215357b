"""Look up a target in a revision: the files it may refer to, and the definitions."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from os.path import commonpath
from urllib.parse import unquote, urlsplit

from karat.corpus.chunkers.definitions import Symbol
from karat.mining.trees import Tree
from karat.model import Hit, Target
from karat.scoring.matching.modes import Matcher, is_suffix, normalise

__all__ = ["NOT_IN_A_TREE", "called", "defines", "defining", "find_paths", "is_called", "near"]

# Reference types that only their own collection can resolve.
NOT_IN_A_TREE = frozenset({"document_id", "content_hash"})
_SEPARATOR = re.compile(r"::|[:#]")
_MOST_OFFERED = 3


def find_paths(tree: Tree, target: Target, matcher: Matcher) -> list[str]:
    """Return the paths in *revision* that *target* refers to, by the rule that will match its hits.

    An existing path refers to itself. A file name refers to all files of that name; a URI, to the
    files whose path is the end of it.
    """
    path = target.path
    if target.ref == "uri":
        path = unquote(urlsplit(path).path)
        return [found for found in tree.entries if is_suffix(found, path)]
    if target.ref == "file_name":
        return [found for found in tree.entries if _name(found) == path]
    path = normalise(path)
    if path in tree.entries:
        return [path]
    wanted = Target(path)
    return [found for found in tree.entries if matcher.credit(Hit(found), wanted)]


def defining(
    tree: Tree, symbol: str, *, part: bool, among: Iterable[str] | None = None
) -> Iterator[str]:
    """Yield the paths of files in *revision* that define *symbol*; only those in *among*, if given."""
    for path in tree.holding(_last(symbol), among):
        if defines(tree, path, symbol, part=part):
            yield path


def defines(tree: Tree, path: str, symbol: str, *, part: bool) -> bool:
    """Return whether the file at *path* defines *symbol*; without a grammar, contains its name."""
    found = tree.definitions(path)
    if found is None:
        return _last(symbol).lower() in tree.content(path).text.lower()
    return bool(called(found, symbol, part=part))


def called(definitions: Iterable[Symbol], symbol: str, *, part: bool) -> list[Symbol]:
    """Return those of *definitions* whose name is *symbol*."""
    return [found for found in definitions if is_called(found, symbol, part=part)]


def is_called(definition: Symbol, symbol: str, *, part: bool) -> bool:
    """Return whether *symbol* is the name of *definition*, alone or with enclosing names.

    With *part*, any part of the name in any case is enough, as in symbol matching of hits.

    >>> login = Symbol("login", "method", 1, 2, parent="auth.Session")
    >>> [is_called(login, name, part=False) for name in ("login", "Session::login", "log")]
    [True, True, False]
    >>> is_called(login, "LOG", part=True)
    True
    """
    wanted = _SEPARATOR.sub(".", symbol)
    if part:
        return wanted.lower() in definition.qualified.lower()
    return f".{definition.qualified}".endswith(f".{wanted}")


def near(wanted: str, known: Iterable[str]) -> str:
    """Return suggestions for the path *wanted* as a clause, or an empty text.

    Suggestions are files with the same or a similar name; of many, those with similar folders come
    first.

    >>> near("src/auth.py", ["lib/auth.py", "lib/other.py"]), near("x.c", ["a.py"])
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
