"""A Python client of the service: the same nouns as its API, typed, with pages and streams."""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as AnyMapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx
from pydantic import ValidationError

from karat.errors import InputError, KaratError
from karat.extensions.service.schemas.base import ENDED, Answer
from karat.extensions.service.schemas.benchmarks import Benchmark, BenchmarkStart
from karat.extensions.service.schemas.collections import Collection, Engine
from karat.extensions.service.schemas.datasets import Dataset, Mapping, MappingResolution
from karat.extensions.service.schemas.results import QueryResult, Results

Record = TypeVar("Record", bound=Answer)
Json = AnyMapping[str, Any]
API = "/api/v2"
# Statuses of a service, or a proxy in front of it, that is temporarily unavailable.
PASSING = frozenset({429, 502, 503, 504})
ATTEMPTS = 4
FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 10.0
TIMEOUT = httpx.Timeout(60.0, connect=5.0)
# What to do about a missing or rejected token, added to the message of the service.
SIGN_IN_HINT = ", then set KARAT_TOKEN"
RENEW_HINT = ": make one with karat token create OWNER, then set KARAT_TOKEN"


# What a service of version 0.2 leaves out of its answers.
LATER_FIELDS: Json = {
    "error_message": None,
    "best_run": None,
    "collection_name": "",
    "dataset_name": "",
    "is_stopping": False,
    "moved_folder": None,
    "queue_position": None,
}


def record(kind: type[Record], answer: Json) -> Record:
    """Return *answer* as a *kind*; fields that only a newer service has are left out.

    >>> answer = {"id": "1", "status": "running", "message": "", "operation_uuid": None, "more": 1}
    >>> record(BenchmarkStart, answer).status
    'running'
    """
    try:
        return kind.model_validate({**LATER_FIELDS, **answer}, extra="ignore")
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ServiceError(
            0,
            f"the service answered a {kind.__name__} that this version of Karat cannot read: "
            f"{where}: {first['msg']}; install the version that the service has",
        ) from error


@dataclass(frozen=True, slots=True)
class Event:
    """Progress of an operation; *id* is from where a stream continues."""

    id: int
    type: str
    timestamp: str
    data: Json


class ServiceError(KaratError):
    """The service refused or failed; *status* is 0 where it did not answer at all."""

    def __init__(self, status: int, detail: str, reference: str = "") -> None:
        """Store the error message, and the reference under which the service logged it."""
        self.status = status
        self.detail = detail
        self.reference = reference
        if 400 <= status < 500:
            self.exit_code = 2
        super().__init__(f"{detail} ({reference})" if reference else detail)


class Connection:
    """Sends requests to the service at *url*, with *token* if it needs one.

    A read is retried if the connection fails or the service is busy. A request that changes
    something is never retried, because it may have succeeded.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Open no connection yet."""
        if not url.startswith(("http://", "https://")):
            raise InputError(f"{url!r} is not a URL; expected one such as http://localhost:8080")
        self._sleep = sleep
        self._client = httpx.Client(
            base_url=url.rstrip("/") + API,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            transport=transport,
            timeout=TIMEOUT,
            # Ignore .netrc and proxy variables: only the given URL and token count.
            trust_env=False,
        )

    def close(self) -> None:
        """Close open connections."""
        self._client.close()

    def get(self, path: str, **params: object) -> Any:
        """Return the JSON at *path*."""
        return self.read(path, **params).json()

    def read(self, path: str, **params: object) -> httpx.Response:
        """Return the answer at *path*; parameters that are None are left out."""
        given = {name: str(value) for name, value in params.items() if value is not None}
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = self._client.get(path, params=given)
            except httpx.TransportError as error:
                if attempt == ATTEMPTS:
                    raise self._unreachable(error) from error
                wait = FIRST_WAIT_S * 2**attempt
            else:
                if answer.status_code not in PASSING or attempt == ATTEMPTS:
                    break
                wait = _wait_s(answer, attempt)
            self._sleep(wait)
        _check(answer)
        return answer

    def change(self, method: str, path: str, **options: Any) -> Any:
        """Send a request that changes something, once; return its JSON answer, None without any."""
        try:
            answer = self._client.request(method, path, **options)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        _check(answer)
        return answer.json() if answer.content else None

    @contextmanager
    def stream(self, path: str, headers: AnyMapping[str, str]) -> Iterator[httpx.Response]:
        """Yield a response that is read as a stream."""
        with self._client.stream("GET", path, headers=dict(headers)) as answer:
            if answer.is_error:
                answer.read()
            _check(answer)
            yield answer

    def pause(self, failures: int) -> None:
        """Wait before a retry, longer after each failure in a row."""
        self._sleep(min(FIRST_WAIT_S * 2**failures, LONGEST_WAIT_S))

    def _unreachable(self, error: httpx.TransportError) -> ServiceError:
        why = str(error) or type(error).__name__
        address = self._client.base_url.netloc.decode("ascii")
        return ServiceError(0, f"{address} does not answer: {why}")


