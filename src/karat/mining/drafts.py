"""Drafts: commits under examination, with classified files and a lazily parsed message."""

import re
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from typing import NamedTuple

from karat.corpus.files.traits import Trait, classify
from karat.mining.commits import Candidate, Change, Commit
from karat.mining.messages import as_query, opening
from karat.mining.words import Reason, reasons

__all__ = ["ChangedFiles", "Draft", "FileClassifier", "Role", "role_of", "signs"]

# A cheap test for a character that the slow pattern needs.
_DIGIT = re.compile(r"\d")
_SHA = re.compile(r"\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}\b|\br\d{3,6}\b|\[\d{3,6}\]")
# "1.2", "2013.06.13, Version 0.10.11", "update Werkzeug to 2.3.7".
_VERSION = re.compile(
    r"v?\d+\.\d+\S*$|(?:[\d.]+,? )?version v?\d|(?:bump|pin|require|release|set|update|use|version)"
    r" (?:\S+ ){0,4}v?\d+(?:\.\w+)+\.?$",
    re.IGNORECASE,
)
# Conventional Commits types whose word alone is ambiguous: "build" is also a verb.
_UPKEEP = re.compile(r"(?i:chore|style|ci|build|deps|types?|typing)(?:\([^)]*\))?!?: ")
_RENAMES = re.compile(r"\w\S* (?:->|=>|→) \S*\w")


def signs(message: str, query: str) -> set[Reason]:
    """Return the reasons that the form of a *message* and of its *query* gives to drop it.

    >>> signs("build: copy the images", "copy the images")
    {<Reason.MAINTENANCE: 'maintenance'>}
    >>> signs("Fix the crash since 3c7ed2b", "fix the crash since 3c7ed2b")
    {<Reason.DISTANT: 'distant'>}
    """
    found = set()
    if _DIGIT.search(query):
        if _VERSION.match(query):
            found.add(Reason.BUMP)
        if _SHA.search(query):
            found.add(Reason.DISTANT)
    if ":" in message and _UPKEEP.match(message):
        found.add(Reason.MAINTENANCE)
    if (">" in query or "→" in query) and _RENAMES.search(query):
        found.add(Reason.MAINTENANCE)
    return found


class Role(StrEnum):
    """The role of a file; the first role that applies, in this order, wins.

    VENDORED and GENERATED come first, because a vendored test is not a test of this project. OTHER
    are files that no code search returns: images, binaries, unknown names.
    """

    VENDORED = "vendored"
    GENERATED = "generated"
    LOCK = "lock"
    TEST = "tests"
    DOCS = "docs"
    CONFIG = "config"
    EXAMPLE = "examples"
    BUILD = "build"
    SOURCE = "source"
    OTHER = "other"


_BY_TRAIT = (
    (Trait.VENDORED, Role.VENDORED),
    (Trait.GENERATED | Trait.MINIFIED, Role.GENERATED),
    (Trait.LOCK, Role.LOCK),
    (Trait.TEST, Role.TEST),
    (Trait.DOCS, Role.DOCS),
    (Trait.CONFIG, Role.CONFIG),
)
# Searchable code that is never the subject of a change: examples and build scripts.
_EXAMPLES = re.compile(r"(?i)(?:^|/)(?:examples?|samples?|demos?|tutorials?|benchmarks?)(?:/|$)")
_BUILD_FOLDER = re.compile(r"(?i)(?:^|/)\.(?:github|ci)(?:/|$)|^(?:scripts?|hack)(?:/|$)")
_BUILD_FILE = re.compile(
    r"(?i)(?:setup\.py|noxfile\.py|fabfile\.py|gulpfile\.[a-z]+|gruntfile\.[a-z]+|rakefile|gemfile"
    r"|build\.rs|.*\.(?:gemspec|gradle\.kts|cmake|gypi?)|[\w.-]+\.config\.[cm]?[jt]s)$"
)


def role_of(path: str) -> Role:
    """Return the role of the file at *path*.

    >>> [role_of(path).value for path in ("a.py", "tests/a.py", "vendor/a_test.go", "a.png")]
    ['source', 'tests', 'vendored', 'other']
    """
    language, traits = classify(path)
    if traits:
        return _by_traits(traits)
    if not language:
        return Role.OTHER
    folder, _, name = path.rpartition("/")
    role = _in_folder(folder)
    return Role.BUILD if role is Role.SOURCE and _BUILD_FILE.match(name) else role


