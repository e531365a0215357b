"""Five runs worked by hand, and the restricted mean by an independent estimator."""

import random
from math import nan
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.extensions.trace.measures import (
    Progress,
    definition,
    horizons,
    progress,
    score,
)
from karat.extensions.trace.record import Call, Step, StepKind, TextRange, Transcript
from karat.model import Target

TARGETS = (
    Target("src/a.py", start_line=10, end_line=19),
    Target("src/b.py", start_line=1, end_line=5),
    Target("src/not.py", grade=0.0),
)


def run(*calls: tuple[Step, float]) -> Progress:
    """Return the progress of a run: steps with the tokens by then; each takes 2 s and 1 cent."""
    steps = tuple(step for step, _ in calls)
    known = tuple(
        Call("bash", at_s=2.0 * number, tokens=tokens, cost=0.01 * number)
        for number, (_, tokens) in enumerate(calls, 1)
    )
    last = known[-1] if known else Call("")
    transcript = Transcript(
        Path("run.json"),
        ("q",),
        known,
        seconds=last.at_s,
        tokens=last.tokens + 100,
        cost=last.cost,
    )
    return progress(transcript, TARGETS, steps)


def shown(path: str, start: int, end: int, read: int) -> Step:
    return Step(StepKind.SHOWN, (TextRange(path, start, end),), read=read)


LIST = Step(StepKind.LISTED, names=("src/a.py", "src/b.py"), read=40)
GREP = Step(
    StepKind.SEARCHED, (TextRange("src/a.py", 12, 12), TextRange("src/c.py", 3, 3)), read=60
)
# 1. A list, another file, half of the first target, all of the second, an edit of the first.
GOOD = run(
    (LIST, 1000),
    (shown("src/c.py", 1, 50, 300), 2000),
    (shown("src/a.py", 10, 14, 100), 4000),
    (shown("src/b.py", 0, 0, 200), 7000),
    (Step(StepKind.OTHER, edited=("src/a.py",), read=10), 9000),
)
# 2. The first call is a search with a line of the first target.
QUICK = run((GREP, 500), (shown("src/a.py", 1, 100, 800), 1500))
# 3. It only lists and reads another file: names are not found.
NEVER = run((LIST, 800), (shown("src/c.py", 0, 0, 500), 3000))
# 4. It gives up at once.
EMPTY = run()
# 5. It reads the judged irrelevant file, then a part of the first file outside the target.
BESIDE = run((shown("src/not.py", 0, 0, 90), 100), (shown("src/a.py", 1, 9, 30), 300))
RUNS = (GOOD, QUICK, NEVER, EMPTY, BESIDE)
# The most that any run has used until it saw what the measure asks for: run 1.
HORIZON = {
    "tokens": 4000.0,
    "all-tokens": 7000.0,
    "read-tokens": 440.0,
    "calls": 3.0,
    "all-calls": 4.0,
    "seconds": 6.0,
    "cost": 0.03,
    "line-calls": 3.0,
}


def test_the_horizon_is_the_most_that_any_run_has_used_until_it_saw_a_target() -> None:
    assert horizons(RUNS, [*HORIZON, "found"], {}) == pytest.approx(HORIZON)
    assert horizons(RUNS, ["all-tokens"], {"tokens": 5000.0}) == {"all-tokens": 5000}
    # Nobody saw one: the most that any run has used in all, 100 tokens after its last call.
    assert horizons([NEVER, EMPTY], ["tokens", "calls"], {}) == {"tokens": 3100, "calls": 2}
    with pytest.raises(InputError, match="no resource is called 'time'"):
        horizons(RUNS, ["calls"], {"time": 1})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("found", (1, 1, 0, 0, 1)),
        ("recall", (1, 0.5, 0, 0, 0.5)),
        ("calls", (3, 1, 3, 3, 2)),
        ("all-calls", (4, 4, 4, 4, 4)),
        ("tokens", (4000, 500, 4000, None, 300)),
        ("all-tokens", (7000, 7000, 7000, None, 7000)),
        ("read-tokens", (440, 60, 440, 440, 120)),
        ("seconds", (6, 2, 6, None, 4)),
        ("cost", (0.03, 0.01, 0.03, None, 0.02)),
        # 15 lines: 5 and then 10 of them; 10 of the first target; none; none; none.
        ("line-recall", (10 / 15, 10 / 15, 0, 0, 0)),
        ("line-found", (1, 1, 0, 0, 0)),
        ("line-calls", (3, 1, 3, 3, 3)),
        ("recall@439tok", (0, 0.5, 0, 0, 0.5)),
        ("recall@440tok", (0.5, 0.5, 0, 0, 0.5)),
        ("recall@1calls", (0, 0.5, 0, 0, 0)),
        ("recall@4calls", (1, 0.5, 0, 0, 0.5)),
        # Of 650 tokens, 300 had text of a target; 860 of 860; 0 of 540; nothing; 30 of 120.
        ("wasted", (350 / 650, 0, 1, None, 90 / 120)),
        # Of the two files seen it changes one; the others change none.
        ("unused", (0.5, None, None, None, None)),
    ],
)
def test_five_runs_by_hand(name: str, expected: tuple[float | None, ...]) -> None:
    for known, value in zip(RUNS, expected, strict=True):
        got = score(name, known, HORIZON)
        assert got == (None if value is None else pytest.approx(value)), name


def test_a_measure_knows_its_range_and_direction() -> None:
    assert definition("tokens", HORIZON).high == 4000
    assert definition("tokens", HORIZON).lower_is_better
    assert definition("found", HORIZON).kind == "binary"
    assert not definition("recall@2000tok", HORIZON).lower_is_better
    with pytest.raises(InputError, match="no measure of transcripts is called 'ndcg@10'"):
        definition("ndcg@10", HORIZON)


def restricted_mean(times: list[float], seen: list[bool], horizon: float) -> float:
    """Return the area below the Kaplan-Meier curve up to *horizon*."""
    area, alive, before = 0.0, 1.0, 0.0
    for time in sorted(set(times)):
        if time > horizon:
            break
        area += alive * (time - before)
        before = time
        at_risk = sum(each >= time for each in times)
        events = sum(each == time and happened for each, happened in zip(times, seen, strict=True))
        alive *= 1 - events / at_risk
    return area + alive * (horizon - before)


def test_the_mean_is_the_restricted_mean_of_runs_that_are_censored_at_the_horizon() -> None:
    rng = random.Random(5)
    for _ in range(20):
        runs = []
        for _ in range(rng.randint(2, 12)):
            length = rng.randint(1, 9)
            at = rng.randint(1, 12)
            steps = [
                shown("src/a.py" if n == at else "x.py", 1, 2, 10) for n in range(1, length + 1)
            ]
            runs.append(run(*((step, 100.0 * n) for n, step in enumerate(steps, 1))))
        horizon = horizons(runs, ["calls"], {})
        values = [score("calls", known, horizon) for known in runs]
        seen = [score("found", known, horizon) == 1 for known in runs]
        mean = sum(value or nan for value in values) / len(values)
        times = [value or nan for value in values]
        assert mean == pytest.approx(restricted_mean(times, seen, horizon["calls"]))
