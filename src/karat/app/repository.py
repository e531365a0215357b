"""Which repository each case of a gold set belongs to, and where that is on this machine."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from karat.errors import InputError
from karat.model import Dataset, Query

__all__ = [
    "HEAD",
    "NOWHERE_ELSE",
    "TAG",
    "Repository",
    "check_names",
    "home_of",
    "homes",
    "part_of",
]

TAG = "repository"
# Where cases are looked up if neither the user nor the set names a revision.
HEAD = "HEAD"
NOWHERE_ELSE: Mapping[str, str] = MappingProxyType({})


class Repository(NamedTuple):
    """A repository: its *name* in the gold set ("" where there is only one) and its folder.

    Cases that name no commit are searched at *revision*; only files below *root* are searched.
    """

    name: str
    place: str
    revision: str = ""
    root: str = ""


def check_names(gold: Dataset, moved: Mapping[str, str]) -> None:
    """Raise InputError if *moved* has a name that is not the name of a repository of *gold*."""
    names = {*gold.tags.get(TAG, ()), *_declared(gold)} - {""}
    unknown = sorted(moved.keys() - names - {""})
    if unknown:
        known = ", ".join(sorted(names)) or "none"
        raise InputError(f"{gold.name}: no repository {unknown[0]!r}; it has {known}")


def homes(
    gold: Dataset, moved: Mapping[str, str] = NOWHERE_ELSE, *, otherwise: str = ""
) -> dict[Repository, list[int]]:
    """Return the rows of *gold* by their repository, in the order of the set.

    *moved* has the folders of repositories by name; that of "" is for all others. Without one, the
    folder is what the case says (``extra.repository``), or the set (``metadata.repositories`` by
    name, ``metadata.repository``), or *otherwise*. Folders that do not exist raise InputError.
    """
    check_names(gold, moved)
    declared = _declared(gold)
    names = gold.tags.get(TAG, ("",) * len(gold))
    found: dict[Repository, list[int]] = {}
    for row, name in enumerate(names):
        home = _home(gold, name, gold.extras[row], declared)
        given = moved.get(name) or moved.get("")
        found.setdefault(home._replace(place=given or home.place or otherwise), []).append(row)
    _check_places(gold, found, moved)
    return found


def home_of(
    gold: Dataset, query: Query, moved: Mapping[str, str] = NOWHERE_ELSE
) -> Repository | None:
    """Return the repository of *query*, a case of *gold*, as :func:`homes` does; None without."""
    check_names(gold, moved)
    alone = Dataset.of([query], name=gold.name, match=gold.match, metadata=gold.metadata)
    own = {name: place for name, place in moved.items() if name in ("", query.tags.get(TAG))}
    (home,) = homes(alone, own)
    return home if home.place else None


def part_of(gold: Dataset, rows: list[int]) -> Dataset:
    """Return *gold* with the queries at *rows* alone."""
    if len(rows) == len(gold):
        return gold
    queries = list(gold.queries())
    kept = [queries[row] for row in rows]
    return Dataset.of(kept, name=gold.name, match=gold.match, metadata=gold.metadata)


def _declared(gold: Dataset) -> dict[str, Mapping[str, object]]:
    """Return what the metadata say about each repository, by its name."""
    listed = gold.metadata.get("repositories")
    entries = listed if isinstance(listed, list | tuple) else ()
    return {str(entry.get("name") or ""): entry for entry in entries if isinstance(entry, Mapping)}


def _home(
    gold: Dataset,
    name: str,
    extra: Mapping[str, object],
    declared: Mapping[str, Mapping[str, object]],
) -> Repository:
    entry: Mapping[str, object] = declared.get(name, {})
    if not name and len(declared) == 1:
        (entry,) = declared.values()
    several = len(declared) > 1
    places = (extra.get("repository"), entry.get("path"), gold.metadata.get("repository"))
    # The last names all repositories of a set that was mined from several.
    told = (place for place in places[: 2 if several else 3] if place and isinstance(place, str))
    revision, root = (str(entry.get(key) or "") for key in ("revision", "root"))
    return Repository(name, next(told, ""), revision, root)


def _check_places(
    gold: Dataset, found: Mapping[Repository, list[int]], moved: Mapping[str, str]
) -> None:
    given = set(moved.values())
    missing = [
        home
        for home in found
        if home.place and home.place not in given and not Path(home.place).is_dir()
    ]
    if missing:
        places = ", ".join(home.place for home in missing)
        options = " ".join(f"--repo {home.name}=DIR" for home in missing if home.name) or "--repo"
        are, it = ("are", "them") if len(missing) > 1 else ("is", "it")
        raise InputError(
            f"{gold.name} was mined from {places}, which {are} not here; name {it} ({options})"
        )