# Joining flags is slow, and few combinations occur.
@cache
def _by_traits(traits: Trait) -> Role:
    return next(role for trait, role in _BY_TRAIT if trait & traits)


# A history has thousands of files in each folder.
@lru_cache(maxsize=1 << 14)
def _in_folder(folder: str) -> Role:
    if _EXAMPLES.search(folder):
        return Role.EXAMPLE
    return Role.BUILD if _BUILD_FOLDER.search(folder) else Role.SOURCE


_FILE_MODES = ("100644", "100755")
_PUNCTUATION = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
# As bytes: translating bytes takes a quarter of the time.
_SEPARATORS = bytes.maketrans(_PUNCTUATION, b" " * len(_PUNCTUATION))


class ChangedFiles(NamedTuple):
    """The relevant changes of a commit, by role.

    *sole* is the role of all its files, if they share one.
    """

    targets: tuple[Change, ...]
    tests: tuple[Change, ...]
    added: int
    sole: Role | None


class FileClassifier:
    """Classifies the files of commits, with a cache of the role of each path.

    *roles* are the roles that may be targets; paths that *excluded* matches are never targets.
    """

    def __init__(
        self,
        roles: Collection[Role] = (Role.SOURCE,),
        excluded: Callable[[str], bool] | None = None,
    ) -> None:
        """Use *roles* as targets and skip *excluded* paths."""
        self._wanted = frozenset(roles)
        self._excluded = excluded
        self._roles: dict[str, Role] = {}

    def sort(self, changes: Sequence[Change]) -> ChangedFiles:
        """Return the files that a search before the change could return, and count the others.

        Changes of mode only, links and submodules are not targets.
        """
        targets = []
        tests = []
        seen = set()
        added = 0
        known, wanted, test = self._roles, self._wanted, Role.TEST
        for change in changes:
            path = change.old_path
            role = known.get(path)
            if role is None:
                role = known[path] = self._role(path)
            seen.add(role)
            if role in wanted:
                if change.status == "A":
                    added += 1
                elif change.old_mode in _FILE_MODES and not _only_mode(change):
                    targets.append(change)
            elif role is test:
                tests.append(change)
        sole = seen.pop() if len(seen) == 1 else None
        return ChangedFiles(tuple(targets), tuple(tests), added, sole)

    def _role(self, path: str) -> Role:
        if self._excluded is not None and self._excluded(path):
            return Role.OTHER
        return role_of(path)


def _only_mode(change: Change) -> bool:
    return change.old_blob == change.new_blob and change.old_path == change.path


class ParsedMessage(NamedTuple):
    """The parsed message: its query and the reasons to drop the commit."""

    query: str
    reasons: set[Reason]


class Draft:
    """A commit under examination; its message is parsed on first use."""

    __slots__ = ("_text", "commit", "files")

    def __init__(self, commit: Commit, files: ChangedFiles) -> None:
        """Examine *commit*, whose changes are classified as *files*."""
        self.commit = commit
        self.files = files
        self._text: ParsedMessage | None = None

    @property
    def text(self) -> ParsedMessage:
        """The parsed message."""
        if self._text is None:
            subject = opening(self.commit.message)
            query = as_query(subject)
            said = reasons(_words(subject), _lead(query))
            self._text = ParsedMessage(query, said | signs(self.commit.message, query))
        return self._text

    def candidate(self) -> Candidate:
        """Return the candidate that remains if no rule drops the commit."""
        return Candidate(self.commit, self.files.targets, self.files.tests, self.text.query)


def _lead(query: str) -> str:
    """Return the first word of *query* after its scope, which is one or two words and a colon."""
    scope, _, rest = query.partition(": ")
    text = rest if rest and scope.count(" ") < 2 else query
    return text.partition(" ")[0].lower()


def _words(text: str) -> list[str]:
    raw = text.lower().encode("utf-8", "replace")
    return raw.translate(_SEPARATORS).decode("utf-8", "replace").split()
