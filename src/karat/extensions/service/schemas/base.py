"""The base of all requests and responses, and those on the service itself.

The client returns the same responses, so that this package needs nothing but pydantic.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, WithJsonSchema

# PostgreSQL cannot store NUL, and it has no meaning in a text.
NO_NUL = r"^[^\x00]*$"

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255, pattern=NO_NUL)
]
Description = Annotated[str, StringConstraints(max_length=2000, pattern=NO_NUL)]
Wide = Annotated[str, StringConstraints(max_length=10_000, pattern=NO_NUL)]
Measure = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=NO_NUL)]
RunId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,36}\.[0-9]{1,4}$")]
QueryId = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=NO_NUL)]
FilePath = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=NO_NUL)]
Page = Annotated[int, Field(ge=1, le=1_000_000)]
PerPage = Annotated[int, Field(ge=1, le=100)]
Scope = Literal["read", "run", "admin"]
# Statuses of a benchmark or a job that has ended.
ENDED = frozenset({"completed", "failed", "cancelled"})
# Of a resource in a response; store, service and client have it as text.
Id = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]


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


class Limits(Answer):
    """Limits of one request and of one owner."""

    upload_bytes: int
    upload_queries: int
    upload_judgments: int
    archive_bytes: int
    active_jobs: int
    runs: int
    runs_warned: int


class EmbeddingModel(Answer):
    """A model that a dense index may use.

    *install* is the command that installs it on the service's machine, empty if it is installed.
    """

    name: Literal["granite", "minilm", "static"]
    installed: bool
    install: str


class Choices(Answer):
    """Names of models for a matrix: packaged ones, and those that the service was started with."""

    models: list[str]
    rerankers: list[str]
    contexts: list[str]


class Me(Answer):
    """The caller, its scopes, and the limits and models of this service."""

    owner_id: str
    scopes: list[Scope]
    authenticated: bool
    shared: bool = Field(description="Whether all tokens see what all owners have")
    version: str
    roots: list[str] = Field(description="Folders that collections may be read from")
    models: list[EmbeddingModel] = Field(description="From the best to the fastest")
    choices: Choices
    limits: Limits


class Live(Answer):
    """The process answers."""

    status: Literal["ok"]


class Ready(Answer):
    """Whether requests can be served: database and disk, each ready or with its problem."""

    status: Literal["ready", "not ready"]
    checks: dict[str, str]


class Jump(Answer):
    """A resource whose name, text or id matches the search text.

    *detail* is the dataset of a query or the benchmark of a run, and a short description otherwise.
    """

    kind: Literal["benchmark", "dataset", "collection", "query", "run"]
    id: str
    title: str
    detail: str


class Jumps(Answer):
    """The best matches, at most 20."""

    results: list[Jump]
