"""The pieces that charts are drawn from."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from karat.model.timings import Measured
from karat.report.findings import Curve, Findings
from karat.report.findings.pareto import Point
from karat.report.html.colours import colours
from karat.report.html.heatmap import shade
from karat.report.html.lines import curve_lines
from karat.report.html.markup import Markup, joined, tag
from karat.report.html.scale import Scale, decades, nice
from karat.report.html.scatter import scatter

SIZES = st.floats(1e-6, 1e9)


def test_text_is_escaped_and_markup_is_not() -> None:
    assert tag("p", "<b>", Markup("<i></i>")) == "<p>&lt;b&gt;<i></i></p>"
    assert tag("a", title='"><script>', data_x="a\x00") == (
        '<a title="&quot;&gt;&lt;script&gt;" data-x="a\\x00"></a>'
    )
    assert joined("&", Markup("&amp;")) == "&amp;&amp;"
    assert tag("input", hidden=True, value=None) == "<input hidden>"


@given(SIZES)
def test_nice_ticks_begin_at_0_and_reach_the_highest(high: float) -> None:
    ticks = nice(high)
    assert ticks[0] == 0
    assert ticks[-1] >= high * (1 - 1e-9)
    assert ticks[-2] < high * (1 + 1e-9)
    assert 3 <= len(ticks) <= 6


def test_nothing_above_0_still_has_an_axis() -> None:
    assert nice(0.0) == [0.0, 1.0]
    assert decades([]) == [1.0, 2.0]


@given(st.lists(SIZES, min_size=1))
@example([999999999.9999999])
@example([1000000000.0000001])
def test_decades_hold_every_value(values: list[float]) -> None:
    ticks = decades(values)
    assert ticks == sorted(set(ticks))
    assert len(ticks) >= 2
    assert ticks[0] <= min(values) * (1 + 1e-6)
    assert ticks[-1] >= max(values) * (1 - 1e-6)


@given(SIZES, st.floats(1.001, 1e6), st.booleans())
def test_a_scale_keeps_its_ends(low: float, times: float, log: bool) -> None:
    scale = Scale(low, low * times, 10.0, 90.0, log=log)
    assert scale(low) == pytest.approx(10.0)
    assert scale(low * times) == pytest.approx(90.0)


@given(st.floats(0, 1))
def test_a_shade_for_every_score(score: float) -> None:
    assert shade(score, 1.0) in {"h0", "h1", "h2", "h3", "h4", "h5"}


def test_of_many_runs_the_baseline_and_the_best_have_colours(
    make: Callable[..., Findings], run: Callable[..., Measured]
) -> None:
    # Each run finds the target one rank higher than the one before it.
    runs = [
        run(f"r{n}", {"q2": (*(f"x{place}" for place in range(9 - n)), "c.py")}) for n in range(10)
    ]
    classes = colours(make(runs, measures=("mrr",)))
    assert (classes[0], classes[9], classes[8]) == ("c0", "c1", "c2")
    assert classes[1:3] == ("cx", "cx")


def test_names_do_not_lie_on_each_other() -> None:
    points = [Point(0, f"run{n}", 10.0, 0.5 + n / 1000, None, None, n == 8) for n in range(9)]
    drawn = scatter(points, ["c0"], "ndcg@10")
    assert "run8" in drawn.replace('data-tip="run8', "")
    named = [n for n in range(9) if f">run{n}<" in drawn]
    assert 1 <= len(named) < 9


def test_a_curve_skips_what_is_not_known() -> None:
    curve = Curve("ndcg", (1, 5), ((0.5, float("nan")), (float("nan"),) * 2))
    drawn = curve_lines(curve, ["c0", "cx"], ["a", "b"])
    assert drawn.count("data-tip") == 1
