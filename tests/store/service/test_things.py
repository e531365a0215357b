"""Tokens, collections, datasets with their judgments, mappings and events."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from karat.errors import Conflict, InputError, UnknownName
from karat.model import Dataset, Query, Target
from karat.store.service import Benchmark, Document, Edit, JobKind, ServiceStore
from tests.store.service.conftest import GOLD, Clock

DIGEST = "ab" * 32


def test_tokens(service: ServiceStore, clock: Clock) -> None:
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
    assert "cut off" in service.collections.get(collection).error
    assert service.collections.get(other).status == "pending"


def test_documents(service: ServiceStore, collection: str) -> None:
    documents = [Document(f"src/{name}.py", 10, 2, 1) for name in ("a_b", "aXb", "Größe", "x%")]
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
    with pytest.raises(Conflict, match="is in use by a mapping"):
        service.collections.delete(collection)
    with pytest.raises(Conflict, match="is in use by a benchmark"):
        service.datasets.delete(dataset)
    service.benchmarks.delete(benchmark.id)
    service.datasets.delete(dataset)
    with pytest.raises(UnknownName):
        service.mappings.get(benchmark.mapping)
    service.collections.delete(collection)


def test_a_dataset(service: ServiceStore, dataset: str) -> None:
    made = service.datasets.get(dataset, owner="ann")
    assert (made.name, made.queries, made.version) == ("Questions", 2, 1)
    gold = service.datasets.gold(made.gold)
    assert list(gold.queries()) == list(GOLD.queries())
    again = service.datasets.add("bob", "x", description="", gold=GOLD, schema_version="1.0")
    assert again.gold == made.gold
    assert service.datasets.page().total == 2
    assert service.datasets.page(owner="ann") == ((made,), 1)
    service.datasets.delete(dataset)
    assert len(service.datasets.gold(made.gold)) == 2
    service.datasets.delete(again.id)
    with pytest.raises(UnknownName, match="no gold set with the digest"):
        service.datasets.gold(made.gold)
    for ask in (service.datasets.get, service.datasets.delete):
        with pytest.raises(UnknownName, match="no dataset"):
            ask(dataset)
    wrong = Dataset.of([Query("a\0", "x")])
    with pytest.raises(InputError, match="no store can keep"):
        service.datasets.add("ann", "x", description="", gold=wrong, schema_version="1.0")


def test_judgments_are_versions(service: ServiceStore, dataset: str, clock: Clock) -> None:
    edits = [
        Edit("q1", "a.py", 2.0, reason="defines it"),
        Edit("q1", "b.py", 0.0, 3, 9),
        Edit("q1", "a.py", 3.0, before=2.0),
    ]
    for version, edit in enumerate(edits, 1):
        made = service.judgments.put(dataset, edit, version=version, author="ann")
        assert (made.version, made.grade, made.undoes) == (version + 1, edit.grade, None)
        assert (made.author, made.created) == ("ann", clock.now)
    assert service.datasets.get(dataset).version == 4
    with pytest.raises(Conflict, match="the judgments have version 4, not 3"):
        service.judgments.put(dataset, edits[0], version=3, author="bob")
    undone = [service.judgments.undo(dataset, author="bob") for _ in range(2)]
    assert [(each.undoes, each.path, each.before, each.grade) for each in undone] == [
        (4, "a.py", 3.0, 2.0),
        (3, "b.py", 0.0, None),
    ]
    # A judgment made meanwhile is the next to be taken back.
    service.judgments.put(dataset, edits[1], version=6, author="ann")
    assert [service.judgments.undo(dataset, author="ann").undoes for _ in range(2)] == [7, 2]
    with pytest.raises(Conflict, match="no judgment to take back"):
        service.judgments.undo(dataset, author="ann")
    history = service.judgments.all(dataset)
    assert [each.version for each in history] == list(range(2, 10))
    assert service.judgments.page(dataset, limit=2) == (history[:-3:-1], 8)
    with pytest.raises(UnknownName, match="no dataset x"):
        service.judgments.put("x", edits[0], version=1, author="ann")


def test_two_judge_at_once(service: ServiceStore, dataset: str) -> None:
    def judge(number: int) -> bool:
        edit = Edit("q1", f"{number}.py", 1.0)
        try:
            service.judgments.put(dataset, edit, version=1, author="ann")
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(judge, range(8))) == 1
    assert len(service.judgments.all(dataset)) == 1


def test_a_mapping(service: ServiceStore, dataset: str, collection: str, clock: Clock) -> None:
    made = service.mappings.add(dataset, collection)
    assert (made.status, made.owner, made.resolved) == ("pending", "ann", None)
    with pytest.raises(Conflict, match=r"is mapped to collection .* already"):
        service.mappings.add(dataset, collection)
    with pytest.raises(UnknownName, match="no dataset x, or no collection"):
        service.mappings.add("x", collection)
    lost = {"query_id": "q1", "doc_ref": {"uri": "x"}, "doc_ref_hash": "1f", "reason": "not_found"}
    bound = Dataset.of([Query("q1", "where is login", (Target("auth.md"),))], match="document")
    service.mappings.keep_resolution(made.id, bound, mapped=1, total=2, unresolved=[lost])
    found = service.mappings.get(made.id, owner="ann")
    assert (found.status, found.mapped, found.total) == ("partial", 1, 2)
    assert (found.unresolved, found.resolved_at) == ([lost], clock.now)
    assert found.resolved
    assert service.datasets.gold(found.resolved).paths[0] == "auth.md"
    service.mappings.bind(made.id, query="q1", reference="1f", path="a.md")
    service.mappings.bind(made.id, query="q2", reference="1f", path="b.md")
    service.mappings.bind(made.id, query="q1", reference="1f", path="c.md")
    by_hand = service.mappings.get(made.id).by_hand
    assert [each["path"] for each in by_hand] == ["b.md", "c.md"]
    service.mappings.keep_resolution(made.id, GOLD, mapped=2, total=2, unresolved=[])
    again = service.mappings.get(made.id)
    assert (again.status, again.by_hand) == ("resolved", by_hand)
    # What the mapping no longer means is gone.
    with pytest.raises(UnknownName, match="no gold set"):
        service.datasets.gold(found.resolved)
    assert service.mappings.page(dataset) == ((again,), 1)
    with pytest.raises(UnknownName, match="no mapping"):
        service.mappings.get(made.id, owner="bob")
    with pytest.raises(UnknownName, match="no mapping x"):
        service.mappings.bind("x", query="q1", reference="1f", path="a.md")
    with pytest.raises(UnknownName, match="no mapping x"):
        service.mappings.keep_resolution("x", GOLD, mapped=2, total=2, unresolved=[])


def test_events(service: ServiceStore, clock: Clock) -> None:
    assert service.events.last() == 0
    made = []
    for number, operation in enumerate("aabab"):
        made.append(service.events.add(operation, f"s{operation}", "progress", {"n": number}))
        clock.forward(1)
    assert service.events.last() == made[-1].id
    assert service.events.after(0) == tuple(made)
    assert service.events.after(made[1].id, limit=2) == tuple(made[2:4])
    assert service.events.after(0, operation="b") == (made[2], made[4])
    assert service.events.after(made[0].id, subject="sa") == (made[1], made[3])
    assert service.events.newest() == made[4]
    assert service.events.newest(operation="a", subject="sa") == made[3]
    assert service.events.newest(operation="a", subject="sb") is None
    assert service.events.drop_older(timedelta(seconds=2)) == 3
    assert service.events.after(0) == tuple(made[3:])
    # No number is given twice, also when the newest is gone.
    clock.forward(1)
    service.events.drop_older(timedelta())
    assert service.events.add("a", "sa", "progress", {}).id > made[-1].id


def test_no_event_is_passed_by(service: ServiceStore) -> None:
    """Whoever reads on from the last one seen sees all, however many write."""
    seen: list[int] = []

    def write(number: int) -> None:
        for _ in range(10):
            service.events.add("a", "s", "progress", {"n": number})

    with ThreadPoolExecutor(4) as threads:
        writers = [threads.submit(write, number) for number in range(4)]
        while not all(writer.done() for writer in writers):
            seen += [event.id for event in service.events.after(seen[-1] if seen else 0)]
    seen += [event.id for event in service.events.after(seen[-1] if seen else 0)]
    assert seen == [event.id for event in service.events.after(0)]
    assert len(seen) == 40
