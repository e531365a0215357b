"""Where the repository of a gold set is, by what the set says of itself."""

from collections.abc import Mapping
from pathlib import Path

from karat.errors import InputError
from karat.model import Dataset

__all__ = ["mined_from"]


def mined_from(gold: Dataset, extra: Mapping[str, object] | None = None) -> str:
    """Return the folder that *gold* was mined from, "" where it names none.

    *extra* is that of one case, which comes first: of a set of several repositories only a case
    knows its own. A folder that is not here raises InputError.
    """
    place = (extra or {}).get("repository") or gold.metadata.get("repository")
    if not isinstance(place, str):
        return ""
    if not Path(place).is_dir():
        raise InputError(f"{gold.name} was mined from {place}, which is not here; name it (--repo)")
    return place
