"""Tokens for the service: made, shown once, and known afterwards only by their hash."""

from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import NamedTuple

from karat.errors import InputError
from karat.service.store.records import Token
from karat.service.store.tokens import Tokens

__all__ = ["SCOPES", "IssuedToken", "create_token", "digest_of"]

# What each allows: to look, also to change and to run, also what belongs to others.
SCOPES = ("read", "run", "admin")
# So that a log, or a scanner of published code, can tell what it is.
PREFIX = "karat_"
SECRET_BYTES = 32


class IssuedToken(NamedTuple):
    """A new token, and the secret that opens with it; nobody can tell it again."""

    token: Token
    secret: str


def create_token(
    shelf: Tokens,
    owner: str,
    *,
    scope: str = "run",
    name: str = "",
    days: int | None = 90,
    now: datetime,
) -> IssuedToken:
    """Return a new token of *owner*, which ends after *days*, or never where that is None.

    A scope includes those before it.
    """
    if scope not in SCOPES:
        raise InputError(f"scope {scope!r} is none of: {', '.join(SCOPES)}")
    if not owner.strip():
        raise InputError("a token needs an owner; expected a name")
    if days is not None and days < 1:
        raise InputError(f"a token that ends after {days} days opens nothing; expected 1 or more")
    secret = PREFIX + token_urlsafe(SECRET_BYTES)
    scopes = SCOPES[: SCOPES.index(scope) + 1]
    expires = None if days is None else now + timedelta(days=days)
    token = shelf.add(owner.strip(), name, digest=digest_of(secret), scopes=scopes, expires=expires)
    return IssuedToken(token, secret)


def digest_of(secret: str) -> str:
    """Return what is kept of *secret*; as that is random, no slow hash is needed.

    >>> digest_of("karat_x")[:12]
    'fd90757f0bdb'
    """
    return sha256(secret.encode()).hexdigest()
