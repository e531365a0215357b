"""Tokens: who may ask for what."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Row, insert, select, update

from karat.experiments.store.schema import TOKENS
from karat.service.store.records import Token
from karat.service.store.shelf import Shelf, new_id, one

__all__ = ["Tokens"]


class Tokens(Shelf):
    """Kept for good: one that was revoked still says that it existed."""

    def add(
        self,
        owner: str,
        name: str,
        *,
        digest: str,
        scopes: Iterable[str],
        expires: datetime | None = None,
    ) -> Token:
        """Keep a token by the SHA-256 of its secret."""
        token = Token(
            new_id(), owner, name, digest, tuple(scopes), self._clock(), expires, revoked=None
        )
        row = {field: getattr(token, field) for field in Token.__slots__}
        with self._database.writing() as connection:
            connection.execute(insert(TOKENS), {**row, "scopes": list(token.scopes)})
        return token

    def find(self, digest: str) -> Token | None:
        """Return the token whose secret has this SHA-256, also one that is no longer valid."""
        with self._database.asking() as connection:
            found = connection.execute(select(TOKENS).where(TOKENS.c.digest == digest)).first()
        return None if found is None else _token(found)

    def opens(self, token: str) -> bool:
        """Return whether a token, by its id, is valid now."""
        with self._database.asking() as connection:
            found = connection.execute(select(TOKENS).where(TOKENS.c.id == token)).first()
        return found is not None and _token(found).valid(self._clock())

    def all(self) -> tuple[Token, ...]:
        """Return every token, the newest first."""
        wanted = select(TOKENS).order_by(TOKENS.c.created.desc(), TOKENS.c.id)
        with self._database.asking() as connection:
            return tuple(map(_token, connection.execute(wanted)))

    def revoke(self, token: str) -> None:
        """End a token by its id; ending it again changes nothing."""
        known = select(TOKENS.c.id).where(TOKENS.c.id == token)
        revoked = update(TOKENS).where(TOKENS.c.id == token, TOKENS.c.revoked.is_(None))
        with self._database.writing() as connection:
            one(connection, known, f"token {token!r}")
            connection.execute(revoked, {"revoked": self._clock()})


def _token(row: Row[Any]) -> Token:
    return Token(**{**row._asdict(), "scopes": tuple(row.scopes)})
