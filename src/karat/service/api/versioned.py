"""Answers about a benchmark carry a version, so that a client asks for nothing that it has."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Header, Response

from karat.service.api.state import Asking, Service, Serving
from karat.service.results import results_key
from karat.service.store import Benchmark

__all__ = ["NOT_MODIFIED", "Found", "Seen", "VersionedBenchmark", "find"]

NOT_MODIFIED: dict[int | str, dict[str, Any]] = {
    304: {"description": "Nothing has changed since the version in If-None-Match"}
}
# Kept by clients, and asked for again each time.
REVALIDATED = "private, no-cache"

Seen = Annotated[str | None, Header(alias="If-None-Match", max_length=1000)]


@dataclass(frozen=True, slots=True)
class VersionedBenchmark:
    """A benchmark, with a *key* that changes with everything that can be said of its results.

    *seen* are the versions that the client has.
    """

    benchmark: Benchmark
    key: str
    seen: str | None

    @property
    def headers(self) -> dict[str, str]:
        """Return the version as HTTP says it."""
        return {"ETag": f'"{self.key[:32]}"', "Cache-Control": REVALIDATED}

    @property
    def is_seen(self) -> bool:
        """Return whether the client has this version."""
        known = {each.strip().removeprefix("W/") for each in (self.seen or "").split(",")}
        return bool(known & {"*", self.headers["ETag"]})

    @property
    def unchanged(self) -> Response:
        """Return what a client is told that has this version."""
        return Response(status_code=304, headers=self.headers)

    async def analysed(self, serving: Service, question: str, **arguments: object) -> Response:
        """Return what the analyst says of the benchmark."""
        asked = {"benchmark": self.benchmark.id, **arguments}
        return await self.answered(
            serving, f"{question} {asked}", lambda: serving.analyst.ask(question, **asked)
        )

    async def answered(
        self, serving: Service, what: str, make: Callable[[], Awaitable[bytes]]
    ) -> Response:
        """Return *what* is made of this version, unless the client has it; it is made once."""
        if self.is_seen:
            return self.unchanged
        body = await serving.answers.get(f"{self.key} {what}", make)
        return Response(body, media_type="application/json", headers=self.headers)


def find(
    serving: Serving, caller: Asking, benchmark_id: UUID, if_none_match: Seen = None
) -> VersionedBenchmark:
    """Return a benchmark with the version of its results; UnknownName for one of somebody else."""
    benchmark = serving.store.benchmarks.get(str(benchmark_id), owner=caller.sees)
    return VersionedBenchmark(benchmark, results_key(serving.store, benchmark), if_none_match)


Found = Annotated[VersionedBenchmark, Depends(find)]
