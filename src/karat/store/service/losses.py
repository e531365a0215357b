"""Why the targets that a run has missed were lost, kept when it has ended."""

import json
import zlib
from collections.abc import Mapping

from sqlalchemy import select

from karat.model.fate import Fate
from karat.store.service.shelf import Shelf
from karat.store.service_schema import LOSSES

__all__ = ["Losses", "Lost"]

# By the id of a query and the place of a target among those of the query.
Lost = Mapping[str, Mapping[int, Fate]]


class Losses(Shelf):
    """The targets are those of the gold set that was asked, which never changes."""

    def keep(self, run: str, lost: Lost) -> None:
        """Keep what became of the targets that *run* has missed, in place of what was before."""
        packed = zlib.compress(json.dumps(lost, separators=(",", ":")).encode())
        new = self._database.insert(LOSSES).on_conflict_do_update(
            index_elements=[LOSSES.c.run], set_={"data": packed}
        )
        with self._database.writing() as connection:
            connection.execute(new, {"run": run, "data": packed})

    def of(self, run: str) -> Lost:
        """Return what was kept of *run*, nothing where nobody has looked."""
        with self._database.reading() as connection:
            packed = connection.execute(select(LOSSES.c.data).where(LOSSES.c.run == run)).scalar()
        found = json.loads(zlib.decompress(packed)) if packed else {}
        return {
            query: {int(place): Fate(fate) for place, fate in targets.items()}
            for query, targets in found.items()
        }
