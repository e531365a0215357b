"""The report in a real browser, from disk: silent, self-contained, and it does what it offers."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from karat.model import Dataset, Query, Target
from karat.model.timings import RunResult
from karat.report.findings import Findings
from karat.report.page.file import report_html
from karat.scoring.loss_reasons import LossReason

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Open = Callable[..., "Page"]

AXE = Path(__file__).resolve().parents[3] / "ui" / "node_modules" / "axe-core" / "axe.min.js"
# The last three are practices that axe recommends, or tries out.
RULES = """{
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
    rules: {
        'label-content-name-mismatch': { enabled: true },
        'heading-order': { enabled: true },
        'landmark-unique': { enabled: true },
    },
}"""
SECTIONS = ["Runs", "Queries", "Heat map", "By tag", "Latency and cost", "Method"]
PATIENCE_S = 60


@pytest.fixture
def opened(browser: "Browser", tmp_path: Path) -> Iterator[Open]:
    """Return what opens a report; at the end no page may have complained or asked for anything."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE_S * 1000)
    noise: list[str] = []
    asked: list[str] = []
    contexts = []

    def show(
        findings: Findings, *, width: int = 1280, scheme: str = "light", at: str = ""
    ) -> "Page":
        path = tmp_path / "report.html"
        path.write_text(report_html(findings), encoding="utf-8")
        context = browser.new_context(
            color_scheme=scheme,  # type: ignore[arg-type]
            viewport={"width": width, "height": 900},
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri() + at)
        page.locator("h1").wait_for()
        return page

    yield show
    for context in contexts:
        context.close()
    assert noise == []
    assert [url for url in asked if not url.startswith("file:")] == []
    assert len(asked) == len(contexts)


def headers(page: "Page", table: str) -> list[str]:
    """Return the first cells of the rows of a table."""
    rows = page.get_by_role("region", name=table, exact=True).locator("tbody th")
    rows.first.wait_for()
    return rows.all_inner_texts()


def test_the_page_tells_what_it_found(opened: Open, findings: Findings) -> None:
    page = opened(findings)
    assert page.title() == "small: old, new"
    assert page.locator("h1").inner_text() == "small"
    page.locator("footer").wait_for()
    bold = page.locator(".verdict strong").inner_text()
    assert bold == (
        "No significant difference between new and old on mrr@10 (+0.250 [-1.000, 1.000], "
        "p = 0.750), recall@10 and hit@5."
    )
    assert page.get_by_text("No significant difference").count() == 1
    assert page.locator("section.part > h2").all_inner_texts() == SECTIONS
    names = page.get_by_role("region", name="Runs", exact=True).locator("tbody th a")
    assert names.all_inner_texts() == ["new", "old"]
    figures = page.locator("figure h2").all_inner_texts()
    assert figures == [
        "Mean mrr@10",
        "Why targets were lost",
        "mrr@10 against latency",
        "mrr at different k",
        "Rank of the first relevant hit",
        "mrr@10 of every query in every run",
        "Share of queries answered within a time",
    ]


def test_a_given_title_is_the_heading(opened: Open, findings: Findings) -> None:
    page = opened(replace(findings, title="Search, winter"))
    assert page.locator("h1").inner_text() == "Search, winter"
    page.locator("footer").wait_for()
    assert page.title() == "Search, winter"


def test_every_section_is_reached_and_begins_in_view(opened: Open, findings: Findings) -> None:
    page = opened(findings)
    for name in SECTIONS:
        page.get_by_role("navigation", name="Sections").get_by_role("button", name=name).click()
        heading = page.locator("section.part > h2").get_by_text(name, exact=True)
        box = heading.bounding_box()
        bars = page.locator(".contents").bounding_box()
        assert box
        assert bars
        # Below what stays on top, and within the window.
        assert bars["y"] + bars["height"] <= box["y"] + 1, name
        assert box["y"] + box["height"] <= 900, name


def test_every_link_leads_somewhere(opened: Open, findings: Findings) -> None:
    page = opened(findings)
    page.locator("footer").wait_for()
    start = page.url.partition("#")[0]
    todo, seen = {"#/"}, set()
    while todo:
        link = todo.pop()
        seen.add(link)
        page.goto(start + link)
        page.locator("h1").wait_for()
        page.wait_for_load_state("networkidle")
        assert page.get_by_text("Page not found").count() == 0, link
        assert page.get_by_role("alert").count() == 0, link
        links = page.locator("a[href]").evaluate_all("all => all.map(a => a.getAttribute('href'))")
        assert all(each.startswith("#/") for each in links), links
        todo |= {each.partition("?")[0] for each in links} - seen
    assert seen >= {"#/", "#/compare", "#/runs/run.1", "#/queries/q1", "#/queries/q4"}


