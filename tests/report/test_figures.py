"""Charts as files."""

import sys
from math import isnan
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.errors import InputError, MissingExtra
from karat.report.figures import BETTER, CHARTS, COLOURS, EQUAL, WORSE, write_figures
from karat.report.findings import Findings

PNG = b"\x89PNG\r\n\x1a\n"


def test_each_chart_is_a_picture(findings: Findings, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = write_figures(findings, tmp_path / "charts")
    names = [
        *("measures", "query_scores", "f1_distribution", "latency_distribution"),
        *("accuracy_vs_latency", "query_differences"),
    ]
    assert list(CHARTS) == names
    assert [path.name for path in written] == [
        f"{name}.{suffix}" for name in names for suffix in ("png", "svg")
    ]
    for path in written:
        content = path.read_bytes()
        assert content.startswith(PNG if path.suffix == ".png" else b"<?xml")


def test_without_times_only_scores_are_drawn(alone: Findings, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = write_figures(alone, tmp_path)
    assert {path.stem for path in written} == {"measures", "query_scores", "f1_distribution"}


def test_the_measures_are_those_that_were_asked_for(findings: Findings, axes: Any) -> None:
    assert CHARTS["measures"](findings, axes)
    comparison = findings.contest.comparison
    drawn = [name for name in comparison.metrics if name not in comparison.lower_is_better]
    assert [text.get_text() for text in axes.get_yticklabels()] == drawn
    means = [comparison.mean(run, name).mean for run in findings.names for name in drawn]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(means)


def test_one_line_per_run_shows_its_queries(findings: Findings, axes: Any) -> None:
    assert CHARTS["query_scores"](findings, axes)
    assert [line.get_label() for line in axes.lines] == list(findings.names)
    for run, line in enumerate(axes.lines):
        scores = [score for score in findings.scores(run) if not isnan(score)]
        assert list(line.get_ydata()) == sorted(scores, reverse=True)


def test_a_file_is_no_folder(alone: Findings, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot create the folder for charts"):
        write_figures(alone, file)


def test_without_matplotlib_the_extra_is_named(
    alone: Findings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[charts\]"):
        write_figures(alone, tmp_path)


GOLD = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
OLD = {"q1": ["x", "a"], "q2": ["a"], "q3": ["a"]}
NEW = {"q1": ["a"], "q2": ["a"], "q3": ["x", "a"]}


@pytest.fixture
def axes() -> Any:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    return Figure().subplots()


def colours(axes: Any) -> list[str]:
    from matplotlib.colors import to_hex

    return [to_hex(bar.get_facecolor()) for bar in axes.patches]


def test_two_runs_are_drawn_by_their_sorted_differences(axes: Any) -> None:
    drawn = karat.compare(GOLD, {"old": OLD, "new": NEW}, ["RR"]).plot(ax=axes)
    assert drawn is axes
    assert [bar.get_height() for bar in axes.patches] == [0.5, 0.0, -0.5]
    assert colours(axes) == [BETTER, EQUAL, WORSE]
    assert axes.get_xlabel() == "queries: 1 better, 1 equal, 1 worse"
    assert axes.get_ylabel() == "RR, new minus old"


def test_more_runs_are_drawn_by_their_means(axes: Any) -> None:
    contest = karat.compare(GOLD, {"a": OLD, "b": NEW, "c": NEW}, ["RR", "hit@1"])
    contest.plot("hit@1", ax=axes)
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([2 / 3] * 3)
    assert colours(axes) == list(COLOURS[:3])
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]


def test_one_run_is_drawn_by_its_sorted_scores(axes: Any) -> None:
    karat.evaluate(GOLD, OLD, ["RR"], confidence=None).plot(ax=axes)
    (line,) = axes.lines
    assert list(line.get_ydata()) == [1.0, 1.0, 0.5]


def test_means_without_intervals_have_plain_bars(axes: Any) -> None:
    karat.evaluate(GOLD, OLD, ["RR"], confidence=None).plot(kind="means", ax=axes)
    assert len(axes.patches) == 1
    assert not axes.containers[0].errorbar


def test_a_figure_is_made_where_no_axes_are_given() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    axes = karat.evaluate(GOLD, OLD, ["RR"], confidence=None).plot()
    assert axes.figure in map(plt.figure, plt.get_fignums())
    plt.close(axes.figure)


def test_less_may_be_better(axes: Any) -> None:
    gold = karat.Dataset.of([karat.Query("q1", "", (karat.Target("a", 1.0, 1, 9),))], match="lines")
    runs = [
        karat.Run.of([karat.Answer("q1", (karat.Hit("a", 1.0, 1, last),))], name=name)
        for name, last in (("long", 9), ("short", 5))
    ]
    karat.compare(gold, runs, ["lines@10"]).plot(ax=axes)
    assert colours(axes) == [BETTER]


def test_a_plot_that_makes_no_sense_is_an_error(axes: Any) -> None:
    evaluation = karat.evaluate(GOLD, OLD, ["RR"], confidence=None)
    with pytest.raises(InputError, match="no plot 'pie'; expected means, queries, differences"):
        evaluation.plot(kind="pie", ax=axes)
    with pytest.raises(InputError, match="needs two runs"):
        evaluation.plot(kind="differences", ax=axes)
