"""Judgments: grades given by hand, versioned, with their history."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from karat.server.schemas.base import NO_NUL, Answer, Description, Listing, Request

__all__ = ["JudgmentChange", "JudgmentEdit", "JudgmentHistory", "Judgments", "Unjudged"]


class JudgmentEdit(Request):
    """A grade for one place, based on *version* of the judgments."""

    query_id: Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=NO_NUL)]
    path: Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=NO_NUL)]
    start_line: int | None = Field(default=None, ge=1, le=10_000_000)
    end_line: int | None = Field(default=None, ge=1, le=10_000_000)
    grade: int = Field(ge=0, le=3)
    reason: Description = ""
    version: int = Field(ge=1)

    @model_validator(mode="after")
    def _whole_range(self) -> "JudgmentEdit":
        if (self.start_line is None) != (self.end_line is None):
            raise ValueError("one end of the line range is missing")
        if self.start_line and self.end_line and self.end_line < self.start_line:
            raise ValueError("end_line is before start_line")
        return self


class JudgmentChange(Answer):
    """One change: *before* is null where there was no grade, *grade* null where it was undone."""

    version: int
    query_id: str
    path: str
    start_line: int | None
    end_line: int | None
    before: float | None
    grade: float | None
    reason: str
    owner_id: str
    created_at: datetime


class Judgments(Answer):
    """The version after a change, and the change."""

    version: int
    change: JudgmentChange


class JudgmentHistory(Listing):
    """A page of changes, the newest first."""

    version: int
    changes: list[JudgmentChange]


class UnjudgedHit(Answer):
    """A hit that nobody has judged, with the best rank at which any run found it."""

    query_id: str
    query_text: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    best_rank: int
    runs: list[str]


class Unjudged(Listing):
    """A page of unjudged hits, those that were ranked best first."""

    version: int
    hits: list[UnjudgedHit]