def _wait_s(answer: httpx.Response, attempt: int) -> float:
    after = answer.headers.get("retry-after", "")
    wait = float(after) if after.isdecimal() else FIRST_WAIT_S * 2**attempt
    return min(wait, LONGEST_WAIT_S)


def _check(answer: httpx.Response) -> None:
    if not answer.is_error:
        return
    try:
        body = answer.json()
        detail, reference = str(body["detail"]), str(body.get("reference", ""))
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            detail += RENEW_HINT if "authorization" in answer.request.headers else SIGN_IN_HINT
    except (ValueError, KeyError, TypeError, AttributeError):
        detail, reference = f"{answer.status_code} {answer.reason_phrase}", ""
    raise ServiceError(answer.status_code, detail, reference)


# Maximum number of times in a row that a stream may end without an event.
MOST_FAILURES = 5


def follow(connection: Connection, path: str, *, after: int = 0) -> Iterator[Event]:
    """Yield the events at *path* after the one with the id *after*, up to the final one.

    A broken stream is resumed; no event is lost or repeated.
    """
    failures = 0
    while True:
        try:
            with connection.stream(path, {"Last-Event-ID": str(after)}) as answer:
                if answer.status_code == httpx.codes.NO_CONTENT:
                    return
                for event in parsed(answer.iter_lines()):
                    after, failures = event.id, 0
                    yield event
                    if event.data.get("status") in ENDED:
                        return
        except httpx.TransportError as error:
            why = str(error) or type(error).__name__
        else:
            why = "it closed before the operation ended"
        failures += 1
        if failures == MOST_FAILURES:
            raise ServiceError(0, f"the stream of events was lost: {why}")
        connection.pause(failures)


def parsed(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events that *lines* of a stream hold.

    >>> lines = ["id: 7", "event: x", 'data: {"type": "x", "timestamp": "t", "data": {}}', "", ":"]
    >>> [(event.id, event.type) for event in parsed(lines)]
    [(7, 'x')]
    """
    number, data = 0, list[str]()
    for line in lines:
        if not line:
            if data:
                message = json.loads("\n".join(data))
                yield Event(number, message["type"], message["timestamp"], message["data"])
            data = []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id" and value.isdecimal():
            number = int(value)
        elif name == "data":
            data.append(value)


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
        self,
        name: str,
        source: Json,
        *,
        description: str = "",
        index: Json | None = None,
        files: Json | None = None,
    ) -> Collection:
        """Create a collection from a folder or repository of the service; a job indexes it.

        *files* selects files by ``kind``, ``include`` and ``exclude``.
        """
        asked = {"name": name, "description": description, "source": dict(source)}
        asked |= {"files": dict(files)} if files else {}
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

    def dataset_digest(self, dataset: str) -> str:
        """Return the SHA-256 of the queries and targets that were uploaded.

        "" if the service does not report it, or if judgments were made since the upload.
        """
        tag = self._ask.read(f"/benchmark-datasets/{dataset}").headers.get("etag", "")
        digest, _, version = tag.strip('"').partition("-")
        return digest if version == "1" else ""

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

    def bind_folder(self, dataset: str, mapping: str, old: str, new: str) -> MappingResolution:
        """Bind all unresolved references below the folder *old* to the documents below *new*."""
        path = f"/benchmark-datasets/{dataset}/mappings/{mapping}/folders"
        asked = {"reference_folder": old, "collection_folder": new}
        return record(MappingResolution, self._ask.change("POST", path, json=asked))

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
        judge_labels: str = "exclude",
    ) -> Benchmark:
        """Create a benchmark; it runs when it is started.

        *timing* is ``none``, ``sample`` or ``all``: of which queries the latency is measured.
        *judge_labels* is ``exclude``, ``include`` or ``only``: whether labels of models count.
        """
        asked = {
            "name": name,
            "description": description,
            "mapping_id": mapping,
            "config_matrix": dict(matrix),
            "timing": timing,
            "judge_labels": judge_labels,
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
        return record(Results, self._ask.get(f"/benchmarks/{benchmark}/results"))

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
