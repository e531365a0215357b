"""Paths in one spelling, so that equal files compare equal."""

from collections.abc import Iterable
from unicodedata import is_normalized, normalize

__all__ = ["cut", "is_suffix", "normalise", "stripped", "within"]


def normalise(path: str, root: str = "") -> str:
    r"""Return *path* with forward slashes, without ``./``, in Unicode NFC, relative to *root*.

    A path outside *root* stays as it is.

    >>> normalise(".\\src\\auth.py"), normalise("/repo/src/auth.py", root="/repo")
    ('src/auth.py', 'src/auth.py')
    """
    if "\\" in path:
        path = path.replace("\\", "/")
    if not path.isascii() and not is_normalized("NFC", path):
        path = normalize("NFC", path)
    if "./" in path or "//" in path or path.endswith(("/", "/.")):
        lead = "/" if path.startswith("/") else ""
        path = lead + "/".join(part for part in path.split("/") if part not in ("", "."))
    if root and within(path, root := normalise(root)):
        path = path[len(root.rstrip("/")) + 1 :]
    return path


def is_suffix(path: str, other: str) -> bool:
    """Say whether one path ends with the other, at a separator.

    >>> is_suffix("src/auth.py", "/repo/src/auth.py"), is_suffix("th.py", "auth.py")
    (True, False)
    """
    short, long = sorted((path, other), key=len)
    return long == short or long.endswith("/" + short.lstrip("/"))


def within(path: str, directory: str) -> bool:
    """Say whether *path* lies below *directory*, at a separator.

    >>> within("src/auth/login.py", "src/auth"), within("src/authority.py", "src/auth")
    (True, False)
    """
    return path.startswith(directory.rstrip("/") + "/")


def stripped(path: str, prefixes: Iterable[str]) -> str:
    """Return *path* without the first of *prefixes* that it starts with.

    >>> stripped("repo-1/src/a.py", ["x/", "repo-1/"]), stripped("src/a.py", ["x/"])
    ('src/a.py', 'src/a.py')
    """
    for prefix in prefixes:
        if path.startswith(prefix):
            return path[len(prefix) :]
    return path


def cut(path: str, at: str) -> str:
    """Return *path* up to the last *at*, which begins the name of a chunk; whole without it.

    >>> cut("src/a.py#3", "#"), cut("guide::chunk_4", "::"), cut("src/a.py", "#")
    ('src/a.py', 'guide', 'src/a.py')
    """
    return path.rpartition(at)[0] or path if at else path
