"""Whether a path in a transcript is a file of the gold set: folders differ, the ends agree."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from karat.scoring.matching.modes import is_suffix, normalise


class Root(NamedTuple):
    """The folders of the repository in a transcript, each with a slash at its end.

    With *any_prefix* none is known, and a file of the top folder may be anywhere.
    """

    folders: tuple[str, ...]
    any_prefix: bool

    @classmethod
    def of(cls, folder: str, paths: Iterable[str], targets: Sequence[str]) -> "Root":
        """Return the folders that follow from the first *folder* and from seen *paths*.

        A path that ends with a target of several parts says what is before it.

        >>> Root.of("", ["/testbed/src/a.py"], ["src/a.py", "setup.py"]).folders
        ('/testbed/',)
        """
        folders = {folder.rstrip("/") + "/": None} if folder else {}
        deep = [target for target in targets if "/" in target]
        for path in paths:
            for target in deep:
                if path != target and path.endswith("/" + target):
                    folders[path[: -len(target)]] = None
        return cls(tuple(folders), not folders)


def same_file(path: str, target: str, root: Root) -> bool:
    """Return whether *path* in a transcript is the file *target* of the gold set.

    >>> same_file("/testbed/setup.py", "setup.py", Root(("/testbed/",), False))
    True
    >>> same_file("/testbed/docs/setup.py", "setup.py", Root(("/testbed/",), False))
    False
    """
    path, target = normalise(path), normalise(target)
    if path == target:
        return True
    for folder in root.folders:
        if path.startswith(folder):
            path = path[len(folder) :]
            if path == target:
                return True
            break
    if len(path) < len(target) or not ("/" in target or root.any_prefix):
        return False
    return is_suffix(path, target)
