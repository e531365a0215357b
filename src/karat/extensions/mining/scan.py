"""Scan the commits of a history with their changed paths, without reading any file."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from math import ceil
from typing import Literal, NamedTuple, Self

from karat.corpus.git_objects import git, git_blocks
from karat.errors import InputError
from karat.extensions.mining.commits import (
    COMMIT,
    Commit,
    UnreadableCommits,
    add_unreadable,
    each_diff,
    read_commit,
)
from karat.system.sqlite import KeyValueFile

# Raise it when the stored form or the options of the Git command change.
VERSION = 2


class ScanCache:
    """The output of Git by the id of a commit, which is the same in every repository.

    A branch that has grown costs its new commits only; no entry becomes stale. Several processes
    may use the file at once.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open or create the file."""
        self._file = KeyValueFile(path, name="cache of commits", version=VERSION)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def get(self, commits: Sequence[str]) -> dict[str, bytes]:
        """Return the output for those *commits* that are in the cache."""
        hits = self._file.get([bytes.fromhex(commit) for commit in commits])
        return {key.hex(): answer for key, answer in hits.items()}

    def put(self, answers: Mapping[str, bytes]) -> None:
        """Store *answers* in one transaction."""
        self._file.put({bytes.fromhex(commit): answer for commit, answer in answers.items()})


# Size of the batches that are looked up, compared and stored together.
_SOME = 2048
# Overrides the configuration of the repository.
_PLAIN = ("--no-relative", "--no-color", "--no-ext-diff", "--no-textconv")


class History(NamedTuple):
    """The commits that ``git rev-list *chosen*`` lists, at most *max_commits* of them (0: all)."""

    repository: str
    chosen: tuple[str, ...]
    max_commits: int
    unreadable: UnreadableCommits | None

    def logged(self) -> Iterator[bytes]:
        """Yield Git's output for each commit; after a failure, a new process continues."""
        done = 0
        while True:
            options = ("--no-abbrev", "--diff-merges=first-parent", *_PLAIN, *COMMIT)
            settings = ("-c", "log.showRoot=true")
            blocks = git_blocks(self.repository, *settings, "log", *options, *self._from(done))
            try:
                for output in _pieces(blocks):
                    done += 1
                    yield output
                return
            except InputError as error:
                broken = self._at(done)
                add_unreadable(self.unreadable, broken, error)
                if not broken:
                    return
                done += 1

    def cached(self, cache: "ScanCache") -> Iterator[bytes]:
        """Yield the same output; only commits that *cache* lacks are compared, and then added."""
        walk = self._walk()
        while some := list(islice(walk, _SOME)):
            known = cache.get(some)
            lacking = [commit for commit in some if commit not in known]
            options = ("--always", *COMMIT)
            new = dict(each_diff(self.repository, lacking, *options, unreadable=self.unreadable))
            cache.put(new)
            known |= new
            yield from (known[commit] for commit in some if commit in known)

    def _from(self, skipped: int) -> tuple[str, ...]:
        most = (f"--max-count={self.max_commits - skipped}",) if self.max_commits else ()
        return f"--skip={skipped}", *most, *self.chosen

    def _at(self, skipped: int) -> str:
        """Return the commit after *skipped* others, or "" if Git cannot walk that far."""
        try:
            one = git(self.repository, "rev-list", f"--skip={skipped}", "-n1", *self.chosen)
        except InputError:
            return ""
        return one.decode("ascii").strip()

    def _walk(self) -> Iterator[str]:
        """Yield the ids as far as Git can walk."""
        rest = b""
        try:
            for block in git_blocks(self.repository, "rev-list", *self._from(0)):
                *lines, rest = (rest + block).split(b"\n")
                yield from (line.decode("ascii") for line in lines)
        except InputError as error:
            add_unreadable(self.unreadable, "", error)


