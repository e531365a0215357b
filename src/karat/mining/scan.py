"""The commits of a history, and which files each touched, without reading a single file."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING, Literal

from karat.corpus.git_process import git
from karat.errors import InputError
from karat.mining.commits import Commit
from karat.mining.history import History
from karat.mining.losses import Losses, lose
from karat.mining.raw import read_commit

if TYPE_CHECKING:
    from karat.mining.scan_cache import ScanCache

__all__ = ["Progress", "Unit", "scan"]

Unit = Literal["commit", "pr"]
Progress = Callable[[int], None]

_TOLD_EACH = 1000


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
    losses: Losses | None = None,
) -> Iterator[Commit]:
    """Return the commits that *branch* reaches, in Git's order: newest first, by the committer.

    *since* and *until* are ISO dates or times (UTC where they name no zone), the first included,
    the second not; as ever in Git, a commit before *since* hides what lies behind it. Of those,
    *max_commits* are taken (0: all). The unit ``commit`` leaves out merges unless *include_merges*;
    the unit ``pr`` takes the merges on the first-parent line, and nothing else. A merge is compared
    with its first parent: what it brought to the branch.

    With a *cache* only commits that it lacks are compared; the result is the same. *progress* is
    told how many commits are done. Commits that cannot be read go to *losses*; without it the first
    of them raises InputError. A shallow clone is read as far as it goes, with a note in *losses*:
    its oldest commits look like roots.
    """
    tip, shallow = _tip(repository, branch)
    if shallow and losses is not None:
        losses.notes.append("shallow clone: what lies behind its oldest commits is absent")
    chosen = (
        *_merges(unit, include_merges=include_merges),
        *((f"--max-age={_instant(since, 'since')}",) if since else ()),
        *((f"--min-age={_instant(until, 'until') - 1}",) if until else ()),
        tip,
    )
    history = History(repository, chosen, max_commits, losses)
    # The oldest commits of a shallow clone have other changes than the same commits elsewhere.
    printed = history.logged() if cache is None or shallow else history.cached(cache)
    return _read(printed, progress, losses)


def _read(
    printed: Iterable[bytes], progress: Progress | None, losses: Losses | None
) -> Iterator[Commit]:
    done = 0
    for done, output in enumerate(printed, start=1):
        try:
            commit = read_commit(output)
        except ValueError:
            start = output[:80].decode(errors="replace")
            lose(losses, start.split(" ")[0].strip("\0"), InputError(f"broken commit: {start!r}"))
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
            raise InputError("an option or an exclusion is no branch")
        asked = ("--is-shallow-repository", f"{branch}^{{commit}}")
        shallow, tip = git(repository, "rev-parse", *asked).split()
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
