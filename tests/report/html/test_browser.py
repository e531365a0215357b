"""The page in a real browser: silent, self-contained, and it does what it offers."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.fate import Fate
from karat.model.timings import Measured
from karat.report.findings import Findings
from karat.report.html import render

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Open = Callable[..., "Page"]


@pytest.fixture
def opened(browser: "Browser", tmp_path: Path) -> Iterator[Open]:
    """Return what opens a report; at the end no page may have complained or asked for anything."""
    noise: list[str] = []
    asked: list[str] = []
    contexts = []

    def show(
        findings: Findings, *, width: int = 1280, scheme: str = "light", at: str = ""
    ) -> "Page":
        place = tmp_path / "report.html"
        place.write_text(render(findings), encoding="utf-8")
        context = browser.new_context(
            color_scheme=scheme,  # type: ignore[arg-type]
            viewport={"width": width, "height": 900},
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(place.as_uri() + at)
        return page

    yield show
    for context in contexts:
        context.close()
    assert noise == []
    assert [url for url in asked if not url.startswith("file:")] == []
    assert len(asked) == len(contexts)


def test_the_page_tells_what_it_found(opened: Open, findings: Findings) -> None:
    page = opened(findings)
    assert page.title() == "small: old, new"
    assert page.locator("#count").inner_text().startswith("4 of 4 queries.")
    row = page.locator("#explorer tbody tr").first
    assert row.locator("td").all_inner_texts() == ["0.500", "1.000", "+0.500"]


def test_a_query_opens_by_keyboard(opened: Open, findings: Findings) -> None:
    page = opened(findings)
    button = page.locator(".open").first
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    detail = page.locator(".detail")
    # Both targets of q1, in `old` and in `new`.
    assert detail.locator(".found").all_inner_texts() == ["rank 2", "rank 1", "rank 4", "rank 2"]
    old, new = detail.locator(".hits").all()
    assert old.locator(".move").all_inner_texts() == ["gone", "→ 1", "gone", "→ 2"]
    assert new.locator(".move").all_inner_texts() == ["↑ 1", "↑ 2"]
    assert new.locator(".hit .place").all_inner_texts() == ["a.py ✓", "b.py ✓"]
    page.keyboard.press("Enter")
    assert detail.count() == 0


def test_what_was_lost_is_told_where(opened: Open, findings: Findings) -> None:
    page = opened(findings)
    page.locator(".open").nth(2).click()
    assert page.locator(".detail .missed").all_inner_texts() == ["rank 13, below 10"]
    page.locator(".open").nth(3).click()
    missed = page.locator(".detail").nth(1).locator("table .missed")
    assert missed.all_inner_texts() == ["error", "not in 1 hit"]


def test_a_known_reason_is_told_beside_the_rank(opened: Open, findings: Findings) -> None:
    lost = {(0, 2, 0): Fate.RERANKER, (1, 3, 0): Fate.NO_CHUNK}
    page = opened(replace(findings, losses=lost))
    page.locator(".open").nth(2).click()
    page.locator(".open").nth(3).click()
    assert page.locator(".detail table .missed").all_inner_texts() == [
        "rank 13, below 10: moved down by the reranker",
        "error",
        "not in 1 hit: in no chunk",
    ]


def test_queries_are_found_filtered_and_sorted(opened: Open, findings: Findings) -> None:
    page = opened(findings)
    ids = page.locator("#explorer .id")
    page.get_by_label("Find").fill("LOG out")
    assert ids.all_inner_texts() == ["q2"]
    page.get_by_label("Find").fill("d.py")
    assert ids.all_inner_texts() == ["q3"]
    page.get_by_label("Find").fill("")
    page.get_by_label("Show").select_option("worse")
    assert ids.all_inner_texts() == ["q2"]
    page.get_by_label("Show").select_option("all")
    page.get_by_label("Sort").select_option("better")
    assert ids.all_inner_texts() == ["q3", "q1", "q4", "q2"]
    page.get_by_label("Tag").select_option(label="category: idea")
    assert ids.all_inner_texts() == ["q3", "q4"]


def test_the_leaderboard_sorts(opened: Open, findings: Findings) -> None:
    page = opened(findings)
    names = page.locator(".board tbody bdi")
    head = page.locator(".board thead th").nth(1)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert names.all_inner_texts() == ["new", "old"]
    head.get_by_role("button").click()
    assert names.all_inner_texts() == ["old", "new"]


def test_charts_tell_and_lead_to_queries(opened: Open, findings: Findings) -> None:
    page = opened(findings)
    fall = page.locator("[data-waterfall]")
    fall.scroll_into_view_if_needed()
    box = fall.bounding_box()
    assert box
    # The first bar is the query that gained most.
    x, y = box["x"] + box["width"] * 0.15, box["y"] + box["height"] * 0.4
    page.mouse.move(x, y)
    assert page.locator("#tip").inner_text() == "q3: +1.000 · who am I"
    page.mouse.click(x, y)
    assert page.locator(".detail").count() == 1
    assert page.url.endswith("#query=q3")


def test_a_link_opens_its_query(opened: Open, findings: Findings) -> None:
    page = opened(findings, at="#query=q2")
    assert page.locator(".open[aria-expanded=true] .id").all_inner_texts() == ["q2"]


def test_hostile_text_is_harmless(opened: Open, hostile: Findings) -> None:
    page = opened(hostile)
    for button in page.locator(".open").all():
        button.click()
    assert page.locator(".detail").count() == 5
    assert page.title() != "taken"
    assert page.locator("img").count() == 0
    assert page.locator("body script").count() == 2
    # Nothing makes the page wider than its window, long words included.
    assert page.evaluate("document.documentElement.scrollWidth") == 1280


def test_one_run_alone(opened: Open, alone: Findings) -> None:
    page = opened(alone)
    page.locator(".open").first.click()
    assert page.locator(".hits").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_fits_its_window(
    opened: Open, findings: Findings, width: int, scheme: str
) -> None:
    page = opened(findings, width=width, scheme=scheme)
    page.locator(".open").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 23, 29)"}[scheme]


def test_text_can_be_read_on_its_paper(opened: Open, findings: Findings) -> None:
    """Every text of a chart is at least 9 pixels high where the window is narrow."""
    page = opened(findings, width=400)
    heights = page.locator("svg text").evaluate_all(
        "texts => texts.map(text => text.getBoundingClientRect().height)"
    )
    assert len(heights) > 20
    assert min(heights) >= 9


def test_rows_are_drawn_as_they_are_needed(
    opened: Open, make: Callable[..., Findings], run: Callable[..., Measured]
) -> None:
    gold = Dataset.of([Query(f"q{n}", "text", (Target("a.py"),)) for n in range(300)])
    findings = make([run("one", {"q1": ("a.py",)})], gold=gold, draws=99)
    page = opened(findings)
    rows = page.locator("#explorer tbody tr")
    first = rows.count()
    assert first <= 100
    rows.last.scroll_into_view_if_needed()
    page.wait_for_function(
        "first => document.querySelectorAll('#explorer tbody tr').length > first", arg=first
    )
    linked = opened(findings, at="#query=q280")
    assert linked.locator(".open[aria-expanded=true] .id").inner_text() == "q280"


def found(name: str, *hits: Hit) -> Measured:
    return Measured(Run.of([Answer("q1", hits)], name=name), None, "", name)


def test_what_is_not_shown_is_not_gone(opened: Open, make: Callable[..., Findings]) -> None:
    old = found("old", Hit("late.py", 2.0), Hit("p0.py", 1.0))
    new = found("new", *(Hit(f"p{rank}.py", -rank) for rank in range(10)), Hit("late.py", -10.0))
    gold = Dataset.of([Query("q1", "log in", (Target("p0.py"),))], name="deep")
    page = opened(make([old, new], gold=gold))
    page.locator(".open").first.click()
    moves = page.locator(".detail .hits").first.locator(".move").all_inner_texts()
    assert moves == ["not in first 10", "→ 1"]


@pytest.mark.parametrize(
    ("target", "moves"),
    [(Target("a.py"), ["→ 2", "→ 1", "gone"]), (Target("a.py", 1, 1, 3), ["gone", "gone", "gone"])],
)
def test_another_part_of_a_file_is_the_same_hit_where_files_are_looked_for(
    opened: Open, make: Callable[..., Findings], target: Target, moves: list[str]
) -> None:
    old = found("old", Hit("a.py", 3.0, 1, 3), Hit("b.py", 2.0, 1, 3), Hit("c.py", 1.0, 1, 3))
    new = found("new", Hit("b.py", 3.0, 4, 6), Hit("a.py", 2.0, 4, 6))
    gold = Dataset.of([Query("q1", "log in", (target,))], name="parts")
    page = opened(make([old, new], gold=gold))
    page.locator(".open").first.click()
    assert page.locator(".detail .hits").first.locator(".move").all_inner_texts() == moves
