"""The law of datasets: their judgments are versions, and their references mean documents."""

# A suite of tests asserts, wherever it is kept.

from concurrent.futures import ThreadPoolExecutor

import pytest

from karat.errors import Conflict, InputError, UnknownName
from karat.extensions.service.store import JudgmentChangeRequest, ServiceStore
from karat.model import Dataset, Query, Target
from tests.extensions.service.store.conftest import GOLD, Clock


def test_a_dataset(service: ServiceStore, dataset: str) -> None:
    """The gold set goes with the last dataset that has it."""
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
    with pytest.raises(InputError, match="which cannot be stored"):
        service.datasets.add("ann", "x", description="", gold=wrong, schema_version="1.0")


def test_judgments_are_versions(service: ServiceStore, dataset: str, clock: Clock) -> None:
    """Each is one more, the last that stands is taken back first."""
    edits = [
        JudgmentChangeRequest("q1", "a.py", 2.0, reason="defines it"),
        JudgmentChangeRequest("q1", "b.py", 0.0, 3, 9),
        JudgmentChangeRequest("q1", "a.py", 3.0, before=2.0),
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
    with pytest.raises(Conflict, match="no judgment to undo"):
        service.judgments.undo(dataset, author="ann")
    history = service.judgments.all(dataset)
    assert [each.version for each in history] == list(range(2, 10))
    assert service.judgments.page(dataset, limit=2) == (history[:-3:-1], 8)
    assert service.judgments.since(dataset, 1) == history
    assert service.judgments.since(dataset, 7) == history[-2:]
    assert service.judgments.of_query(dataset, "q1") == history
    assert service.judgments.of_query(dataset, "q2") == ()
    with pytest.raises(UnknownName, match="no dataset x"):
        service.judgments.put("x", edits[0], version=1, author="ann")


def test_two_judge_at_once(service: ServiceStore, dataset: str) -> None:
    """One of them is told of a conflict."""

    def judge(number: int) -> bool:
        edit = JudgmentChangeRequest("q1", f"{number}.py", 1.0)
        try:
            service.judgments.put(dataset, edit, version=1, author="ann")
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(judge, range(8))) == 1
    assert len(service.judgments.all(dataset)) == 1


def test_a_mapping(service: ServiceStore, dataset: str, collection: str, clock: Clock) -> None:
    """One for a dataset and a collection; what is bound by hand stays bound."""
    made = service.mappings.add(dataset, collection)
    assert (made.status, made.owner, made.resolved) == ("pending", "ann", None)
    assert service.mappings.newest_gold(dataset) is None
    with pytest.raises(Conflict, match=r"is mapped to collection .* already"):
        service.mappings.add(dataset, collection)
    with pytest.raises(UnknownName, match="no dataset x, or no collection"):
        service.mappings.add("x", collection)
    lost = {
        "query_id": "q1",
        "doc_ref": {"uri": "x"},
        "doc_ref_hash": "1f",
        "reason": "not_found",
    }
    bound = Dataset.of([Query("q1", "where is login", (Target("auth.md"),))], match="document")
    service.mappings.keep_resolution(made.id, bound, mapped=1, total=2, unresolved=[lost])
    stored = service.mappings.get(made.id, owner="ann")
    assert (stored.status, stored.mapped, stored.total) == ("partial", 1, 2)
    assert (stored.unresolved, stored.resolved_at) == ([lost], clock.now)
    assert stored.resolved
    assert service.mappings.newest_gold(dataset) == stored.resolved
    assert service.datasets.gold(stored.resolved).paths[0] == "auth.md"
    service.mappings.bind(made.id, [{"query": "q1", "reference": "1f", "path": "a.md"}])
    service.mappings.bind(made.id, [{"query": "q2", "reference": "1f", "path": "b.md"}])
    service.mappings.bind(made.id, [{"query": "q1", "reference": "1f", "path": "c.md"}])
    by_hand = service.mappings.get(made.id).by_hand
    assert [each["path"] for each in by_hand] == ["c.md", "b.md"]
    service.mappings.keep_resolution(made.id, GOLD, mapped=2, total=2, unresolved=[])
    again = service.mappings.get(made.id)
    assert (again.status, again.by_hand) == ("resolved", by_hand)
    # What the mapping no longer means is gone.
    with pytest.raises(UnknownName, match="no gold set"):
        service.datasets.gold(stored.resolved)
    assert service.mappings.page(dataset) == ((again,), 1)
    with pytest.raises(UnknownName, match="no mapping"):
        service.mappings.get(made.id, owner="bob")
    with pytest.raises(UnknownName, match="no mapping x"):
        service.mappings.bind("x", [{"query": "q1", "reference": "1f", "path": "a.md"}])
    with pytest.raises(UnknownName, match="no mapping x"):
        service.mappings.keep_resolution("x", GOLD, mapped=2, total=2, unresolved=[])
