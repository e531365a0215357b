"""Words of a query: content words, code identifiers and their parts."""

import re

__all__ = ["FUNCTION_WORDS", "LEAST_WORDS", "content_words", "is_identifier", "parts", "tokens"]

_FUNCTION = """
a about after again all also always an and any are as at be because been before being both but by
can could did do does doing don doesn during each either else even ever for from had has have having
how however i if in instead into is isn it its itself just let longer may might more most must my no
nor not now of off on once only onto or other our out over per rather s same shall should since so
some still such t than that the their them then there these they this those through to too toward
towards under until up upon us very via was we were what when where whether which while who whose
why will with within without won would yet you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION.split())

# Filler words: common in commit messages, and useless for a search.
_FILLING = """
actual actually add added adding adjust allow appropriate back bad behavior behaviour better bit
broken bug bugs case cases change changed changes code correct correctly current data default
different enable enhance ensure existing extend extended extending extra fix fixed fixes fixing
function functionality get good handle handling implement implementation improve improved
improvement improvements incorrect incorrectly instead issue issues like little logic make makes
making message method methods missing name new nicer object old one possible problem problems proper
properly provide readd refine reimplement remove removed removing replace right set some something
start stop stuff support sure thing things update updated usage use used useful using value values
way ways work working works wrong
"""
_FILLERS = frozenset(_FILLING.split())
# A query needs at least this many content words.
LEAST_WORDS = 3
_LONELY = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_EMPTY = FUNCTION_WORDS | _FILLERS | _LONELY

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
    return set(map(str.lower, _CONTENT.findall(text))) - _EMPTY


def _bare(token: str) -> str:
    bare = token.strip(_WRAPPING).removesuffix("'s").removesuffix("’s")
    if bare.startswith("(") and bare.count("(") > bare.count(")"):
        bare = bare[1:]
    if bare.endswith(")") and bare.count(")") > bare.count("("):
        bare = bare[:-1]
    if bare.startswith("(") and bare.endswith(")"):
        bare = bare[1:-1]
    return bare.strip(_WRAPPING)
