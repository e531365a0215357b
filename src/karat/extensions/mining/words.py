"""Words of a query, and leaks: how much of a target's path they reveal."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from enum import IntEnum, StrEnum
from functools import cache, lru_cache
from typing import NamedTuple

from karat.system.package_data import read_sections, read_words

PACKAGE = "karat.extensions.mining"

# A query needs at least this many content words.
LEAST_WORDS = 3
_LONELY = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")

# The commonest first, which is fastest; each of the next four begins with a capital letter.
_WORD = r"[a-z]+|[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z]+|[A-Z]+"
# A number in a version, such as 7.4.2071, is useless; a status, a port or a size is not.
_CONTENT = re.compile(rf"{_WORD}|(?<![0-9.])[0-9]+(?!\.?[0-9])")
_PARTS = re.compile(rf"{_WORD}|[0-9]+")
_WRAPPING = "\"'“”’,;:!?."
_NAME = re.compile(
    r"[A-Za-z0-9]_|_[A-Za-z0-9]"  # snake_case, __dunder__, CONSTANT_CASE
    r"|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]{2}"  # camelCase, URLField
    r"|\w\(|\w(?:::|->|=)|[\w)]#\w"  # calls, members, keyword arguments, Ruby's Class#method
    r"|^--?[A-Za-z]|^[@$#]\w"  # options, decorators, variables
    r"|\w\.[A-Za-z_]"  # dotted names and files
    r"|^\.?/\w|/\w+[./]"  # paths
)
# Product names and abbreviations that look like code identifiers.
_PLAIN = re.compile(
    r"(?i:e\.g\.?|i\.e\.?|a\.k\.a\.?|node\.js|(?:java|type|action)scripts?|postgre(?:sql|s)|mysql"
    r"|sqlite3?|postgis|spatialite|mariadb|mongodb|nosql|github|gitlab|graphql|websockets?|openssl"
    r"|openapi|freebsd|openbsd|netbsd|macos|ios|ipv[46]|oauth2?|mod_(?:python|wsgi)|youtube|pypy"
    r"|cpython|jython|ironpython|cython|pypi|xhtml|latex|powershell|webassembly|restructuredtext"
    r"|linkedin|docstrings?|[A-Z0-9]+s|v?\d[\w.]*|[a-z]+/[a-z]+)"
)


@cache
def function_words() -> frozenset[str]:
    """Return the function words of English."""
    return word_list("function_words")


@cache
def _empty_words() -> frozenset[str]:
    """Return the words that are no content of a query."""
    return function_words() | word_list("filler_words") | _LONELY


def word_list(name: str) -> frozenset[str]:
    """Return the words of a file in ``word_lists``."""
    return frozenset(read_words(PACKAGE, f"word_lists/{name}.txt"))


def tokens(query: str) -> list[str]:
    """Return the words of *query* between white space, without the punctuation around them.

    >>> tokens("fix load_dotenv's result, again.")
    ['fix', 'load_dotenv', 'result', 'again']
    """
    return [token if token.isalpha() else _bare(token) for token in query.split()]


def is_identifier(token: str) -> bool:
    """Return whether *token* looks like a code identifier: a symbol, an option, a file.

    An identifier that is spelled like an English word is not recognised.

    >>> [name for name in "URLField url_for app.run() --debug URLs MySQL and/or" .split()
    ...  if is_identifier(name)]
    ['URLField', 'url_for', 'app.run()', '--debug']
    """
    bare = _bare(token)
    return _NAME.search(bare) is not None and not _PLAIN.fullmatch(bare)


def parts(token: str) -> list[str]:
    """Return the words of an identifier, in lower case.

    >>> parts("HTTPServer.get_user2")
    ['http', 'server', 'get', 'user', '2']
    """
    return [part.lower() for part in _PARTS.findall(token)]


def content_words(text: str) -> set[str]:
    """Return the distinct content words of *text*; identifiers are split.

    >>> sorted(content_words("fix the crash of 3.11.2 in getUser on 404"))
    ['404', 'crash', 'user']
    """
    return set(map(str.lower, _CONTENT.findall(text))) - _empty_words()


def _bare(token: str) -> str:
    bare = token.strip(_WRAPPING).removesuffix("'s").removesuffix("’s")
    if bare.startswith("(") and bare.count("(") > bare.count(")"):
        bare = bare[1:]
    if bare.endswith(")") and bare.count(")") > bare.count("("):
        bare = bare[:-1]
    if bare.startswith("(") and bare.endswith(")"):
        bare = bare[1:-1]
    return bare.strip(_WRAPPING)


class Reason(StrEnum):
    """A reason to drop a commit, derived from its message."""

    REVERT = "revert"
    BUMP = "bump"
    LAYOUT = "layout"
    MAINTENANCE = "maintenance"
    DISTANT = "distant"
    VAGUE = "vague"
    TANGLED = "tangled"


class _Wording(NamedTuple):
    """What messages say, with the reasons to drop their commits.

    *by_first_word* has words and phrases, each padded with blanks, that count anywhere. *leads* are
    verbs that count at the start. A phrase in *spared* overrides its words; *sparing* are the first
    words of those.
    """

    by_first_word: Mapping[str, Sequence[tuple[Reason, str]]]
    leads: Mapping[str, Reason]
    spared: Sequence[str]
    sparing: frozenset[str]


@cache
def _wording() -> _Wording:
    """Return the content of ``word_lists/reasons.txt``, whose first lines describe it."""
    phrases: defaultdict[str, list[tuple[Reason, str]]] = defaultdict(list)
    leads: dict[str, Reason] = {}
    spared: list[str] = []
    for title, lines in read_sections(PACKAGE, "word_lists/reasons.txt").items():
        reason, _, part = title.rpartition(" ")
        words = " ".join(lines).split()
        if part == "spared":
            spared += [f" {line} " for line in lines]
        elif part == "leads":
            leads |= dict.fromkeys(words, Reason(reason))
        else:
            for phrase in lines if part == "phrases" else words:
                phrases[phrase.split()[0]].append((Reason(reason), f" {phrase} "))
    return _Wording(dict(phrases), leads, spared, frozenset(each.split()[0] for each in spared))


def reasons(said: Sequence[str], lead: str) -> set[Reason]:
    """Return the reasons in the lower-case words *said*; *lead* is the first verb as imperative.

    >>> reasons(["fix", "trailing", "whitespace"], "fix")
    {<Reason.LAYOUT: 'layout'>}
    >>> reasons(["let", "the", "test", "client", "follow", "redirects"], "let")
    set()
    """
    wording = _wording()
    matched = {wording.leads[lead]} if lead in wording.leads else set()
    known = wording.by_first_word.keys() & said
    if known:
        text = f" {' '.join(said)} "
        if not wording.sparing.isdisjoint(said):
            for phrase in wording.spared:
                text = text.replace(phrase, " ")
        matched.update(
            reason
            for word in known
            for reason, phrase in wording.by_first_word[word]
            if phrase in text
        )
    return matched


class Leak(IntEnum):
    """A scale; a higher level reveals more.

    PATH: the path, or its last two parts as a path or a dotted module. BASENAME: the file name with
    its extension. STEM: every word of the name without extension. PART: one word of the name or of
    a folder. NONE: nothing.
    """

    NONE = 0
    PART = 1
    STEM = 2
    BASENAME = 3
    PATH = 4


_NAMELESS = frozenset({"__init__", "index", "mod", "main", "lib"})


@cache
def _generic_names() -> frozenset[str]:
    """Return the names that exist in every repository, so that they reveal nothing."""
    return word_list("generic_names")


def leak(query: str, paths: Iterable[str]) -> Leak:
    """Return the highest level that *query* reaches for any of *paths*.

    >>> paths = ["src/flask/json/tag.py"]
    >>> leak("fix flask.json.tag on tuples", paths).name, leak("fix tag.py", paths).name
    ('PATH', 'BASENAME')
    >>> leak("tags of JSON", paths).name, leak("JSON", paths).name, leak("tuples", paths).name
    ('STEM', 'PART', 'NONE')
    """
    query_names = _query_names(query)
    return max((_step(query_names, path) for path in paths), default=Leak.NONE)


class _QueryNames(NamedTuple):
    names: Sequence[str]
    slashed: Sequence[str]
    words: Set[str]


class _PathNames(NamedTuple):
    """The names of a path; *stem* is empty if it is too generic, *specific* are revealing words."""

    file: str
    tail: str
    stem: frozenset[str]
    specific: frozenset[str]


def _query_names(query: str) -> _QueryNames:
    names = [token.lower() for token in tokens(query)]
    slashed = [_slashed(name) for name in names if "/" in name or "." in name or "::" in name]
    words = {_singular(part) for part in parts(query)}
    return _QueryNames(names, slashed, words)


def _step(query_names: _QueryNames, path: str) -> Leak:
    path_names = _path_names(path)
    if (
        query_names.slashed
        and path_names.tail
        and any(path_names.tail in tail for tail in query_names.slashed)
    ):
        return Leak.PATH
    if path_names.file in query_names.names:
        return Leak.BASENAME
    if path_names.stem and path_names.stem <= query_names.words:
        return Leak.STEM
    return Leak.NONE if path_names.specific.isdisjoint(query_names.words) else Leak.PART


@lru_cache(maxsize=1 << 15)
def _path_names(path: str) -> _PathNames:
    *folders, file = path.split("/")
    stem = file.rpartition(".")[0] or file
    steps = [*folders, stem]
    if stem in _NAMELESS and folders:
        steps = folders
    tail = _slashed("/".join(steps[-2:]).lower()) if len(steps) > 1 else ""
    generic = _generic_names()
    specific = frozenset(_singular(word) for step in steps for word in parts(step)) - generic
    words = frozenset(map(_singular, parts(steps[-1])))
    return _PathNames(file.lower(), tail, words if words - generic else frozenset(), specific)


def _slashed(name: str) -> str:
    """Return the parts of a path or dotted name in one form, between slashes."""
    steps = name.replace("::", "/").replace("(", "/").replace(".", "/").strip("/")
    return f"/{steps}/"


def _singular(word: str) -> str:
    """Return *word* without a plural s, in lower case; applied to both sides."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" != word[-2] else word
