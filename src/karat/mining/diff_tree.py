"""One ``git diff-tree`` for many commits; a commit that it dies of costs only itself."""

import os
from collections.abc import Iterator, Sequence

from karat.corpus.git_process import git, git_blocks
from karat.errors import InputError
from karat.mining.losses import Losses, lose

__all__ = ["each_diff"]

_ASKED = ("--stdin", "-r", "-z", "--root", "--diff-merges=first-parent", "--no-abbrev")
# Whatever the settings and attributes of the repository say.
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-relative")


def each_diff(
    repository: str, commits: Sequence[str], *options: str, losses: Losses | None
) -> Iterator[tuple[str, bytes]]:
    """Yield each of *commits* with what ``git diff-tree *options*`` prints about it, in order.

    Each is compared with its first parent, a root with nothing. One that Git cannot read goes to
    *losses*, and another process reads the rest; without *losses* it raises InputError.
    """
    # From its own folder Git sees no work tree, whose attributes of today would decide which files
    # of the past are text.
    folder = os.fsdecode(git(repository, "rev-parse", "--absolute-git-dir")).removesuffix("\n")
    left = commits
    while left:
        done = 0
        try:
            for done, output in enumerate(_outputs(folder, left, options), start=1):
                yield left[done - 1], output
            return
        except InputError as error:
            lose(losses, left[done], error)
        left = left[done + 1 :]


def _outputs(repository: str, commits: Sequence[str], options: Sequence[str]) -> Iterator[bytes]:
    """Yield the output for each of *commits* until Git fails."""
    # Git echoes a line that is no id, so that each answer ends with a mark. No commit can contain
    # its own id, hence no answer its own mark.
    marks = [b"\x01%s\n" % commit.encode() for commit in commits]
    asked = b"".join(mark[1:] + mark for mark in marks)
    awaited = iter(marks)
    mark = next(awaited)
    buffer = bytearray()
    for block in git_blocks(repository, "diff-tree", *_ASKED, *_PLAIN, *options, given=asked):
        # The mark may have begun in the block before.
        begin, seen = 0, max(len(buffer) - len(mark), 0)
        buffer += block
        while (end := buffer.find(mark, seen)) >= 0:
            yield bytes(buffer[begin:end])
            begin = seen = end + len(mark)
            mark = next(awaited, mark)
        del buffer[:begin]
