"""The data of charts: what each of them says about the runs."""

from math import isnan

from karat.report.charts import BETTER, CHARTS, EQUAL, WORSE, Chart, charts, differences
from karat.report.findings import Findings


def chart(findings: Findings, name: str) -> Chart:
    made = CHARTS[name](findings)
    assert made is not None
    return made


def test_the_measures_are_those_that_were_asked_for(findings: Findings) -> None:
    comparison = findings.contest.comparison
    drawn = [name for name in comparison.metrics if name not in comparison.lower_is_better]
    made = chart(findings, "measures")
    assert list(made.categories) == drawn
    for one in made.series:
        means = [comparison.mean(one.name, name) for name in drawn]
        assert list(one.values) == [mean.mean for mean in means]
        assert list(one.spans) == [(each.interval.low, each.interval.high) for each in means]


def test_one_line_per_run_shows_its_queries(findings: Findings) -> None:
    lines = chart(findings, "query_scores").series
    assert tuple(one.name for one in lines) == findings.names
    for run, one in enumerate(lines):
        scores = [score for score in findings.scores(run) if not isnan(score)]
        assert list(one.values) == sorted(scores, reverse=True)
        assert list(one.xs) == list(range(1, len(scores) + 1))


def test_every_query_is_in_one_bin(findings: Findings) -> None:
    for name, rows in (
        ("f1_distribution", findings.f1),
        ("latency_distribution", [(10.0,) * 3, (20.0, 40.0, 30.0, 10.0)]),
    ):
        made = chart(findings, name)
        assert [sum(one.values) for one in made.series] == [len(row) for row in rows]
    made = chart(findings, "latency_distribution")
    # From 10 to 40 ms in ten parts: the last bin includes its end.
    assert made.x_ends == (10.0, 40.0)
    assert list(made.series[0].values) == [3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert list(made.series[1].values) == [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]


def test_runs_by_accuracy_and_latency(findings: Findings) -> None:
    made = chart(findings, "accuracy_vs_latency")
    assert [one.xs for one in made.series] == [(10.0,), (25.0,)]


def test_differences_are_sorted_and_coloured() -> None:
    scores = [[0.5, 1.0, 1.0, float("nan")], [1.0, 1.0, 0.5, 1.0]]
    made = differences(scores, names=("old", "new"), measure="RR", lower=False)
    assert made is not None
    assert made.series[0].values == (0.5, 0.0, -0.5)
    assert made.series[0].colours == (BETTER, EQUAL, WORSE)
    assert made.x_label == "queries: 1 better, 1 equal, 1 worse"
    # Where less is better, a smaller value is better.
    fewer = differences(scores, names=("old", "new"), measure="lines", lower=True)
    assert fewer is not None
    assert fewer.series[0].colours == (WORSE, EQUAL, BETTER)


def test_without_times_only_scores_are_drawn(alone: Findings) -> None:
    names = [name for name, _ in charts(alone)]
    assert names == ["measures", "query_scores", "f1_distribution"]
