"""The synthetic agent, read from every format: calls, tokens, seconds and money are exact."""

import json
from math import isnan
from pathlib import Path

import pytest

from karat.extensions.trace.join import join
from karat.extensions.trace.measures import progress, until
from karat.extensions.trace.reading import read_transcripts
from karat.extensions.trace.steps import steps_of
from karat.formats import read_dataset
from tests.extensions.trace.agents import ALL, FIRST, GOLD, TURNS, WITHOUT, WRITERS, spent


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_numbers(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / "runs", TURNS)
    (tmp_path / "gold.json").write_text(json.dumps(GOLD))
    gold = read_dataset(tmp_path / "gold.json")
    read = read_transcripts(tmp_path / "runs")
    assert list(read.readers) == [name]
    assert not read.problems
    (transcript,) = read.transcripts
    assert [row for _, row in join(read.transcripts, gold).pairs] == [0]
    kinds = [step.kind.name for step in steps_of(transcript)]
    assert kinds == ["SEARCHED", "LISTED", "SHOWN", "SHOWN", "SHOWN", "OTHER"]
    known = progress(transcript, gold.targets(0))
    assert list(known.recall) == [0, 0, 0, 0.5, 1, 1]
    assert known.line_recall == pytest.approx((0, 0, 0, 2 / 6, 4 / 6, 4 / 6))
    assert list(known.edited) == ["src/login.py"]
    without = WITHOUT.get(name, set())
    for calls, all_targets in ((FIRST, False), (ALL, True)):
        tokens, cost, seconds = spent(calls)
        expected = {"calls": float(calls), "tokens": tokens, "cost": cost, "seconds": seconds}
        for resource, value in expected.items():
            got = until(known, resource, all_targets=all_targets, lines=False)
            assert got == (None if resource in without else pytest.approx(value)), resource
    tokens, cost, seconds = spent(len(TURNS))
    for resource, value in {"tokens": tokens, "cost": cost, "seconds": seconds}.items():
        total = known.totals[resource]
        assert total == pytest.approx(value) or (isnan(total) and resource in without), resource
