"""Why the targets that a run has missed were lost, kept when it has ended."""

import json
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import select

from karat.model.fate import Fate
from karat.store.service.shelf import Shelf
from karat.store.service_schema import LOSSES

__all__ = ["Losses", "Lost"]


class Lost(NamedTuple):
    """A target of *query*, by its place and not by its grade, and what became of it."""

    query: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    fate: Fate


class Losses(Shelf):
    """Packed run by run: of many runs on many targets there are millions."""

    def keep(self, run: str, lost: Iterable[Lost]) -> None:
        """Keep what became of the targets that *run* has missed, in place of what was before."""
        packed = zlib.compress(json.dumps(list(lost), separators=(",", ":")).encode())
        new = self._database.insert(LOSSES).on_conflict_do_update(
            index_elements=[LOSSES.c.run], set_={"data": packed}
        )
        with self._database.writing() as connection:
            connection.execute(new, {"run": run, "data": packed})

    def of(self, run: str) -> list[Lost]:
        """Return what was kept of *run*, nothing where nobody has looked."""
        with self._database.asking() as connection:
            packed = connection.execute(select(LOSSES.c.data).where(LOSSES.c.run == run)).scalar()
        found = json.loads(zlib.decompress(packed)) if packed else []
        return [Lost(*row)._replace(fate=Fate(row[-1])) for row in found]
