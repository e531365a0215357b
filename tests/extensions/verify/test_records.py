"""What a report keeps of its runs comes back as it was."""

import json
from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.experiments.run_records import RunRecord, short_digests
from karat.extensions.verify.records import differing_queries, read_records
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run
from karat.model.spec import Spec
from karat.model.timings import RunResult

GOLD = Dataset.of([Query("a", "x"), Query("b", "y"), Query("c", "z")])


def digests(*answers: Answer) -> str:
    return short_digests(RunResult(Run.of(answers), None, "", "bm25"), GOLD)


def test_an_answer_is_what_came_back() -> None:
    hits = (Hit("a.py", 0.5), Hit("b.py", 0.25))
    before = digests(Answer("a", hits), Answer("b", hits))
    again = digests(Answer("b", hits, latency_ns=7, extra={"x": 1}), Answer("a", hits))
    assert differing_queries(before, again, GOLD) == []
    turned = digests(Answer("a", hits[::-1]), Answer("b", hits), Answer("c"))
    assert differing_queries(before, turned, GOLD) == ["a", "c"]
    failed = digests(Answer("a", hits), Answer("b", outcome=Outcome.ERROR))
    assert differing_queries(before, failed, GOLD) == ["b"]


def record() -> RunRecord:
    return RunRecord(
        name="bm25",
        engine=Spec("engine", "bm25", {"k1": "1.2", "over": {"engine": "dense"}}),
        k=10,
        threshold=0.5,
        seed=3,
        match="exact",
        root="",
        gold="ab" * 32,
        snapshot="cd" * 32,
        where={"corpus": "docs", "repositories": {}},
        versions={"karat": "1.0"},
        answers=digests(Answer("a")),
    )


@pytest.mark.parametrize("name", ["report.json", "report.html"])
def test_a_record_comes_back(tmp_path: Path, name: str) -> None:
    records = json.dumps([record().to_json()])
    text = f'{{"origin": {{"records": {records}}}}}'
    if name.endswith(".html"):
        text = f'<p><script type="application/json" id="records">{records}</script></p>'
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_records(tmp_path / name) == (record(),)


def test_every_problem_is_told(tmp_path: Path) -> None:
    broken = record().to_json() | {"k": 0, "name": "", "engine": {"name": "bm25"}}
    (tmp_path / "report.json").write_text(json.dumps({"origin": {"records": [broken]}}))
    with pytest.raises(FormatError) as caught:
        read_records(tmp_path / "report.json")
    assert len(caught.value.problems) == 3
