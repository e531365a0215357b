"""How messages say that a commit is no case: words, phrases and verbs, one table for each reason."""

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["BUMPS", "DISTANT", "LAYOUT", "MAINTENANCE", "REVERTS", "VAGUE", "Wording"]


class Wording(NamedTuple):
    """Words and phrases that tell wherever they stand, and verbs that tell at the front.

    A phrase of *spared* takes the meaning away from the words in it: a "test client" is no test.
    """

    words: frozenset[str]
    phrases: tuple[str, ...]
    leads: frozenset[str]
    spared: tuple[str, ...]

    def found_in(self, said: Sequence[str], lead: str) -> bool:
        """Say whether the words *said*, the first of them being *lead* as an order, tell.

        >>> LAYOUT.found_in(["fix", "trailing", "whitespace"], "fix")
        True
        """
        if lead in self.leads:
            return True
        told = self.words.intersection(said)
        if not told and not self.phrases:
            return False
        text = f" {' '.join(said)} "
        if told and self.spared:
            for phrase in self.spared:
                text = text.replace(phrase, " ")
            told = told.intersection(text.split())
        return bool(told) or any(phrase in text for phrase in self.phrases)


def _wording(words: str = "", phrases: str = "", leads: str = "", spared: str = "") -> Wording:
    """Return a table from words between spaces and phrases between commas."""
    return Wording(
        frozenset(words.split()),
        tuple(f" {phrase.strip()} " for phrase in phrases.split(",") if phrase.strip()),
        frozenset(leads.split()),
        tuple(f" {phrase.strip()} " for phrase in spared.split(",") if phrase.strip()),
    )


REVERTS = _wording(
    "revert reverts reverted reverting unrevert",
    "back out, backed out, backing out, roll back, rolled back, undo commit, undid",
)

BUMPS = _wording(
    "bump bumped bumps bumping dependencies changelog upversion",
    """
    now working on, version number, release version, next version, new version, prepare release,
    preparing for, post release, beta release, final release, release candidate, version to,
    start release, this is 0, this is 1, this is 2, update requirements, update dependency
    """,
    "release upgrade",
)

LAYOUT = _wording(
    """
    whitespace whitespaces indentation reformat reformatted pep8 pycodestyle pylint flake8 pyflakes
    isort autopep8 pyupgrade gofmt golint golangci lint linter linting lints clippy rustfmt prettier
    eslint rubocop checkstyle typo typos typographical misspelling misspellings misspelled spelling
    spellcheck grammar grammatical wording reword reworded rewording copyright copyrights license
    licence licensing cosmetic stylistic capitalization punctuation nit nits newlines pre
    """,
    """
    code style, coding style, style fixes, trailing space, trailing spaces, pep 8, run black,
    apply black, with black, line length, long line, long lines, import order, sort imports,
    sorted imports, blank line, blank lines, empty line, empty lines, a newline, missing newline,
    extra newline, curly braces, missing space, extra space, extra spaces, file header
    """,
    "reformat beautify reindent",
    "white space, pre save, pre delete, pre init, pre migrate, pre forked",
)

MAINTENANCE = _wording(
    """
    doc docs docstring docstrings documentation documented documenting undocumented changelog readme
    tutorial tutorials howto javadoc javadocs godoc rustdoc sphinx authors contributors comments
    test tests tested testcase testcases testsuite unittest unittests selftest e2e coverage
    travis tox appveyor jenkins workflow workflows mypy typing pyright annotation typehint typehints
    refactor refactored refactoring refactors refactorings rename renamed renames renaming
    restructure restructured reorganize reorganized reorganization reorder reordered cleanup
    cleanups cleaned cleaning cleaner tidy tidied modernize modernized readability maintainability
    unused unneeded unnecessary unnecessarily redundant obsolete leftover leftovers superfluous
    needless useless unreachable dead outdated stale example examples sample samples demo boilerplate
    duplicated duplication deduplicate dedupe dry idiomatic simplification makefile gyp cmake
    """,
    """
    release notes, release note, code comment, a comment, comment about, comment in, fix comment,
    add comment, update comment, inline comment, comment to, comment for, test suite,
    type hint, type hints, type annotation, type annotations, type checking, type checker,
    clean up, cleans up, dead code, code reuse, helper function, helper functions, helper method,
    variable name, variable names, method name, function name, naming convention, line numbers in,
    factor out, factored out, into its own, into their own, to its own, into a separate,
    to a separate, unicode literals, future import, future imports, relative imports,
    absolute imports, circular import, circular imports, import statement, unused import,
    python 2, python 3, py3, python3, python2, py2, six, list comprehension, list comprehensions,
    set comprehension, string formatting, f strings, f string, format strings, super calls,
    magic number, magic numbers, pure refactor, no functional change, no behavior change,
    build file, build files, build script
    """,
    """
    document clarify mention explain describe rename move reorganize restructure refactor simplify
    tidy clean cleanup inline consolidate reorder rearrange test typing annotate type mock port
    modernize deduplicate factor unify split extract streamline rework rewrite
    """,
    """
    test client, test runner, test runners, test database, test databases, test request,
    test server, test case class, test command, test cli, testing client, django comments,
    comments app, comment app, comments framework, test clients, admindocs
    """,
)

DISTANT = _wording(
    "oops whoops oversight followup forgot forgotten fixup amend rebase thoughts",
    """
    previous commit, last commit, earlier commit, this commit, that commit, prior commit, in commit,
    of commit, by commit, since commit, from commit, previous change, last change, recent change,
    recent changes, last changeset, previous changeset, changeset, previous patch, last patch,
    earlier change, previous fix, last fix, follow up, code review, review comments,
    review comment, review feedback, address comments, address review, address feedback,
    feedback from, as discussed, as suggested, as promised, per discussion, my previous, my last,
    missed in, missing from, introduced by, introduced in, broken by, broken in, branch,
    once more, this time, pull request, suggestions from, requested changes
    """,
)

VAGUE = _wording(
    "misc miscellaneous stuff wip todo todos hack hacks minor tiny trivial tweaks experimental bunch "
    "silly stupid obvious handful",
    """
    work in progress, started work, start work, started working, initial version, initial work,
    initial commit, first version, first cut, first pass, some more, a few, few more, several fixes,
    various, small fix, small fixes, bug fix, bug fixes, bugfixes, a bug, few bugs, some bugs,
    some improvements, small improvements, some code, more changes, some changes, small change,
    small changes, more work, more fixes, no more, another attempt, another fix, it works,
    works now, should work, better name, in theory, for now, not sure, i think, i hope, hopefully,
    couple of, a couple, and more, and other, and others, among others, and friends, etc
    """,
    "tweak start try attempt initial improvement improvements",
)
