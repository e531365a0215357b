"""The client: one method per operation of the API."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx

from karat.client.connection import Connection, follow
from karat.client.records import (
    Benchmark,
    BenchmarkStart,
    Collection,
    Dataset,
    Engine,
    Event,
    Json,
    Mapping,
    MappingResolution,
    QueryResult,
    Results,
    record,
)

__all__ = ["Client"]

Record = TypeVar("Record")
PER_PAGE = 100


class Client:
    """A client of a Karat service: collections, datasets, mappings, benchmarks.

    Lists are iterators that fetch one page after the other.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        *,
        token: str | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Connect to *url*; without *token* the variable KARAT_TOKEN is used."""
        secret = token or os.environ.get("KARAT_TOKEN") or None
        self._ask = Connection(url, token=secret, transport=transport, sleep=sleep)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._ask.close()

    def me(self) -> Json:
        """Return the caller, its scopes, and the limits of the service."""
        answer: Json = self._ask.get("/me")
        return answer

    def engines(self) -> list[Engine]:
        """Return the engines that a matrix may name, beside the modes of a collection."""
        return [record(Engine, engine) for engine in self._ask.get("/engines")["engines"]]

    def create_collection(
        self, name: str, source: Json, *, description: str = "", index: Json | None = None
    ) -> Collection:
        """Create a collection from a folder or repository of the service; a job indexes it."""
        asked = {"name": name, "description": description, "source": dict(source)}
        asked |= {"index": dict(index)} if index else {}
        return record(Collection, self._ask.change("POST", "/collections", json=asked))

    def upload_collection(
        self, name: str, archive: Path, *, description: str = "", index: Json | None = None
    ) -> Collection:
        """Create a collection from a zip or tar file; a job indexes it."""
        fields = {"name": name, "description": description}
        fields |= {"index": json.dumps(dict(index))} if index else {}
        return record(Collection, self._send("/collections", archive, fields))

    def collections(self) -> Iterator[Collection]:
        """Yield all collections, the newest first."""
        return self._pages("/collections", "collections", Collection)

    def collection(self, collection: str) -> Collection:
        """Return one collection."""
        return record(Collection, self._ask.get(f"/collections/{collection}"))

    def reindex_collection(self, collection: str) -> Collection:
        """Index the current source of a collection again, by a job."""
        return record(Collection, self._ask.change("POST", f"/collections/{collection}/reindex"))

    def delete_collection(self, collection: str) -> None:
        """Delete a collection."""
        self._ask.change("DELETE", f"/collections/{collection}")

    def search(self, collection: str, query: str, **options: object) -> Json:
        """Search a collection; options are those of the API, such as modes."""
        asked = {"query": query, **options}
        answer: Json = self._ask.change("POST", f"/collections/{collection}/search", json=asked)
        return answer

    def upload_dataset(self, name: str, file: Path, *, description: str = "") -> Dataset:
        """Upload a dataset in any format that Karat reads."""
        fields = {"name": name, "description": description}
        return record(Dataset, self._send("/benchmark-datasets", file, fields))

    def datasets(self) -> Iterator[Dataset]:
        """Yield all datasets, the newest first."""
        return self._pages("/benchmark-datasets", "datasets", Dataset)

    def dataset(self, dataset: str) -> Dataset:
        """Return one dataset."""
        return record(Dataset, self._ask.get(f"/benchmark-datasets/{dataset}"))

    def delete_dataset(self, dataset: str) -> None:
        """Delete a dataset with its mappings."""
        self._ask.change("DELETE", f"/benchmark-datasets/{dataset}")

    def map(self, dataset: str, collection: str) -> Mapping:
        """Map a dataset to a collection."""
        path = f"/benchmark-datasets/{dataset}/mappings"
        return record(Mapping, self._ask.change("POST", path, json={"collection_id": collection}))

    def mappings(self, dataset: str) -> Iterator[Mapping]:
        """Yield the mappings of a dataset, the newest first."""
        return self._pages(f"/benchmark-datasets/{dataset}/mappings", "mappings", Mapping)

    def mapping(self, dataset: str, mapping: str) -> Mapping:
        """Return one mapping."""
        return record(Mapping, self._ask.get(f"/benchmark-datasets/{dataset}/mappings/{mapping}"))

    def resolve(self, dataset: str, mapping: str) -> MappingResolution:
        """Resolve the references of a mapping; if a job does it, wait for its end."""
        path = f"/benchmark-datasets/{dataset}/mappings/{mapping}"
        answer = self._ask.change("POST", f"{path}/resolve")
        if answer["operation_uuid"] is not None:
            for _ in self.operation_events(answer["operation_uuid"]):
                pass
            answer = self._ask.get(f"{path}/unresolved")
        return record(MappingResolution, answer)

    def preview(self, matrix: Json) -> Json:
        """Return the runs of a matrix, and the work that they share."""
        asked = {"config_matrix": dict(matrix)}
        answer: Json = self._ask.change("POST", "/benchmarks/preview", json=asked)
        return answer

    def create_benchmark(
        self,
        name: str,
        mapping: str,
        matrix: Json,
        *,
        description: str = "",
        timing: str = "sample",
    ) -> Benchmark:
        """Create a benchmark; it runs when it is started.

        *timing* is ``none``, ``sample`` or ``all``: of which queries the latency is measured.
        """
        asked = {
            "name": name,
            "description": description,
            "mapping_id": mapping,
            "config_matrix": dict(matrix),
            "timing": timing,
        }
        return record(Benchmark, self._ask.change("POST", "/benchmarks", json=asked))

    def benchmarks(self, *, status: str | None = None) -> Iterator[Benchmark]:
        """Yield all benchmarks, the newest first, optionally of one *status*."""
        return self._pages("/benchmarks", "benchmarks", Benchmark, status_filter=status)

    def benchmark(self, benchmark: str) -> Benchmark:
        """Return one benchmark; ``latest`` is the newest."""
        return record(Benchmark, self._ask.get(f"/benchmarks/{benchmark}"))

    def start(self, benchmark: str, *, key: str | None = None) -> BenchmarkStart:
        """Start a benchmark, or continue it; the same *key* again starts nothing twice."""
        headers = {"Idempotency-Key": key} if key else {}
        path = f"/benchmarks/{benchmark}/start"
        return record(BenchmarkStart, self._ask.change("POST", path, headers=headers))

    def cancel(self, benchmark: str) -> BenchmarkStart:
        """Cancel a benchmark; completed runs are kept."""
        return record(BenchmarkStart, self._ask.change("POST", f"/benchmarks/{benchmark}/cancel"))

    def delete_benchmark(self, benchmark: str) -> None:
        """Delete a benchmark with its results."""
        self._ask.change("DELETE", f"/benchmarks/{benchmark}")

    def events(self, benchmark: str, *, after: int = 0) -> Iterator[Event]:
        """Yield the progress of a benchmark until it has ended."""
        return follow(self._ask, f"/benchmarks/{benchmark}/events", after=after)

    def operation_events(self, operation: str, *, after: int = 0) -> Iterator[Event]:
        """Yield the progress of an operation until it has ended."""
        return follow(self._ask, f"/operations/{operation}/events", after=after)

    def results(self, benchmark: str) -> Results:
        """Return the scores of all runs."""
        return Results.of(self._ask.get(f"/benchmarks/{benchmark}/results"))

    def queries(self, benchmark: str, run: str) -> Iterator[QueryResult]:
        """Yield the results of one run, query by query."""
        return self._pages(f"/benchmarks/{benchmark}/runs/{run}/queries", "results", QueryResult)

    def comparison(self, benchmark: str, *, baseline: str, metric: str | None = None) -> Json:
        """Return the paired tests of all runs against one of them."""
        path = f"/benchmarks/{benchmark}/comparison"
        answer: Json = self._ask.get(path, baseline=baseline, metric=metric)
        return answer

    def report(self, benchmark: str) -> str:
        """Return the report as one HTML file."""
        return self._ask.read(f"/benchmarks/{benchmark}/report.html").text

    def export(self, benchmark: str, kind: str = "json") -> str:
        """Return all results as JSON or CSV."""
        return self._ask.read(f"/benchmarks/{benchmark}/export.{kind}").text

    def evaluate(self, ranked_items: list[Json], judgments: Json, **options: object) -> Json:
        """Return the scores of one ranking."""
        asked = {"ranked_items": ranked_items, "judgments": dict(judgments), **options}
        answer: Json = self._ask.change("POST", "/evaluate", json=asked)
        return answer

    def _send(self, path: str, file: Path, fields: dict[str, str]) -> Any:
        with file.open("rb") as stream:
            files = {"file": (file.name, stream)}
            return self._ask.change("POST", path, data=fields, files=files)

    def _pages(
        self, path: str, name: str, kind: type[Record], **params: object
    ) -> Iterator[Record]:
        page, seen = 1, 0
        while True:
            answer = self._ask.get(path, page=page, per_page=PER_PAGE, **params)
            for item in answer[name]:
                yield record(kind, item)
            seen += len(answer[name])
            if not answer[name] or seen >= answer["total"]:
                return
            page += 1
