"""A commit on its way to become a case: its files sorted, its message read when asked for."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from karat.mining.candidates import Candidate
from karat.mining.commits import Change, Commit
from karat.mining.messages import as_query, opening
from karat.mining.roles import Role, role_of
from karat.mining.signs import signs
from karat.mining.wording import Reason, reasons

__all__ = ["Draft", "Files", "Sorter"]

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
