"""A small report whose every number can be worked out by hand."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from karat.app.report import report
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run, Target
from karat.model.timings import LatencySample, RunResult, Timings
from karat.report.findings import Findings, Origin
from karat.scoring.settings import Confidence, Scoring

Ranking = Sequence[str] | None
Make = Callable[..., Findings]

GOLD = Dataset.of(
    [
        Query("q1", "log in", (Target("a.py", 2), Target("b.py", 1)), {"category": "task"}),
        Query("q2", "log out", (Target("c.py"),), {"category": "task"}),
        Query("q3", "who am I", (Target("d.py"),), {"category": "idea"}),
        Query("q4", "why", (Target("e.py"),), {"category": "idea"}),
    ],
    name="small",
)
# None is an error. The target of q3 stands at rank 13 in `old`.
OLD: Mapping[str, Ranking] = {
    "q1": ("x.py", "a.py", "y.py", "b.py"),
    "q2": ("c.py",),
    "q3": (*(f"n{number}.py" for number in range(12)), "d.py"),
    "q4": None,
}
NEW: Mapping[str, Ranking] = {
    "q1": ("a.py", "b.py"),
    "q2": ("z.py", "c.py"),
    "q3": ("d.py",),
    "q4": ("x.py",),
}
ORIGIN = Origin("2026-01-02 03:04 UTC", "1.2.3", "3.11.7", "Linux", "d1", ("r1", "r2"))


def measured(
    name: str,
    rankings: Mapping[str, Ranking],
    milliseconds: Mapping[str, float] | None = None,
    metadata: Mapping[str, object] | None = None,
) -> RunResult:
    """Return a run of *rankings*, timed where *milliseconds* are given."""
    answers = [
        Answer(query, outcome=Outcome.ERROR)
        if ranking is None
        else Answer(query, tuple(Hit(path) for path in ranking))
        for query, ranking in rankings.items()
    ]
    timings = None
    if milliseconds is not None:
        samples = tuple(
            LatencySample(query, int(2e6 * time), (int(1e6 * time),))
            for query, time in milliseconds.items()
        )
        timings = Timings(samples, 3_000_000_000, 1 << 20, 2 << 20, 1, 2, alone=True)
    return RunResult(Run.of(answers, name=name, metadata=metadata), timings, "", name)


@pytest.fixture(scope="session")
def make() -> Make:
    """Return what makes findings of measured runs, on GOLD unless told."""

    def made(
        runs: Sequence[RunResult],
        *,
        gold: Dataset = GOLD,
        measures: tuple[str, ...] = ("mrr@10", "recall@10", "hit@5"),
        by: Sequence[str] | None = None,
        draws: int = 199,
        cluster: str | None = None,
    ) -> Findings:
        return report(
            gold,
            runs,
            origin=Origin(*_but_runs(ORIGIN), ("",) * len(runs)),
            scoring=Scoring(measures),
            confidence=Confidence(draws=draws, cluster=cluster),
            by=by,
        )

    return made


def _but_runs(origin: Origin) -> tuple[str, str, str, str, str]:
    return origin.made_at, origin.version, origin.python, origin.platform, origin.gold_digest


@pytest.fixture(scope="session")
def run() -> Callable[..., RunResult]:
    """Return what makes a measured run."""
    return measured


@pytest.fixture(scope="session")
def findings(make: Make) -> Findings:
    """Return `new` against `old`, both timed."""
    return make(
        [
            measured("old", OLD, {"q1": 10.0, "q2": 10.0, "q3": 10.0}),
            measured("new", NEW, {"q1": 20.0, "q2": 40.0, "q3": 30.0, "q4": 10.0}),
        ]
    )


@pytest.fixture(scope="session")
def alone(make: Make) -> Findings:
    """Return one run that nobody timed."""
    return make([measured("old", OLD)])
