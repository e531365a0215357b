"""The law of collections, and of the tokens of those who own them."""

# A suite of tests asserts, wherever it is kept.

from datetime import timedelta

import pytest

from karat.errors import Conflict, TooManyJobs, UnknownName
from karat.extensions.service.store import (
    Benchmark,
    JobKind,
    JobStatus,
    ServiceStore,
    StoredDocument,
)
from tests.extensions.service.store.conftest import Clock

DIGEST = "ab" * 32
FAR = "far:1"


def test_tokens(service: ServiceStore, clock: Clock) -> None:
    """Found by the digest of the secret; valid until they expire or are revoked."""
    expires = clock.now + timedelta(hours=1)
    token = service.tokens.add("ann", "ci", digest=DIGEST, scopes=["read", "run"], expires=expires)
    assert service.tokens.find(DIGEST) == token
    assert service.tokens.all() == (token,)
    assert service.tokens.find("cd" * 32) is None
    assert token.scopes == ("read", "run")
    assert token.valid(clock.now)
    assert not token.valid(expires)
    assert service.tokens.opens(token.id)
    assert not service.tokens.opens("x")
    clock.forward(3600)
    assert not service.tokens.opens(token.id)
    clock.forward(-3600)
    service.tokens.revoke(token.id)
    revoked = service.tokens.find(DIGEST)
    assert revoked
    assert not revoked.valid(clock.now)
    assert not service.tokens.opens(token.id)
    clock.forward(9)
    service.tokens.revoke(token.id)
    assert service.tokens.all() == (revoked,)
    with pytest.raises(UnknownName, match="no token 'x'"):
        service.tokens.revoke("x")


def test_a_collection(service: ServiceStore, collection: str, clock: Clock) -> None:
    """From pending to ready, for its owner alone."""
    made = service.collections.get(collection, owner="ann")
    assert (made.status, made.source) == ("pending", {"kind": "folder", "path": "/srv"})
    clock.forward(5)
    facts = {"chunks": 12, "dense": {"dimension": 384}}
    service.collections.change(collection, status="ready", snapshot=DIGEST, facts=facts)
    ready = service.collections.get(collection)
    assert (ready.status, ready.snapshot, ready.facts) == ("ready", DIGEST, facts)
    assert ready.created < ready.updated == clock.now
    assert service.collections.page(owner="ann") == ((ready,), 1)
    assert service.collections.page(owner="bob") == ((), 0)
    service.collections.delete(collection)
    for ask in (service.collections.get, service.collections.delete):
        with pytest.raises(UnknownName, match="no collection"):
            ask(collection)
    with pytest.raises(UnknownName, match="no collection"):
        service.collections.change(collection, status="ready")
    with pytest.raises(UnknownName, match="no collection"):
        service.collections.get("x", owner="bob")


def test_one_that_was_cut_off(service: ServiceStore, collection: str, clock: Clock) -> None:
    """It fails after a while, unless a job is to come."""
    age = timedelta(minutes=10)
    other = service.collections.add("ann", "x", description="", source={}, index={}).id
    service.jobs.add(JobKind.INDEX, other, owner="ann")
    assert service.collections.give_up(age) == 0
    clock.forward(601)
    assert service.collections.give_up(age) == 1
    assert "interrupted" in service.collections.get(collection).error
    assert service.collections.get(other).status == "pending"


def test_documents(service: ServiceStore, collection: str) -> None:
    """Replaced as a whole, found by a part of the path, never by a pattern."""
    documents = [
        StoredDocument(f"src/{name}.py", 10, 2, 1) for name in ("a_b", "aXb", "Größe", "x%")
    ]
    service.collections.keep_documents(collection, documents[:1])
    service.collections.keep_documents(collection, documents)
    assert service.collections.documents(collection) == (tuple(documents), 4)
    assert service.collections.documents(collection, limit=1, offset=2) == ((documents[2],), 4)
    assert service.collections.documents(collection, contains="A_B").items == (documents[0],)
    assert service.collections.documents(collection, contains="%").items == (documents[3],)
    assert service.collections.document(collection, "src/aXb.py") == documents[1]
    for path in ("src/axb.py", "../aXb.py", ""):
        with pytest.raises(UnknownName, match="no document"):
            service.collections.document(collection, path)
    service.collections.keep_documents(collection, [])
    assert service.collections.documents(collection) == ((), 0)
    service.collections.delete(collection)
    with pytest.raises(UnknownName, match=f"no collection {collection}"):
        service.collections.keep_documents(collection, documents)


def test_what_is_in_use_stays(
    service: ServiceStore, benchmark: Benchmark, dataset: str, collection: str
) -> None:
    """What others are made of is deleted last."""
    with pytest.raises(Conflict, match="is in use by a mapping"):
        service.collections.delete(collection)
    with pytest.raises(Conflict, match="is in use by a benchmark"):
        service.datasets.delete(dataset)
    service.benchmarks.delete(benchmark.id)
    service.datasets.delete(dataset)
    with pytest.raises(UnknownName):
        service.mappings.get(benchmark.mapping)
    service.collections.delete(collection)


def test_it_is_indexed_once_more(service: ServiceStore, collection: str, mapping: str) -> None:
    """All is known as it was until that has ended; mappings to other documents are stale."""
    service.collections.change(collection, status="ready", snapshot=DIGEST, facts={"chunks": 1})
    source = {"kind": "git", "revision": "main"}
    again = service.collections.reindex(collection, source=source, owner="ann")
    assert (again.status, again.source, again.facts) == ("pending", source, {"chunks": 1})
    with pytest.raises(Conflict, match="the collection is being indexed; try again"):
        service.collections.reindex(collection, source=source, owner="ann")
    job = service.jobs.claim(FAR)
    assert job
    assert (job.id, job.kind) == (again.operation, JobKind.INDEX)
    service.collections.change(collection, status="indexing")
    assert service.collections.get(collection).snapshot == DIGEST
    for snapshot, status in ((DIGEST, "resolved"), ("cd" * 32, "pending")):
        service.collections.change(collection, status="ready", snapshot=snapshot)
        assert service.mappings.get(mapping).status == status
    service.jobs.end(job.id, FAR, JobStatus.COMPLETED)
    with pytest.raises(TooManyJobs):
        service.collections.reindex(collection, source=source, owner="ann", most=0)
    with pytest.raises(UnknownName, match="no collection x"):
        service.collections.reindex("x", source=source, owner="ann")


def test_nothing_is_indexed_while_it_is_measured(
    service: ServiceStore, collection: str, benchmark: Benchmark
) -> None:
    """Nor is anything measured while it is indexed."""
    service.collections.reindex(collection, source={}, owner="ann")
    with pytest.raises(Conflict, match="the collection is being indexed; try again"):
        service.benchmarks.start(benchmark.id)
    job = service.jobs.claim(FAR)
    assert job
    service.jobs.end(job.id, FAR, JobStatus.COMPLETED)
    service.benchmarks.start(benchmark.id)
    with pytest.raises(Conflict, match=f"benchmark '{benchmark.name}' is running on this"):
        service.collections.reindex(collection, source={}, owner="ann")
    service.benchmarks.cancel(benchmark.id)
    assert service.collections.reindex(collection, source={}, owner="ann").operation
