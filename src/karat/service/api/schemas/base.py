"""What all requests and answers have in common: strict fields, pages, errors."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

__all__ = [
    "NO_NUL",
    "Answer",
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

# A NUL cannot be kept by PostgreSQL, and means nothing in a text.
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
    """What a client sends; a field that nobody knows is refused, not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(BaseModel):
    """What the service sends; every field is always there."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Failure(Answer):
    """What went wrong, and the reference by which the log tells more."""

    detail: str = Field(examples=["Mapping must be resolved"])
    reference: str = Field(examples=["ERR-5f0c1d7e9a3b4c6d"])


class Listing(Answer):
    """One page of a list; *total* counts what is on all pages."""

    total: int = Field(ge=0, examples=[1])
    page: int = Field(ge=1, examples=[1])
    per_page: int = Field(ge=1, examples=[50])
