"""Collections and the list of their documents."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from sqlalchemy import delete, insert, select, update

from karat.errors import Conflict, UnknownName
from karat.experiments.store.schema import storable
from karat.extensions.service.store.jobs import JobRequest, add_job
from karat.extensions.service.store.records import (
    Collection,
    JobKind,
    Page,
    ServiceTable,
    StoredDocument,
    new_id,
    one,
    owned,
    record,
)
from karat.extensions.service.store.schema import BENCHMARKS, COLLECTIONS, DOCUMENTS, MAPPINGS

DOCUMENT = select(DOCUMENTS.c.path, DOCUMENTS.c.size, DOCUMENTS.c.lines, DOCUMENTS.c.chunks)


class CollectionTable(ServiceTable):
    """Collections, created empty; a job indexes their documents."""

    def add(
        self,
        owner: str,
        name: str,
        *,
        description: str,
        source: Mapping[str, object],
        index: Mapping[str, object],
    ) -> Collection:
        """Create a collection with the status ``pending``."""
        now, collection = self._clock(), new_id()
        row = {
            "id": collection,
            "owner": owner,
            "name": name,
            "description": description,
            "source": dict(source),
            "index": dict(index),
            "status": "pending",
            "error": "",
            "snapshot": "",
            "facts": {},
            "created": now,
            "updated": now,
        }
        with self._database.writing() as connection:
            connection.execute(insert(COLLECTIONS), row)
        return self.get(collection)

    def get(self, collection: str, *, owner: str | None = None) -> Collection:
        """Return a collection; UnknownName where there is none, or none of *owner*."""
        statement = owned(
            select(COLLECTIONS).where(COLLECTIONS.c.id == collection), COLLECTIONS, owner
        )
        return record(Collection, self._one(statement, f"collection {collection}"))

    def page(
        self, *, owner: str | None = None, limit: int = 50, offset: int = 0
    ) -> Page[Collection]:
        """Return collections, the newest first."""
        order = (COLLECTIONS.c.created.desc(), COLLECTIONS.c.id)
        statement = owned(select(COLLECTIONS).order_by(*order), COLLECTIONS, owner)
        return self._page(statement, Collection, limit=limit, offset=offset)

    def change(
        self,
        collection: str,
        *,
        status: str,
        error: str = "",
        snapshot: str = "",
        facts: Mapping[str, object] | None = None,
    ) -> None:
        """Store the status of indexing, and at its end the *snapshot* and the facts.

        Mappings to other documents than these must be resolved again.
        """
        values = {"status": status, "error": storable(error), "updated": self._clock()}
        if snapshot:
            values |= {"snapshot": snapshot, "facts": dict(facts or {})}
        mine = COLLECTIONS.c.id == collection
        statement = select(COLLECTIONS.c.snapshot).where(mine).with_for_update()
        stale = update(MAPPINGS).where(MAPPINGS.c.collection == collection)
        with self._database.writing() as connection:
            before = one(connection, statement, f"collection {collection}").snapshot
            connection.execute(update(COLLECTIONS).where(mine), values)
            if before and snapshot and snapshot != before:
                connection.execute(stale, {"status": "pending"})

    def reindex(
        self,
        collection: str,
        *,
        source: Mapping[str, object],
        owner: str,
        correlation: str = "",
        most: int | None = None,
    ) -> Collection:
        """Queue indexing of the current *source*; until it ends, the old index stays.

        Conflict while a benchmark runs on the collection, or it is being indexed; the rest is as
        :meth:`Jobs.add` has it.
        """
        asked = JobRequest(owner, self._clock(), correlation, most)
        mine = COLLECTIONS.c.id == collection
        running = (
            select(BENCHMARKS.c.name)
            .join(MAPPINGS)
            .where(MAPPINGS.c.collection == collection, BENCHMARKS.c.status == "running")
        )
        changed = {"source": dict(source), "status": "pending", "error": "", "updated": asked.now}
        with self._database.writing() as connection:
            statement = select(COLLECTIONS.c.id).where(mine).with_for_update()
            one(connection, statement, f"collection {collection}")
            if benchmark := connection.execute(running).first():
                raise Conflict(
                    f"benchmark {benchmark.name!r} is running on this collection; wait for it, or "
                    "cancel it"
                )
            add_job(connection, JobKind.INDEX, collection, asked)
            connection.execute(update(COLLECTIONS).where(mine), changed)
        return self.get(collection)

    def give_up(self, age: timedelta) -> int:
        """Mark collections without a job for longer than *age* as failed; return how many.

        The process that created them was killed before they were complete.
        """
        now = self._clock()
        waiting = (COLLECTIONS.c.status == "pending", COLLECTIONS.c.operation.is_(None))
        old = update(COLLECTIONS).where(*waiting, COLLECTIONS.c.created < now - age)
        reason = "its creation was interrupted; create it again"
        with self._database.writing() as connection:
            values = {"status": "failed", "error": reason, "updated": now}
            return connection.execute(old, values).rowcount

    def keep_documents(self, collection: str, documents: Iterable[StoredDocument]) -> None:
        """Replace the stored list of documents, in the order given.

        UnknownName where the collection was deleted meanwhile.
        """
        rows = [
            {"collection": collection, "position": position, **document._asdict()}
            for position, document in enumerate(documents, 1)
        ]
        known = select(COLLECTIONS.c.id).where(COLLECTIONS.c.id == collection).with_for_update()
        with self._database.writing() as connection:
            one(connection, known, f"collection {collection}")
            connection.execute(delete(DOCUMENTS).where(DOCUMENTS.c.collection == collection))
            if rows:
                connection.execute(insert(DOCUMENTS), rows)

    def documents(
        self, collection: str, *, contains: str = "", limit: int = 50, offset: int = 0
    ) -> Page[StoredDocument]:
        """Return documents whose path contains *contains*, ignoring case."""
        statement = DOCUMENT.where(DOCUMENTS.c.collection == collection).order_by(
            DOCUMENTS.c.position
        )
        if contains:
            statement = statement.where(DOCUMENTS.c.path.icontains(contains, autoescape=True))
        return self._page(statement, StoredDocument, limit=limit, offset=offset)

    def paths(self, collection: str) -> tuple[str, ...]:
        """Return the paths of all documents."""
        statement = select(DOCUMENTS.c.path).where(DOCUMENTS.c.collection == collection)
        with self._database.asking() as connection:
            return tuple(connection.execute(statement).scalars())

    def document(self, collection: str, path: str) -> StoredDocument:
        """Return the document at exactly *path*; UnknownName without one."""
        here = (DOCUMENTS.c.collection == collection, DOCUMENTS.c.path == path)
        return record(StoredDocument, self._one(DOCUMENT.where(*here), f"document {path!r}"))

    def delete(self, collection: str) -> None:
        """Remove a collection; Conflict while a dataset is mapped to it."""
        used = select(MAPPINGS.c.id).where(MAPPINGS.c.collection == collection)
        with self._database.writing() as connection:
            if connection.execute(used).first():
                raise Conflict(
                    f"collection {collection} is in use by a mapping; delete its dataset first"
                )
            gone = delete(COLLECTIONS).where(COLLECTIONS.c.id == collection)
            if not connection.execute(gone).rowcount:
                raise UnknownName(f"no collection {collection}")
