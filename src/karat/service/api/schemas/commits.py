"""Commits: which version of the documents was searched."""

from datetime import datetime

from pydantic import Field

from karat.service.api.schemas.base import Answer

__all__ = ["Commit"]


class Commit(Answer):
    """The commit that was searched: the one of the collection, or the one checked out in it."""

    id: str = Field(examples=["5d0c8a1e0c1c4a8f6d7b2f0e9a3b4c5d6e7f8091"])
    subject: str
    committed_at: datetime
