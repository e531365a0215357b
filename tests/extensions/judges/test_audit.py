"""An audit lists doubtful labels; only the decisions of a person change the gold set."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from karat.errors import EngineError, FormatError, InputError
from karat.extensions.judges.audit import (
    AuditDecisions,
    AuditResult,
    AuditRow,
    LabelAudit,
    read_audit,
    target_passages,
    unjudged,
    write_audit,
)
from karat.extensions.judges.by_model import GradingOptions, passages_of, pooled_hits
from karat.extensions.judges.sources import folder_code
from karat.formats import read_dataset, write
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.judgments import JudgmentRecord, judgments_of, with_judgments
from tests.extensions.judges.fake_model import FakeModel, parts

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
# The answer to every query is in lines 50 to 53.
CODE = "".join(f"answer {n}\n" if 50 <= n <= 53 else f"line {n}\n" for n in range(1, 101))
RUN = Run.of([Answer("q", (Hit("b.py", 3, 1, 2), Hit("a.py", 2, 50, 52), Hit("c.py", 1, 1, 3)))])


def careful(instruction: str, text: str) -> str:
    """Grade 3 if a marked line holds the answer, 0 otherwise; find the answer among all lines."""
    _, passages = parts(text)
    lines = passages[0].split("\n")[1:]
    with_answer = [line for line in lines if "answer" in line]
    is_marked = any(">" in line for line in lines)
    hit = [line for line in with_answer if ">" in line or not is_marked]
    reply: dict[str, object] = {"reason": "Looked for it.", "grade": 3 if hit else 0}
    if "first_line" in instruction:
        numbers = [int(line.split()[0]) for line in with_answer] or [0]
        reply |= {"first_line": numbers[0], "last_line": numbers[-1]}
    return json.dumps(reply)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    queries = [
        Query(
            "q",
            "where is the answer",
            (
                Target("a.py", 3.0, 45, 60),
                Target("a.py", 2.0, 10, 12),
                Target("a.py", 0.0, 80, 82),
                Target("gone.py", 1.0, 1, 2),
            ),
        )
    ]
    write(Dataset.of(queries, match="lines"), tmp_path / "gold.json")
    (tmp_path / "a.py").write_text(CODE)
    (tmp_path / "b.py").write_text("nothing\n\n")
    (tmp_path / "c.py").write_text("an answer\nis\nhere\n")
    return tmp_path / "gold.json"


Audited = Callable[..., AuditResult]


@pytest.fixture
def audited(gold: Path) -> Audited:
    """Return a function that audits the gold set with the given models."""

    def call(*models: FakeModel, **options: object) -> AuditResult:
        data = read_dataset(gold)
        code = folder_code(str(gold.parent))
        hits = pooled_hits(data, {"run": RUN}, depth=10, judged=True)
        targets, _ = target_passages(data, code, hits)
        passages, _ = passages_of(data, unjudged(data, hits), code)
        named = {model.name: model for model in models}
        grading = GradingOptions(**options)  # type: ignore[arg-type]
        return LabelAudit(data, named, targets, passages, options=grading).run()

    return call


def brief(rows: list[AuditRow] | object) -> list[tuple[str, str, int, float]]:
    assert isinstance(rows, list)
    return [(r.problem, r.target.path, r.target.start_line, round(r.size, 2)) for r in rows]


def test_doubtful_labels_are_listed_by_size(audited: Audited, gold: Path) -> None:
    before = gold.read_bytes()
    result = audited(FakeModel(careful))
    assert brief(result.rows) == [
        ("missing", "c.py", 1, 3.0),
        ("grade", "a.py", 10, 2.0),
        ("range", "a.py", 45, 0.75),
    ]
    missing, grade, lines = result.rows
    assert missing.suggested == Target("c.py", 3.0, 1, 3)
    assert math.isnan(missing.target.grade)
    assert grade.suggested.grade == 0
    assert (lines.suggested.start_line, lines.suggested.end_line) == (50, 53)
    assert (result.checked, result.left, result.spends["fake"].requests) == (5, 0, 5)
    assert gold.read_bytes() == before


def test_no_range_is_suggested_for_a_label_without_relevance(audited: Audited) -> None:
    reply = {"reason": "x", "grade": 0, "first_line": 50, "last_line": 52}
    rows = audited(FakeModel(lambda *_: json.dumps(reply))).rows
    assert {row.problem for row in rows} == {"grade"}


def test_a_range_must_be_in_the_source(audited: Audited) -> None:
    def wild(first: int, last: int) -> FakeModel:
        reply = {"reason": "x", "grade": 3, "first_line": first, "last_line": last}
        return FakeModel(lambda *_: json.dumps(reply))

    def ranges(first: int, last: int) -> int:
        return sum(row.problem == "range" for row in audited(wild(first, last)).rows)

    assert [ranges(500, 600), ranges(0, 0)] == [0, 0]
    # Nearly the label of 45 to 60; the label of 80 to 82 is not relevant and stays.
    assert ranges(46, 60) == 0
    assert ranges(50, 52) == 1


@pytest.mark.parametrize(
    "lines", ['"first_line": 9, "last_line": 3', '"first_line": -1, "last_line": 3', '"x": 1']
)
def test_an_invalid_range_is_asked_for_again(audited: Audited, lines: str) -> None:
    model = FakeModel(lambda *_: f'{{"reason": "x", "grade": 1, {lines}}}')
    result = audited(model)
    assert [each.reason for each in result.invalid] == [
        '"first_line" and "last_line" are not a range of lines'
    ] * 3
    assert len(model.prompts) == 3 * 2 + 2


def test_models_vote(audited: Audited) -> None:
    kind = FakeModel(
        lambda *_: '{"reason": "k", "grade": 3, "first_line": 0, "last_line": 0}', name="kind"
    )
    alone = audited(kind).rows
    assert ("missing", "b.py", 1, 3.0) in brief(alone)
    both = audited(kind, FakeModel(careful)).rows
    assert ("missing", "b.py", 1, 3.0) not in brief(both)
    assert both[0].models == "kind 3, fake 3"


def test_failures_and_the_limit_are_counted(audited: Audited) -> None:
    def broken(_instruction: str, _text: str) -> str:
        raise EngineError("no")

    result = audited(FakeModel(broken))
    assert (len(result.failed), result.checked, result.rows) == (5, 0, [])
    stopped = audited(FakeModel(careful), max_cost=0.0)
    assert (stopped.left, stopped.checked) == (5, 0)


def test_labels_without_text_are_listed(gold: Path, tmp_path: Path) -> None:
    data = read_dataset(gold)
    _, skipped = target_passages(data, folder_code(str(gold.parent)))
    assert [each.target.path for each in skipped] == ["gone.py"]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match=r"none of the 4 labels has a text.*--corpus DIR"):
        target_passages(data, folder_code(str(empty)))


def test_whole_files_are_shown_where_a_run_or_a_symbol_points(tmp_path: Path) -> None:
    long = "".join(f"line {n} {'x' * 60}\n" for n in range(1, 500))
    (tmp_path / "a.py").write_text(long.replace("line 400 ", "def run(): "))
    queries = [
        Query("q", "x", (Target("a.py"),)),
        Query("r", "x", (Target("a.py", symbol="App.run"),)),
    ]
    data = Dataset.of(queries)
    run = Run.of([Answer("q", (Hit("a.py", 1.0, 300, 301),))])
    hits = pooled_hits(data, {"run": run}, depth=5, judged=True)
    passages, _ = target_passages(data, folder_code(str(tmp_path)), hits)
    assert "line 300 " in passages[0].task.passage
    assert "def run()" in passages[1].task.passage
    no = FakeModel(lambda *_: '{"reason": "No.", "grade": 0}')
    rows = LabelAudit(data, {"no": no}, passages, [], options=GradingOptions()).run().rows
    assert all(row.reason.startswith("(model saw lines ") for row in rows)


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_a_file_holds_all_that_a_decision_needs(
    audited: Audited, tmp_path: Path, ending: str
) -> None:
    rows = audited(FakeModel(careful)).rows
    path = tmp_path / f"audit.{ending}"
    write_audit(rows, path)
    back = read_audit(path)
    assert [replace(row, size=0.0, target=Target("")) for row in rows] == [
        replace(row, target=Target("")) for row in back
    ]
    assert [str(row.target) for row in rows] == [str(row.target) for row in back]


def test_a_bad_file_is_refused_with_all_problems(audited: Audited, tmp_path: Path) -> None:
    path = tmp_path / "audit.csv"
    write_audit([replace(row, decision="yes") for row in audited(FakeModel(careful)).rows], path)
    with pytest.raises(FormatError) as caught:
        read_audit(path)
    said = "decision 'yes' is not accept, keep, skip or a grade such as 2 (and on 2 more lines)"
    assert said in str(caught.value)
    path.write_text("query,path\nq,a.py\n")
    with pytest.raises(FormatError, match="no column 'problem'"):
        read_audit(path)
    other = tmp_path / "audit.json"
    for text in ("{}", "[", '{"rows": 3}'):
        other.write_text(text)
        with pytest.raises(FormatError, match="not an audit"):
            read_audit(other)
    with pytest.raises(InputError, match=r"\.csv or \.json"):
        write_audit([], tmp_path / "audit.txt")


def targets(gold: Path) -> list[tuple[str, float, int, int]]:
    (query,) = read_dataset(gold).queries()
    return [(t.path, t.grade, t.start_line, t.end_line) for t in query.targets]


def decide(gold: Path, rows: list[AuditRow]) -> tuple[int, int]:
    """Return how many decisions changed something, and how many did not fit."""
    decisions = AuditDecisions(read_dataset(gold), gold, judge="ann", clock=lambda: NOW)
    changed, stale, _ = decisions.apply(rows)
    return changed, len(stale)


def test_accepted_suggestions_become_targets_with_a_record(audited: Audited, gold: Path) -> None:
    rows = [replace(row, decision="accept") for row in audited(FakeModel(careful)).rows]
    assert decide(gold, rows) == (3, 0)
    assert targets(gold) == [
        ("a.py", 3.0, 50, 53),
        ("a.py", 0.0, 10, 12),
        ("a.py", 0.0, 80, 82),
        ("gone.py", 1.0, 1, 2),
        ("c.py", 3.0, 1, 3),
    ]
    (query,) = read_dataset(gold).queries()
    records = judgments_of(query)
    assert {(record.judge, record.at) for record in records} == {("ann", "2026-01-02T03:04:05Z")}
    assert [record.note for record in records] == [
        "audit: added; fake 3: Looked for it.",
        "audit: was grade 2, lines 10-12; fake 0: Looked for it.",
        "audit: was grade 3, lines 45-60; fake 3: Looked for it.",
    ]
    # Applied twice, nothing happens, and nothing is doubtful any more.
    before = gold.read_bytes()
    assert decide(gold, rows) == (0, 0)
    assert gold.read_bytes() == before
    assert audited(FakeModel(careful)).rows == []


def test_a_person_may_keep_a_label_or_grade_it(audited: Audited, gold: Path) -> None:
    missing, grade, lines = audited(FakeModel(careful)).rows
    before = targets(gold)
    unchanged = gold.read_bytes()
    kept_rows = [replace(row, decision="keep") for row in (missing, grade, lines)]
    assert [decide(gold, kept_rows), decide(gold, kept_rows)] == [(3, 0), (0, 0)]
    # A hit that does not become a target is not relevant.
    assert targets(gold) == [*before, ("c.py", 0.0, 1, 3)]
    (query,) = read_dataset(gold).queries()
    assert [record.note.split(";")[0] for record in judgments_of(query)] == [
        "audit: not relevant",
        *["audit: confirmed"] * 2,
    ]
    # What a person decided is not asked for again.
    assert audited(FakeModel(careful)).rows == []
    gold.write_bytes(unchanged)
    assert decide(gold, [replace(missing, decision="1")]) == (1, 0)
    assert targets(gold)[-1] == ("c.py", 1.0, 1, 3)
    # The label is not what the audit found any more.
    assert decide(gold, [replace(missing, decision="2")]) == (0, 1)
    assert decide(gold, [replace(grade, target=Target("a.py", 1.0, 10, 12), decision="0")]) == (
        0,
        1,
    )


def test_a_grade_and_a_range_of_one_target_can_both_be_accepted(gold: Path) -> None:
    old = Target("a.py", 2.0, 10, 12)
    row = AuditRow("q", "", "grade", old, 1, old._replace(grade=1.0), "why", "m 1", 1.0, "accept")
    moved = replace(row, problem="range", suggested=old._replace(start_line=11, end_line=20))
    # In any order; and applied again, nothing happens.
    assert decide(gold, [moved, row]) == (2, 0)
    assert targets(gold)[1] == ("a.py", 1.0, 11, 20)
    assert decide(gold, [row, moved]) == (0, 0)
    assert targets(gold)[1] == ("a.py", 1.0, 11, 20)
    assert decide(gold, [replace(row, query_id="unknown")]) == (0, 1)


def test_a_changed_label_replaces_the_older_judgment(gold: Path) -> None:
    data = read_dataset(gold)
    old = Target("a.py", 2.0, 10, 12)
    bob = JudgmentRecord(old, "bob", "2025-01-01T00:00:00Z", "fine")
    other = bob._replace(target=Target("a.py", 3.0, 45, 60))
    write(data.with_queries([with_judgments(q, [bob, other]) for q in data.queries()]), gold)
    row = AuditRow("q", "", "grade", old, 0, old._replace(grade=0.0), "why", "m 0", 2.0, "accept")
    assert decide(gold, [row]) == (1, 0)
    (query,) = read_dataset(gold).queries()
    judgments, new = judgments_of(query)
    assert judgments == other
    assert (new.target.grade, new.judge) == (0, "ann")
    assert new.note == "audit: was grade 2, lines 10-12 by bob; m 0: why"


def test_a_set_of_two_grades_is_audited_by_relevance(gold: Path) -> None:
    queries = [Query("q", "x", (Target("a.py"), Target("b.py", 0.0)))]
    data = Dataset.of(queries)
    passages, _ = target_passages(data, folder_code(str(gold.parent)))
    for grade, expected in ((0, [("a.py", 0.0)]), (1, [("a.py", 0.0)]), (2, [("b.py", 1.0)])):
        model = FakeModel(lambda *_, g=grade: f'{{"reason": "x", "grade": {g}}}')
        rows = LabelAudit(data, {"m": model}, passages, [], options=GradingOptions()).run().rows
        assert [(row.target.path, row.suggested.grade) for row in rows] == expected
