"""The base of all requests and responses: strict fields, pages, errors."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

__all__ = [
    "NO_NUL",
    "Answer",
    "Commit",
    "Description",
    "Failure",
    "Listing",
    "Measure",
    "Name",
    "Page",
    "PerPage",
    "Request",
    "RunId",
    "Wide",
]

# PostgreSQL cannot store NUL, and it has no meaning in a text.
NO_NUL = r"^[^\x00]*$"

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255, pattern=NO_NUL)
]
Description = Annotated[str, StringConstraints(max_length=2000, pattern=NO_NUL)]
Wide = Annotated[str, StringConstraints(max_length=10_000, pattern=NO_NUL)]
Measure = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=NO_NUL)]
RunId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,36}\.[0-9]{1,4}$")]
Page = Annotated[int, Field(ge=1, le=1_000_000)]
PerPage = Annotated[int, Field(ge=1, le=100)]


class Request(BaseModel):
    """A request; unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(BaseModel):
    """A response; every field is always present."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Failure(Answer):
    """An error, and the correlation id of its log lines."""

    detail: str = Field(examples=["Mapping must be resolved"])
    reference: str = Field(examples=["ERR-5f0c1d7e9a3b4c6d"])


class Listing(Answer):
    """One page of a list; *total* counts the items of all pages."""

    total: int = Field(ge=0, examples=[1])
    page: int = Field(ge=1, examples=[1])
    per_page: int = Field(ge=1, examples=[50])


class Commit(Answer):
    """The commit that was searched: the one of the collection, or the one checked out in it."""

    id: str = Field(examples=["5d0c8a1e0c1c4a8f6d7b2f0e9a3b4c5d6e7f8091"])
    subject: str
    committed_at: datetime
