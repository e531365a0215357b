"""Reads what Git prints with ``--raw -z``: changes, and commits in a format of ours."""

from karat.mining.commits import Change, Commit

__all__ = ["COMMIT", "read_changes", "read_commit"]

# A NUL begins it, so that two in a row stand between commits and nowhere else: no path is empty,
# and Git lets no NUL into the rest. The message comes last, since it may have any number of lines.
COMMIT = ("--raw", "-z", "-M100%", "--encoding=UTF-8", "--format=%x00%H %ct %P%n%an%n%ae%n%B")


def read_commit(printed: bytes) -> Commit:
    r"""Return the commit that Git *printed* with the options COMMIT.

    >>> read_commit(b"c0 86400 p0\nAnn\na@b.c\nFix it\n\0\n:100644 100755 b0 b0 M\0a.py\0").message
    'Fix it'
    """
    head, _, raw = printed.lstrip(b"\0").partition(b"\0")
    about, author, email, message = head.decode(errors="replace").split("\n", 3)
    commit, time, *parents = about.split()
    return Commit(
        commit,
        tuple(parents),
        int(time),
        author,
        email,
        message.rstrip("\n"),
        read_changes(raw.lstrip(b"\n")),
    )


def read_changes(raw: bytes) -> tuple[Change, ...]:
    r"""Return the changes in records ``:mode mode blob blob status NUL path NUL``, in their order.

    The last NUL may be absent.

    >>> read_changes(b":100644 100644 b0 b0 R100\0a.py\0b.py\0")[0].old_path
    'a.py'
    """
    changes = []
    text = raw.decode(errors="surrogateescape").rstrip("\0")
    fields = iter(text.split("\0") if text else ())
    for about in fields:
        old_mode, new_mode, old_blob, new_blob, status = about.split(" ")
        path = old_path = next(fields, "")
        if status[0] == "R":
            path = next(fields, "")
        if not path:
            raise ValueError(f"no path after {about!r}")
        made = (status[0], path, old_path, old_blob, new_blob, old_mode[1:], new_mode)
        # What the class does when it is called, which takes twice as long.
        changes.append(tuple.__new__(Change, made))
    return tuple(changes)
