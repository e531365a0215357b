"""What Git prints about each commit of a history: from one ``git log``, or from a cache."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from karat.corpus.git_process import git, git_blocks
from karat.errors import InputError
from karat.mining.diff_tree import each_diff
from karat.mining.losses import Losses, lose
from karat.mining.raw import COMMIT

if TYPE_CHECKING:
    from karat.mining.scan_cache import ScanCache

__all__ = ["History"]

# Looked up, compared and stored together.
_SOME = 2048
# Whatever the settings of the repository say.
_PLAIN = ("--no-relative", "--no-color", "--no-ext-diff", "--no-textconv")


class History(NamedTuple):
    """The commits that ``git rev-list *chosen*`` lists, at most *max_commits* of them (0: all)."""

    repository: str
    chosen: tuple[str, ...]
    max_commits: int
    losses: Losses | None

    def logged(self) -> Iterator[bytes]:
        """Yield what Git prints about each; after one that it dies of, another Git goes on."""
        done = 0
        while True:
            asked = ("--no-abbrev", "--diff-merges=first-parent", *_PLAIN, *COMMIT)
            settings = ("-c", "log.showRoot=true")
            blocks = git_blocks(self.repository, *settings, "log", *asked, *self._from(done))
            try:
                for output in _pieces(blocks):
                    done += 1
                    yield output
                return
            except InputError as error:
                broken = self._at(done)
                lose(self.losses, broken, error)
                if not broken:
                    return
                done += 1

    def cached(self, cache: "ScanCache") -> Iterator[bytes]:
        """Yield the same, but only commits that *cache* lacks are compared, and then added."""
        walk = self._walk()
        while some := list(islice(walk, _SOME)):
            known = cache.get(some)
            lacking = [commit for commit in some if commit not in known]
            asked = ("--always", *COMMIT)
            new = dict(each_diff(self.repository, lacking, *asked, losses=self.losses))
            cache.put(new)
            known |= new
            yield from (known[commit] for commit in some if commit in known)

    def _from(self, skipped: int) -> tuple[str, ...]:
        most = (f"--max-count={self.max_commits - skipped}",) if self.max_commits else ()
        return f"--skip={skipped}", *most, *self.chosen

    def _at(self, skipped: int) -> str:
        """Return the commit after so many, or "" where Git cannot walk that far."""
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
            lose(self.losses, "", error)


def _pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what stands between two NULs in a row; the last piece before a failure as well."""
    buffer = bytearray()
    failure: InputError | None = None
    try:
        for block in blocks:
            # The first of the two may have ended the block before.
            seen = max(len(buffer) - 1, 0)
            buffer += block
            end = buffer.rfind(b"\0\0", seen)
            if end >= 0:
                yield from bytes(buffer[:end]).split(b"\0\0")
                del buffer[: end + 2]
    except InputError as error:
        # Git shows a commit after it has compared it, so that what it printed is complete.
        failure = error
    if buffer:
        yield bytes(buffer)
    if failure:
        raise failure
