"""A commit on its way to become a case: its files sorted, its message read when asked for."""

import re
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from typing import NamedTuple

from karat.corpus.files.traits import Trait, classify
from karat.mining.commits import Candidate, Change, Commit
from karat.mining.messages import as_query, opening
from karat.mining.wording import Reason, reasons

__all__ = ["Draft", "Files", "Role", "Sorter", "role_of", "signs"]

# What a slow pattern needs is looked for first.
_DIGIT = re.compile(r"\d")
_SHA = re.compile(r"\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}\b|\br\d{3,6}\b|\[\d{3,6}\]")
# "1.2", "2013.06.13, Version 0.10.11", "update Werkzeug to 2.3.7".
_VERSION = re.compile(
    r"v?\d+\.\d+\S*$|(?:[\d.]+,? )?version v?\d|(?:bump|pin|require|release|set|update|use|version)"
    r" (?:\S+ ){0,4}v?\d+(?:\.\w+)+\.?$",
    re.IGNORECASE,
)
# The kinds of Conventional Commits whose word alone would not tell: "build" is also a verb.
_UPKEEP = re.compile(r"(?i:chore|style|ci|build|deps|types?|typing)(?:\([^)]*\))?!?: ")
_RENAMES = re.compile(r"\w\S* (?:->|=>|→) \S*\w")


def signs(message: str, query: str) -> set[Reason]:
    """Return what a *message* tells by its look, and the *query* that was made of it.

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
    """What a file is for; the first that holds in this order decides.

    VENDORED and GENERATED files were not written here, so they come first: a vendored test is no
    test of this project. OTHER is what no search for code finds: images, binaries, unknown names.
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
# Code that a search finds, but that no change is about: programs that show how to use the project,
# and those that build it.
_EXAMPLES = re.compile(r"(?i)(?:^|/)(?:examples?|samples?|demos?|tutorials?|benchmarks?)(?:/|$)")
_BUILD_FOLDER = re.compile(r"(?i)(?:^|/)\.(?:github|ci)(?:/|$)|^(?:scripts?|hack)(?:/|$)")
_BUILD_FILE = re.compile(
    r"(?i)(?:setup\.py|noxfile\.py|fabfile\.py|gulpfile\.[a-z]+|gruntfile\.[a-z]+|rakefile|gemfile"
    r"|build\.rs|.*\.(?:gemspec|gradle\.kts|cmake|gypi?)|[\w.-]+\.config\.[cm]?[jt]s)$"
)


def role_of(path: str) -> Role:
    """Return what the file at *path* is for.

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


# Flags are slow to join, and few sets of them occur.
@cache
def _by_traits(traits: Trait) -> Role:
    return next(role for trait, role in _BY_TRAIT if trait & traits)


# A history names thousands of files in each folder.
@lru_cache(maxsize=1 << 14)
def _in_folder(folder: str) -> Role:
    if _EXAMPLES.search(folder):
        return Role.EXAMPLE
    return Role.BUILD if _BUILD_FOLDER.search(folder) else Role.SOURCE


_FILE_MODES = ("100644", "100755")
_PUNCTUATION = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
# As bytes, because translating these takes a quarter of the time that characters do.
_SEPARATORS = bytes.maketrans(_PUNCTUATION, b" " * len(_PUNCTUATION))


class Files(NamedTuple):
    """The changes of a commit that matter, by what they are.

    *sole* is the one role that all of its files have, if they have one.
    """

    targets: tuple[Change, ...]
    tests: tuple[Change, ...]
    added: int
    sole: Role | None


class Sorter:
    """Sorts the files of commits; remembers what each path is, since the same ones come again.

    *roles* are those whose files may be targets; a path that *excluded* names is in no truth.
    """

    def __init__(
        self,
        roles: Collection[Role] = (Role.SOURCE,),
        excluded: Callable[[str], bool] | None = None,
    ) -> None:
        """Sort by *roles* and *excluded*."""
        self._wanted = frozenset(roles)
        self._excluded = excluded
        self._roles: dict[str, Role] = {}

    def sort(self, changes: Sequence[Change]) -> Files:
        """Return the files that a search before the change could find, and the rest counted.

        A change of mode alone, a link and a submodule are no targets.
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
        return Files(tuple(targets), tuple(tests), added, sole)

    def _role(self, path: str) -> Role:
        if self._excluded is not None and self._excluded(path):
            return Role.OTHER
        return role_of(path)


def _only_mode(change: Change) -> bool:
    return change.old_blob == change.new_blob and change.old_path == change.path


class Text(NamedTuple):
    """What a message says: the question in it, and what it tells about its commit."""

    query: str
    reasons: set[Reason]


class Draft:
    """A commit under examination; its message is read when a rule first asks for it."""

    __slots__ = ("_text", "commit", "files")

    def __init__(self, commit: Commit, files: Files) -> None:
        """Examine *commit*, whose changes are sorted as *files*."""
        self.commit = commit
        self.files = files
        self._text: Text | None = None

    @property
    def text(self) -> Text:
        """What the message says."""
        if self._text is None:
            subject = opening(self.commit.message)
            query = as_query(subject)
            said = reasons(_words(subject), _lead(query))
            self._text = Text(query, said | signs(self.commit.message, query))
        return self._text

    def candidate(self) -> Candidate:
        """Return what is left when no rule has dropped the commit."""
        return Candidate(self.commit, self.files.targets, self.files.tests, self.text.query)


def _lead(query: str) -> str:
    """Return the first word of *query* after its scope, which is a word or two and a colon."""
    scope, _, rest = query.partition(": ")
    text = rest if rest and scope.count(" ") < 2 else query
    return text.partition(" ")[0].lower()


def _words(text: str) -> list[str]:
    raw = text.lower().encode("utf-8", "replace")
    return raw.translate(_SEPARATORS).decode("utf-8", "replace").split()
