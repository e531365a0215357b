"""Several processes change one gold set, and no change is lost."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier

import pytest

from karat.app.pooling import PooledHit
from karat.errors import InputError
from karat.extensions.judges import by_model
from karat.extensions.judges.audit import AuditDecisions, AuditRow
from karat.extensions.judges.by_hand import Judging
from karat.extensions.judges.by_model import GradingOptions, ModelJudging, passages_of
from karat.extensions.judges.gold_file import GoldFile
from karat.extensions.judges.sources import folder_code
from karat.formats import read_dataset, write
from karat.model import Dataset, Hit, Query, Target
from karat.model.judgments import (
    JudgmentRecord,
    judgments_of,
    model_labels_of,
    with_model_labels,
)
from tests.extensions.judges.fake_model import FakeModel, answer_with

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
CHANGES = 20


@pytest.fixture
def path(tmp_path: Path) -> Path:
    gold_path = tmp_path / "gold.json"
    queries = [Query(f"q{n}", f"find {n}", (Target("a.py"),)) for n in range(CHANGES)]
    write(Dataset.of(queries), gold_path)
    (tmp_path / "b.py").write_text("x = 1\n")
    return gold_path


def item(row: int = 0, name: str = "b.py") -> PooledHit:
    return PooledHit(row, Hit(name), {"run": 1})


def person(path: Path, name: str = "ann") -> Judging:
    return Judging(read_dataset(path), path, judge=name, clock=lambda: NOON)


def model(path: Path) -> ModelJudging:
    data = read_dataset(path)
    passages, _ = passages_of(data, [item(0), item(1)], folder_code(str(path.parent)))
    judge = FakeModel(answer_with(lambda *_: 2))
    return ModelJudging(data, path, {"m": judge}, passages, options=GradingOptions())


def counts(path: Path) -> tuple[int, int]:
    """Return the judgments by people and the labels of models."""
    queries = list(read_dataset(path).queries())
    return sum(len(judgments_of(q)) for q in queries), sum(len(model_labels_of(q)) for q in queries)


def test_two_writers_end_with_the_changes_of_both(path: Path) -> None:
    together = Barrier(2)

    def label(judge: str) -> None:
        gold = GoldFile(read_dataset(path), path)
        record = JudgmentRecord(Target("b.py"), judge, "2024-05-01T12:00:00Z")
        for number in range(CHANGES):
            together.wait()
            gold.change(
                {f"q{number}": lambda q: with_model_labels(q, [*model_labels_of(q), record])}
            )

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(label, ("one", "two")))
    assert counts(path) == (0, 2 * CHANGES)


def test_a_person_who_judged_before_a_model_saved_loses_nothing(path: Path) -> None:
    judging = model(path)
    person(path).grade(item(), 3)
    judging.run()
    assert counts(path) == (1, 2)


def test_an_open_session_of_a_person_keeps_the_labels_of_a_model(path: Path) -> None:
    session = person(path)
    session.grade(item(5), 1)
    model(path).run()
    session.grade(item(), 3)
    assert counts(path) == (2, 2)
    session.undo()
    session.undo()
    assert counts(path) == (0, 2)
    assert session.is_open(item())


def test_two_people_may_judge_one_hit(path: Path) -> None:
    ann, bob = person(path), person(path, "bob")
    bob.grade(item(), 1)
    ann.grade(item(), 3)
    data = read_dataset(path)
    assert data.targets(0) == [Target("a.py"), Target("b.py", 3)]
    (query, *_) = data.queries()
    assert [(each.judge, each.target.grade) for each in judgments_of(query)] == [
        ("bob", 1),
        ("ann", 3),
    ]
    ann.undo()
    assert read_dataset(path).targets(0) == [Target("a.py"), Target("b.py", 1)]
    assert not ann.is_open(item())


def test_a_grade_for_a_query_that_was_removed_is_an_error(path: Path) -> None:
    session = person(path)
    data = read_dataset(path)
    write(data.with_queries(list(data.queries())[1:]), path)
    with pytest.raises(InputError, match=r"gold\.json: the query 'q0' was removed meanwhile"):
        session.grade(item(), 3)
    # Rows are still those of the dataset that the session started with.
    session.grade(item(1), 2)
    assert read_dataset(path).targets(0) == [Target("a.py"), Target("b.py", 2)]
    assert not session.is_open(item(0))


def test_decisions_of_an_audit_keep_what_others_saved(path: Path) -> None:
    decisions = AuditDecisions(read_dataset(path), path, judge="ann", clock=lambda: NOON)
    model(path).run()
    person(path, "bob").grade(item(3), 1)
    old = Target("a.py")
    row = AuditRow("q0", "", "grade", old, 0, old._replace(grade=0.0), "why", "m 0", 1.0, "accept")
    assert decisions.apply([row]) == (1, [], 0)
    assert counts(path) == (2, 2)
    assert read_dataset(path).targets(0) == [Target("a.py", 0)]


def test_slow_saves_are_further_apart(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    saves: list[float] = []
    monkeypatch.setattr(by_model, "monotonic", lambda: now)

    def slow(*_: object) -> None:
        nonlocal now
        saves.append(now)
        now += 2.0

    monkeypatch.setattr(GoldFile, "change", slow)

    def answer(*_: object) -> int:
        nonlocal now
        now += 1.0
        return 1

    (path.parent / "c.py").write_text("x = 1\n")
    data = read_dataset(path)
    items = [item(row, name) for row in range(CHANGES) for name in ("b.py", "c.py")]
    passages, _ = passages_of(data, items, folder_code(str(path.parent)))
    judge = FakeModel(answer_with(answer))
    options = GradingOptions(workers=1)
    ModelJudging(data, path, {"m": judge}, passages, options=options).run()
    # 40 answers in 40 s: after 3 s, after a pause of 20 times the 2 s of a save, at the end.
    first, *others = saves
    assert 3 <= first <= 5
    assert len(others) == 1