def _pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts between two NULs in a row, including the last part before a failure."""
    buffer = bytearray()
    failure: InputError | None = None
    try:
        for block in blocks:
            # The first of the two NULs may be in the block before.
            seen = max(len(buffer) - 1, 0)
            buffer += block
            end = buffer.rfind(b"\0\0", seen)
            if end >= 0:
                yield from bytes(buffer[:end]).split(b"\0\0")
                del buffer[: end + 2]
    except InputError as error:
        # Git prints a commit after comparing it, so its output is complete.
        failure = error
    if buffer:
        yield bytes(buffer)
    if failure:
        raise failure


Unit = Literal["commit", "pr"]
Progress = Callable[[int], None]

_TOLD_EACH = 1000


SHALLOW = (
    "shallow clone: commits before its oldest ones are missing; git fetch --unshallow gets them"
)


def scan(
    repository: str,
    *,
    branch: str = "HEAD",
    since: str = "",
    until: str = "",
    max_commits: int = 0,
    unit: Unit = "commit",
    include_merges: bool = False,
    cache: "ScanCache | None" = None,
    progress: Progress | None = None,
    unreadable: UnreadableCommits | None = None,
) -> Iterator[Commit]:
    """Return the commits reachable from *branch* in Git's order: newest committer time first.

    *since* (inclusive) and *until* (exclusive) are ISO dates or times, in UTC unless they name a
    zone. As always in Git, a commit before *since* hides its ancestors. At most *max_commits* of
    them are returned (0: all). The unit ``commit`` skips merges unless *include_merges*; the unit
    ``pr`` returns only the merges on the first-parent line. A merge is compared with its first
    parent, so its changes are those that it brought to the branch.

    With a *cache*, only commits that it lacks are compared; the result is the same. *progress* is
    called with the number of commits done. Unreadable commits are added to *unreadable*; without
    it, the first one raises InputError. A shallow clone is read as far as it goes and adds a note:
    its oldest commits look like roots.
    """
    tip, shallow = _tip(repository, branch)
    if shallow and unreadable is not None:
        unreadable.notes.append(SHALLOW)
    chosen = (
        *_merges(unit, include_merges=include_merges),
        *_ages(since, until),
        tip,
    )
    history = History(repository, chosen, max_commits, unreadable)
    # The oldest commits of a shallow clone have other changes than in a full clone.
    printed = history.logged() if cache is None or shallow else history.cached(cache)
    return _read(printed, progress, unreadable)


def count_merges(repository: str, *, branch: str, since: str = "", until: str = "") -> int:
    """Return how many merges :func:`scan` skips between these times."""
    tip, _ = _tip(repository, branch)
    chosen = ("--merges", *_ages(since, until), tip)
    return int(git(repository, "rev-list", "--count", *chosen))


def _ages(since: str, until: str) -> tuple[str, ...]:
    return (
        *((f"--max-age={_instant(since, 'since')}",) if since else ()),
        *((f"--min-age={_instant(until, 'until') - 1}",) if until else ()),
    )


def _read(
    printed: Iterable[bytes], progress: Progress | None, unreadable: UnreadableCommits | None
) -> Iterator[Commit]:
    done = 0
    for done, output in enumerate(printed, start=1):
        try:
            commit = read_commit(output)
        except ValueError:
            start = output[:80].decode(errors="replace")
            add_unreadable(
                unreadable, start.split(" ")[0].strip("\0"), InputError(f"broken commit: {start!r}")
            )
            continue
        yield commit
        if progress and done % _TOLD_EACH == 0:
            progress(done)
    if progress:
        progress(done)


def _merges(unit: Unit, *, include_merges: bool) -> tuple[str, ...]:
    if unit == "pr":
        return "--merges", "--first-parent"
    return () if include_merges else ("--no-merges",)


def _tip(repository: str, branch: str) -> tuple[str, bool]:
    """Return the commit that *branch* names, and whether this is a shallow clone."""
    try:
        if branch.startswith(("-", "^")):
            raise InputError("a branch cannot begin with - or ^")
        options = ("--is-shallow-repository", f"{branch}^{{commit}}")
        shallow, tip = git(repository, "rev-parse", *options).split()
    except ValueError as error:
        if not git(repository, "rev-list", "--all", "--max-count=1"):
            raise InputError(f"{repository}: no commits yet") from error
        raise InputError(
            f"{repository}: no branch {branch!r}; expected a branch, a tag or a commit"
        ) from error
    return tip.decode("ascii"), shallow == b"true"


def _instant(given: str, name: str) -> int:
    """Return the first full second since 1970 that is not before the time *given*."""
    try:
        time = datetime.fromisoformat(given)
    except ValueError as error:
        raise InputError(f"{name} is {given!r}; expected a date such as 2024-01-31") from error
    return ceil((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())