def test_a_query_opens_by_keyboard_and_the_way_back_works(opened: Open, findings: Findings) -> None:
    page = opened(findings)
    page.get_by_role("link", name="log in").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="log in").wait_for()
    assert page.url.endswith("#/queries/q1")
    targets = page.get_by_role("region", name="Relevant targets").locator("tbody td .gain")
    assert targets.all_inner_texts() == ["rank 2", "rank 1", "rank 4", "rank 2"]
    old = page.get_by_role("list", name="Hits of old").locator("button")
    assert old.count() == 4
    old.nth(1).click()
    chosen = page.get_by_role("region", name="Selected hit")
    assert "a.py" in chosen.inner_text()
    assert "grade 2" in chosen.inner_text()
    page.go_back()
    page.locator("footer").wait_for()


def test_what_was_lost_is_told_with_its_reason(opened: Open, findings: Findings) -> None:
    lost = {(0, 2, 0): LossReason.RERANKER, (1, 3, 0): LossReason.NO_CHUNK}
    page = opened(replace(findings, losses=lost), at="#/queries/q3")
    missed = page.get_by_role("region", name="Relevant targets").locator("tbody .loss")
    missed.first.wait_for()
    assert missed.all_inner_texts() == ["rank 13\nmoved down by the reranker"]
    page.goto(page.url.replace("q3", "q4"))
    page.get_by_role("heading", name="why").wait_for()
    assert missed.all_inner_texts() == [
        "not found\nquery not answered",
        "not found\nin no chunk",
    ]
    assert page.get_by_text("old: the query failed.").count() == 1


def test_queries_are_found_filtered_and_sorted(opened: Open, findings: Findings) -> None:
    page = opened(findings)

    def ids() -> list[str]:
        return [each.split("\n")[-1] for each in headers(page, "All queries")]

    assert ids() == ["q4", "q3", "q1", "q2"]
    page.get_by_label("Find").fill("LOG out")
    assert ids() == ["q2"]
    page.get_by_label("Find").fill("")
    page.locator("#queries").get_by_label("Tag").select_option(label="category: idea")
    assert ids() == ["q4", "q3"]
    page.get_by_role("region", name="All queries").get_by_role("button", name="Spread").click()
    assert ids() == ["q3", "q4"]


def test_charts_tell_and_lead_to_queries(opened: Open, findings: Findings) -> None:
    page = opened(findings, at="#/compare?tab=queries")
    fall = page.get_by_role("img", name="Change of mrr@10, new against old")
    box = fall.bounding_box()
    assert box
    # The first bar is the query that gained most.
    x, y = box["x"] + box["width"] * 0.1, box["y"] + box["height"] * 0.3
    page.mouse.move(x, y)
    assert page.get_by_role("tooltip").inner_text() == "who am I\n+1.000"
    page.mouse.click(x, y)
    page.get_by_role("heading", name="who am I").wait_for()
    assert page.url.endswith("#/queries/q3?left=run.1&right=run.2")


def test_the_baseline_can_be_changed(opened: Open, findings: Findings) -> None:
    page = opened(findings, at="#/compare")
    page.get_by_role("combobox", name="Baseline").select_option(label="new")
    page.get_by_role("cell", name="\u22120.250").wait_for()
    page.get_by_role("button", name="2 regressed in old").click()
    page.get_by_role("heading", name="Change of mrr@10, old against new").wait_for()
    assert sorted(headers(page, "Queries")) == ["log in", "who am I"]


def test_hostile_text_is_harmless(opened: Open, hostile: Findings) -> None:
    page = opened(hostile)
    page.locator("footer").wait_for()
    links = page.get_by_role("region", name="All queries").locator("tbody th a")
    links.first.wait_for()
    addresses = [link.get_attribute("href") for link in links.all()]
    assert len(addresses) == 5
    start = page.url.partition("#")[0]
    for address in addresses:
        page.goto(f"{start}{address}")
        page.get_by_role("heading", name="All runs on this query").wait_for()
        assert page.title() != "taken"
        assert page.locator("img").count() == 0
        # Nothing makes the page wider than its window, long words included.
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_one_run_alone(opened: Open, alone: Findings) -> None:
    page = opened(alone)
    page.locator("footer").wait_for()
    assert page.get_by_text("★").count() == 0
    assert page.get_by_role("link", name="Compare runs").count() == 0
    assert page.locator(".verdict").count() == 0
    page.get_by_role("region", name="All queries").locator("tbody th a").first.click()
    assert page.get_by_role("list", name="Hits of").count() <= 1


