"""Events: one stream that everybody reads, in one order, from any point on."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, text

from karat.experiments.store.schema import EVENTS
from karat.service.store.records import ServiceEvent
from karat.service.store.shelf import Shelf

__all__ = ["Events"]

# Numbers are given before a transaction ends, so that of two writers the later number might be
# seen first, and the earlier be missed by whoever has read on. Writers in PostgreSQL take turns.
ORDER_LOCK = 7_236_114_510


class Events(Shelf):
    """Whoever has seen an event has seen all before it."""

    def add(
        self, operation: str, subject: str, kind: str, data: Mapping[str, object]
    ) -> ServiceEvent:
        """Append an event to the stream."""
        row = {"operation": operation, "subject": subject, "type": kind, "data": dict(data)}
        new = insert(EVENTS).values(**row, created=self._clock()).returning(EVENTS)
        with self._database.writing() as connection:
            if not self._database.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ORDER_LOCK})
            return _event(connection.execute(new).one())

    def after(
        self,
        sequence: int,
        *,
        operation: str | None = None,
        subject: str | None = None,
        limit: int = 1_000,
    ) -> tuple[ServiceEvent, ...]:
        """Return what came after the event with the id *sequence*, of all or of one operation."""
        wanted = _of(operation, subject).where(EVENTS.c.id > sequence)
        with self._database.asking() as connection:
            found = connection.execute(wanted.order_by(EVENTS.c.id).limit(limit))
            return tuple(map(_event, found))

    def newest(
        self, *, operation: str | None = None, subject: str | None = None
    ) -> ServiceEvent | None:
        """Return the last event, of all or of one operation; None without any."""
        wanted = _of(operation, subject).order_by(EVENTS.c.id.desc()).limit(1)
        with self._database.asking() as connection:
            found = connection.execute(wanted).one_or_none()
        return None if found is None else _event(found)

    def last(self) -> int:
        """Return the id of the newest event, 0 without any."""
        with self._database.asking() as connection:
            return int(connection.execute(select(func.max(EVENTS.c.id))).scalar() or 0)

    def drop_older(self, age: timedelta) -> int:
        """Remove what happened longer ago than *age*, and return how much that was."""
        old = EVENTS.c.created < self._clock() - age
        with self._database.writing() as connection:
            return connection.execute(delete(EVENTS).where(old)).rowcount


def _of(operation: str | None, subject: str | None) -> Any:
    wanted = select(EVENTS)
    if operation is not None:
        wanted = wanted.where(EVENTS.c.operation == operation)
    if subject is not None:
        wanted = wanted.where(EVENTS.c.subject == subject)
    return wanted


def _event(row: Row[Any]) -> ServiceEvent:
    return ServiceEvent(**row._asdict())
