"""The service itself: caller, health, and search by name."""

from typing import Literal

from pydantic import Field

from karat.service.api.schemas.base import Answer

__all__ = ["Choices", "EmbeddingModel", "Jump", "Jumps", "Live", "Me", "Ready", "Scope"]

Scope = Literal["read", "run", "admin"]


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
