"""Charts as SVG: valid XML whose shapes are at the positions of the values."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.report.charts import COLOURS, Chart, Series, charts
from karat.report.draw import draw
from karat.report.findings import Findings
from karat.report.svg import svg, ticks

NAMESPACE = "{http://www.w3.org/2000/svg}"
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


def shapes(text: str, kind: str) -> list[ET.Element]:
    return list(ET.fromstring(text).iter(f"{NAMESPACE}{kind}"))  # noqa: S314 - ours


def texts(text: str) -> list[str]:
    return [each.text or "" for each in shapes(text, "text")]


def test_every_chart_of_a_report(findings: Findings) -> None:
    for name, chart in charts(findings):
        text = svg(chart)
        assert text == svg(chart)
        written = texts(text)
        assert {chart.title, chart.x_label} <= {*written}, name
        assert set(chart.legend) <= {*written}
    written = texts(draw(findings, "query_scores.svg"))
    assert "Score of each query" in written
    # Any other name is that of the means.
    assert "Measures" in texts(draw(findings, "results/april.svg"))


def test_a_chart_without_data_is_an_error(alone: Findings) -> None:
    with pytest.raises(InputError, match=r"no data for the chart query_differences"):
        draw(alone, "query_differences.svg")


def test_bars_have_the_lengths_of_their_values() -> None:
    series = (Series("a", (0.5, 1.0), spans=((0.25, 0.75), (0.9, 1.0))), Series("b", (0.25, 0.0)))
    text = svg(Chart("bars", "Means", "mean", "", series, ("ndcg", "mrr")))
    bars = [each for each in shapes(text, "rect") if each.find(f"{NAMESPACE}title") is not None]
    widths = [float(each.get("width") or 0) for each in bars]
    # In rows: ndcg of a and b, then mrr of a and b.
    assert widths == pytest.approx([widths[2] / 2, widths[2] / 4, widths[2], 0], abs=0.1)
    assert [each.get("fill") for each in bars] == [COLOURS[0], COLOURS[1]] * 2
    titles = [each.findtext(f"{NAMESPACE}title") for each in bars]
    assert titles == ["a: 0.5", "b: 0.25", "a: 1", "b: 0"]
    lines = [
        (float(each.get("x1") or 0), float(each.get("x2") or 0))
        for each in shapes(text, "line")
        if each.get("stroke") == "#1c2126" and each.get("y1") == each.get("y2")
    ]
    # The interval of 0.25 to 0.75 is as long as the bar of 0.5.
    assert lines[0][1] - lines[0][0] == pytest.approx(widths[0], abs=0.1)


def test_higher_values_are_higher() -> None:
    line = Series("a", (3.0, 2.0, 2.0, 2.0, 1.0), (1.0, 2.0, 3.0, 4.0, 5.0))
    (path,) = shapes(svg(Chart("lines", "", "x", "y", (line,), from_zero=True)), "polyline")
    points = [tuple(map(float, pair.split(","))) for pair in (path.get("points") or "").split()]
    # The middle one of three equal values says nothing.
    assert len(points) == 4
    heights = [y for _, y in points]
    assert heights == sorted(heights)
    assert heights[1] - heights[0] == pytest.approx(heights[3] - heights[2], abs=0.2)


def test_names_of_runs_are_text() -> None:
    hostile = '<script>\x1b[31m & "x"'
    chart = Chart("points", hostile, "", "", (Series(hostile, (1.0,), (1.0,)),))
    text = svg(chart)
    assert "<script>" not in text
    assert "\x1b" not in text
    assert any("<script>" in each for each in texts(text))


def test_long_names_and_many_runs_fit() -> None:
    series = tuple(Series("engine " * 20 + str(number), (1.0,), (1.0,)) for number in range(12))
    text = svg(Chart("points", "t" * 300, "x", "y" * 300, series))
    assert max(map(len, texts(text))) < 100
    root = ET.fromstring(text)  # noqa: S314 - ours
    lowest = max(float(each.get("y") or 0) for each in shapes(text, "text"))
    assert lowest < float(root.get("height") or 0)


@given(NUMBERS, st.floats(1e-6, 1e6))
def test_ticks_are_round_and_inside(low: float, width: float) -> None:
    high = low + width
    if high <= low:
        return
    found = ticks(low, high)
    # A float has 16 digits, so that a small range far from 0 has rounded ends.
    step = width * 1e-6 + abs(low) * 1e-15
    assert all(low - step <= each <= high + step for each in found)
    assert len(found) <= 12


@given(st.lists(NUMBERS, min_size=1, max_size=5))
def test_any_values_can_be_drawn(values: list[float]) -> None:
    xs = tuple(map(float, range(len(values))))
    columns = Chart("columns", "", "", "", (Series("a", tuple(values), xs),))
    for chart in (columns, replace(columns, kind="lines"), replace(columns, kind="points")):
        assert "nan" not in svg(chart)
    bars = Chart("bars", "", "", "", (Series("a", tuple(values)),), tuple(map(str, xs)))
    assert len(shapes(svg(bars), "svg")) == 1
