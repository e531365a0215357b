"""Words of a query, and leaks: how much of a target's path they reveal."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import NamedTuple

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
    """Words and phrases that count anywhere, and verbs that count at the start.

    A phrase in *spared* overrides its words: a "test client" is not about tests. Commas separate
    phrases.
    """

    words: str = ""
    phrases: str = ""
    leads: str = ""
    spared: str = ""


_TABLE = {
    Reason.REVERT: _Wording(
        "revert reverts reverted reverting unrevert",
        "back out, backed out, backing out, roll back, rolled back, undo commit, undid",
    ),
    Reason.BUMP: _Wording(
        "bump bumped bumps bumping dependencies changelog upversion",
        """
        now working on, version number, release version, next version, new version, dev version,
        to version, prepare release, preparing for, post release, beta release, final release,
        release candidate, version to, start release, update requirements, update dependency
        """,
        "release upgrade",
    ),
    Reason.LAYOUT: _Wording(
        """
        black violation violations whitespace whitespaces indentation reformat reformatted pep8
        pycodestyle pylint flake8 pyflakes isort autopep8 pyupgrade gofmt golint golangci lint
        linter linting lints clippy rustfmt prettier eslint rubocop checkstyle ruff noqa typo
        typos typographical misspelling misspellings misspelled spelling spellcheck grammar
        grammatical wording reword reworded rewording copyright copyrights license licence
        licensing cosmetic stylistic capitalization punctuation nit nits newlines tabs clarifying
        """,
        """
        pre commit, compiler warning, compiler warnings, compile warning, compile warnings,
        eclipse warnings, error prone, code style, coding style, style fixes, trailing space,
        trailing spaces, pep 8, run black, apply black, with black, line length, long line,
        long lines, import order, sort imports, sorted imports, blank line, blank lines,
        empty line, empty lines, a newline, missing newline, extra newline, curly braces,
        missing space, missing spaces, extra space, extra spaces, file header
        """,
        "reformat beautify reindent hyphenate capitalize align",
    ),
    Reason.MAINTENANCE: _Wording(
        """
        doc docs rst latex autodoc imports typeshed commented comprehension comprehensions
        docstring docstrings documentation documented documenting undocumented changelog readme
        tutorial tutorials howto javadoc javadocs godoc rustdoc sphinx authors contributors test
        tests tested testcase testcases testsuite unittest unittests selftest e2e coverage travis
        tox appveyor jenkins workflow workflows mypy typing pyright annotation typehint typehints
        refactor refactored refactoring refactors refactorings rename renamed renames renaming
        restructure restructured reorganize reorganized reorganization reorder reordered cleanup
        cleanups cleaned cleaning cleaner tidy tidied modernize modernized readability
        maintainability unused unneeded unnecessary unnecessarily redundant obsolete leftover
        leftovers superfluous needless useless unreachable dead outdated stale example examples
        sample samples demo boilerplate consistently consistency duplicated duplication
        deduplicate dedupe dry idiomatic simplification makefile gyp cmake
        """,
        """
        release notes, release note, add note, a note, note on, note about, better types,
        type checked, project metadata, to https, by https, with https, references to,
        code comment, a comment, the comment, mention of, code comments, add comments,
        more comments, some comments, fix comments, comments in, comment about, comment in,
        inline comment, comment to, comment for, test suite, type hint, type hints,
        type annotation, type annotations, type checking, type checker, clean up, cleans up,
        common code, shared code, module import, import for, dead code, code reuse,
        helper function, helper functions, helper method, variable name, variable names,
        method name, function name, naming convention, line numbers in, factor out, factored out,
        into its own, into their own, to its own, into a separate, to a separate,
        unicode literals, future import, future imports, relative imports, absolute imports,
        circular import, circular imports, import statement, unused import, python 2, python 3,
        py3, python3, python2, py2, six, string formatting, f strings, f string, format strings,
        super calls, magic number, magic numbers, pure refactor, no functional change,
        no behavior change, build file, build files, build script, generated files,
        generated file, generated code, update codegen, format args, no need for, no need to,
        dict literal, dict literals, literal syntax, type hinting, per convention,
        consistent use of, end of life, add separate, added separate, add a separate,
        added a separate, remove use of, removed use of, remove uses of, removed uses of,
        remove usage of, removed usage of, remove usages of, removed usages of
        """,
        """
        regenerate note hint refer comment edit shorten standardize encapsulate encapsulated
        express expressed document clarify mention explain describe rename move reorganize
        restructure refactor simplify tidy clean cleanup inline consolidate reorder rearrange test
        typing annotate type mock port modernize deduplicate abstract abstracted reimplement
        reimplemented factor unify split extract streamline rework rewrite separate decouple
        relocate
        """,
        """
        test client, test runner, test runners, test database, test databases, test request,
        test server, test case class, test command, test cli, test clients, testing client
        """,
    ),
    Reason.DISTANT: _Wording(
        """
        oops whoops uh ugh argh sigh oversight followup forgot forgotten fixup amend rebase
        thoughts
        """,
        """
        merge in, from master, from trunk, by hand, by accident, by mistake, left in,
        previous commit, last commit, earlier commit, this commit, that commit, prior commit,
        in commit, of commit, by commit, since commit, from commit, previous change, last change,
        recent change, recent changes, last changeset, previous changeset, changeset,
        previous patch, last patch, earlier change, previous fix, last fix, follow up,
        code review, review comments, review comment, review feedback, address comments,
        address review, address feedback, feedback from, as discussed, as suggested, as promised,
        per discussion, my previous, my last, missed in, missing from, introduced by,
        introduced in, broken by, broken in, branch, once more, this time, pull request,
        suggestions from, requested changes, merge conflict, merge conflicts, first part of,
        second part of, third part of, first half of, second half of, first step, next step,
        final step
        """,
        "finish",
    ),
    Reason.VAGUE: _Wording(
        """
        misc miscellaneous stuff wip todo todos hack hacks minor tiny trivial tweak tweaks
        experimental bunch silly stupid obvious handful todays yesterdays
        """,
        """
        work in progress, started work, start work, started working, initial version,
        initial work, initial commit, iteration of, first version, first cut, first pass,
        some more, a few, few more, several fixes, various, small fix, small fixes, bug fix,
        bug fixes, bugfixes, a bug, few bugs, some bugs, some improvements, small improvements,
        some code, more changes, some changes, small change, small changes, more work, more fixes,
        no more, another attempt, another fix, it works, works now, should work, better name,
        in theory, for now, not sure, i think, i hope, hopefully, couple of, a couple, and more,
        and other, and others, among others, and friends, etc
        """,
        """
        better more nicer extra further another alternative small little tweak start try attempt
        initial improvements modifications adjustments looking investigating debugging trying
        """,
    ),
    Reason.TANGLED: _Wording(
        phrases="""
        and add, and added, and fix, and fixed, and improve, and improved, and simplify,
        and simplified, and changed, and removed, and updated, and made, and moved, and corrected
        """,
        spared="save and add another",
    ),
}


def _phrases(text: str) -> list[str]:
    return [f" {' '.join(phrase.split())} " for phrase in text.split(",") if phrase.strip()]


def _by_first_word() -> dict[str, list[tuple[Reason, str]]]:
    """Return phrases by their first word; a phrase and a single word are padded with spaces."""
    found = defaultdict(list)
    for reason, wording in _TABLE.items():
        for phrase in (
            *(f" {word} " for word in wording.words.split()),
            *_phrases(wording.phrases),
        ):
            found[phrase.split()[0]].append((reason, phrase))
    return dict(found)


_PHRASES = _by_first_word()
_LEADS = {lead: reason for reason, wording in _TABLE.items() for lead in wording.leads.split()}
_SPARED = [phrase for wording in _TABLE.values() for phrase in _phrases(wording.spared)]
_SPARING = frozenset(phrase.split()[0] for phrase in _SPARED)


def reasons(said: Sequence[str], lead: str) -> set[Reason]:
    """Return the reasons in the lower-case words *said*; *lead* is the first verb as imperative.

    >>> reasons(["fix", "trailing", "whitespace"], "fix")
    {<Reason.LAYOUT: 'layout'>}
    >>> reasons(["let", "the", "test", "client", "follow", "redirects"], "let")
    set()
    """
    found = {_LEADS[lead]} if lead in _LEADS else set()
    known = _PHRASES.keys() & said
    if known:
        text = f" {' '.join(said)} "
        if not _SPARING.isdisjoint(said):
            for phrase in _SPARED:
                text = text.replace(phrase, " ")
        found.update(
            reason for word in known for reason, phrase in _PHRASES[word] if phrase in text
        )
    return found


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


# These names exist in every repository, so they reveal nothing.
_EVERYWHERE = """
api app apps base bin build cmd code common compat config contrib core default dist example examples
ext file files func function functions helper helpers impl index init interface internal lib libs
main misc mod model models module modules package packages pkg plugin plugins private public scripts
server service services shared source sources src staging support test testing tests tool tools type
types util utilities utils v1 v2 v3 version view views
"""
_GENERIC = frozenset(_EVERYWHERE.split())
_NAMELESS = frozenset({"__init__", "index", "mod", "main", "lib"})


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
    specific = frozenset(_singular(word) for step in steps for word in parts(step)) - _GENERIC
    words = frozenset(map(_singular, parts(steps[-1])))
    return _PathNames(file.lower(), tail, words if words - _GENERIC else frozenset(), specific)


def _slashed(name: str) -> str:
    """Return the parts of a path or dotted name in one form, between slashes."""
    steps = name.replace("::", "/").replace("(", "/").replace(".", "/").strip("/")
    return f"/{steps}/"


def _singular(word: str) -> str:
    """Return *word* without a plural s, in lower case; applied to both sides."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" != word[-2] else word
