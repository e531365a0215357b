"""Charts as files."""

import sys
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.errors import InputError, MissingExtra
from karat.report.charts import BETTER, CHARTS, COLOURS, EQUAL, WORSE
from karat.report.figures import draw_chart, write_figures
from karat.report.findings import Findings

PNG = b"\x89PNG\r\n\x1a\n"


NAMES = (
    *("measures", "query_scores", "f1_distribution", "latency_distribution"),
    *("accuracy_vs_latency", "query_differences"),
)


def test_each_chart_is_a_picture(findings: Findings, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = write_figures(findings, tmp_path / "charts")
    assert tuple(CHARTS) == NAMES
    assert [path.name for path in written] == [
        f"{name}.{suffix}" for name in NAMES for suffix in ("svg", "png")
    ]
    for path in written:
        assert path.read_bytes().startswith(PNG if path.suffix == ".png" else b"<svg ")


def test_without_matplotlib_svg_files_are_written(
    findings: Findings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karat.report.figures.find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    written = write_figures(findings, tmp_path)
    assert [path.name for path in written] == [f"{name}.svg" for name in NAMES]


def test_matplotlib_draws_the_same_bars(findings: Findings, axes: Any) -> None:
    chart = CHARTS["measures"](findings)
    assert chart is not None
    draw_chart(axes, chart)
    assert [text.get_text() for text in axes.get_yticklabels()] == list(chart.categories)
    lengths = [value for one in chart.series for value in one.values]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(lengths)


@pytest.mark.parametrize("name", NAMES)
def test_matplotlib_draws_every_kind(findings: Findings, axes: Any, name: str) -> None:
    chart = CHARTS[name](findings)
    assert chart is not None
    draw_chart(axes, chart)
    assert axes.get_title() == chart.title
    assert axes.has_data()


def test_a_file_is_no_folder(alone: Findings, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot create the folder for charts"):
        write_figures(alone, file)


def test_without_matplotlib_a_plot_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    evaluation = karat.evaluate(GOLD, OLD, ["RR"], confidence=None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[charts\]"):
        evaluation.plot()


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