@pytest.fixture(scope="session")
def axe(missing: Callable[[str], NoReturn]) -> str:
    """Return the script of axe, which knows the rules of WCAG."""
    if not AXE.exists():
        missing("the packages of ui/: make ui/node_modules/.ready")
    return AXE.read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_every_page_fits_its_window_and_can_be_read_by_all(
    opened: Open, findings: Findings, axe: str, width: int, scheme: str
) -> None:
    page = opened(findings, width=width, scheme=scheme)
    page.locator("footer").wait_for()
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 23, 29)"}[scheme]
    start = page.url.partition("#")[0]
    for at in ("#/", "#/compare", "#/compare?tab=queries", "#/queries/q1", "#/runs/run.1"):
        page.goto(start + at)
        page.locator("h1").wait_for()
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, at
        page.evaluate(axe)
        audit = page.evaluate(f"axe.run({RULES})")
        assert [rule["id"] for rule in audit["violations"]] == [], at


@pytest.mark.parametrize("width", [390, 1280])
def test_long_names_are_wrapped_and_whole(
    opened: Open, make: Callable[..., Findings], run: Callable[..., RunResult], width: int
) -> None:
    names = [f"hybrid(model=granite, rrf_k={k}, dense_weight=0.85) reranked" for k in (10, 60)]
    page = opened(make([run(name, {"q1": ("a.py",)}) for name in names]), width=width)
    labels = page.locator("#runs figure").first.locator("svg g text:first-of-type")
    texts = ["".join(each.split()) for each in labels.all_text_contents()]
    assert {"".join(name.split()) for name in names} <= set(texts)
    start = page.url.partition("#")[0]
    for at in ("#/", "#/compare", "#/compare?tab=queries", "#/queries/q1", "#/runs/run.1"):
        page.goto(start + at)
        page.locator("h1").wait_for()
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, at


def test_the_header_of_a_long_table_stays_in_view(
    opened: Open, make: Callable[..., Findings], run: Callable[..., RunResult]
) -> None:
    gold = Dataset.of([Query(f"q{n}", f"text {n}", (Target("a.py"),)) for n in range(300)])
    page = opened(make([run("one", {"q1": ("a.py",)})], gold=gold, draws=99))
    table = page.get_by_role("region", name="All queries")
    table.locator("tbody tr[data-index='0']").wait_for()
    # Of many queries only those in view are in the document.
    assert table.locator("tbody tr").count() < 100
    table.evaluate("table => { table.scrollTop = table.scrollHeight }")
    table.locator("tbody tr[data-index='299']").wait_for()
    head, box = table.locator("thead th").first.bounding_box(), table.bounding_box()
    assert head
    assert box
    assert abs(head["y"] - box["y"]) < 3


@pytest.mark.parametrize("width", [390, 1280])
def test_charts_fit_their_cards(opened: Open, findings: Findings, width: int) -> None:
    page = opened(findings, width=width)
    page.locator("footer").wait_for()
    figures = page.locator("figure")
    wide = figures.evaluate_all("all => all.map(one => one.scrollWidth - one.clientWidth)")
    assert wide == [0] * figures.count()
    drawings = page.locator("figure > svg.chart")
    scales = drawings.evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().width / one.viewBox.baseVal.width)"
    )
    assert len(scales) == 6
    # Text keeps its size on a narrow window, and no chart is blown up on a wide one.
    assert all(0.99 <= scale <= 1.3 for scale in scales)
    # Charts beside each other end at one height.
    boxes = figures.evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(({top, bottom}) => [top, bottom])"
    )
    for top, bottom in boxes:
        assert {other for start, other in boxes if start == top} == {bottom}


def test_the_heat_map_prints_in_light_colours(opened: Open, findings: Findings) -> None:
    page = opened(findings, scheme="dark")
    canvas = page.locator(".heat canvas")
    canvas.wait_for()
    # The colour of the last cell: on paper the map has another width.
    drawn = "one => one.getContext('2d').fillStyle"
    dark = canvas.evaluate(drawn)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    light = canvas.evaluate(drawn)
    assert light != dark
    assert light == opened(findings).locator(".heat canvas").evaluate(drawn)
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert canvas.evaluate(drawn) == dark
    page.emulate_media(media="print", color_scheme="dark")
    is_light = f"light => ({drawn})(document.querySelector('.heat canvas')) === light"
    page.wait_for_function(is_light, arg=light)


def test_the_report_prints_as_a_whole(opened: Open, findings: Findings) -> None:
    page = opened(findings)
    page.locator("footer").wait_for()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator(".bar").is_visible()
    assert not page.locator(".contents").is_visible()
    for name in SECTIONS:
        assert page.locator("section.part > h2").get_by_text(name, exact=True).is_visible()
    # A sheet of paper does not scroll; A4 is 718 pixels wide.
    page.set_viewport_size({"width": 540, "height": 764})
    widths = page.locator(".scroll").evaluate_all("all => all.map(one => one.scrollWidth)")
    assert max(widths) <= 540
    assert page.pdf().startswith(b"%PDF")
