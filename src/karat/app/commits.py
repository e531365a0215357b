"""Which commit of a repository the documents of a collection are."""

from pathlib import Path

from karat.corpus.git_process import git
from karat.errors import InputError

__all__ = ["commit_of"]

HEAD = "HEAD"
FIELDS = ("id", "committed_at", "subject")


def commit_of(folder: Path, revision: str | None = None) -> dict[str, str] | None:
    """Return the id, the time and the subject of *revision*; None where Git knows no such thing.

    Without a revision it is the commit that is checked out, if the folder is in it: whatever was
    changed there and not committed is not told.
    """
    try:
        if revision is None:
            git(str(folder), "rev-parse", "--verify", "--quiet", f"{HEAD}:./")
        # Unlike git log, it does what it is told and not what a repository is set to.
        told = git(
            str(folder),
            "rev-list",
            "--max-count=1",
            "--format=%H%x00%cI%x00%s",
            "--end-of-options",
            revision or HEAD,
        )
    except InputError:
        return None
    _, _, line = told.decode(errors="replace").partition("\n")
    return dict(zip(FIELDS, line.rstrip("\n").split("\0"), strict=True))
