"""Every page in a real browser: fit to be read by all, quick, and never taken over by a text."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

Open = Callable[..., "Page"]

AXE = Path(__file__).resolve().parents[4] / "ui" / "node_modules" / "axe-core" / "axe.min.js"
# Labels that leave out what is seen are an experimental rule of axe, the order of headings is a
# practice that it recommends.
RULES = """{
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
    rules: {
        'label-content-name-mismatch': { enabled: true },
        'heading-order': { enabled: true },
        'landmark-unique': { enabled: true },
    },
}"""
PHONE: "ViewportSize" = {"width": 390, "height": 844}
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
BENCHMARK = "/benchmarks/{benchmark}"
PAGES = {
    "/benchmarks": "Benchmarks",
    "/benchmarks/new?dataset={dataset}&collection={collection}": "of at most 50",
    BENCHMARK: "against latency",
    f"{BENCHMARK}?tab=heat": "Heat map",
    f"{BENCHMARK}?tab=slices": "By tag",
    f"{BENCHMARK}?tab=queries": "how do I set up docker",
    f"{BENCHMARK}?tab=cost": "Share of queries answered within a time",
    f"{BENCHMARK}?tab=method": "Notes on each run",
    f"{BENCHMARK}?tab=remarks": "No remarks yet",
    f"{BENCHMARK}/compare": "Improved · regressed · tied",
    f"{BENCHMARK}/compare?tab=queries": "how do I set up docker",
    f"{BENCHMARK}/queries/docker": "All runs on this query",
    f"{BENCHMARK}/queries/hostile": "All runs on this query",
    "/compare?left={benchmark}&right={benchmark}": "comparable",
    "/datasets": "Datasets",
    "/datasets/{dataset}": "how do I set up docker",
    "/datasets/{dataset}?tab=mappings": "docs/renamed.md",
    "/datasets/{dataset}?tab=history": "No grade was changed",
    "/datasets/{dataset}/judge?benchmark={benchmark}": "unjudged hit",
    "/collections": "Handbook",
    "/collections/{collection}": "Try a query",
    "/collections/{collection}?tab=documents": "docs/docker.md",
    "/collections/{collection}?tab=health": "documents in",
    "/trend?dataset={dataset}": "over benchmarks",
    "/datasets?new=1": "Drop a file here",
    "/collections?new=1": "Embedding model",
    "/nowhere": "Page not found",
}


def key(name: str) -> Callable[["Page"], None]:
    """Return what presses a key."""
    return lambda page: page.keyboard.press(name)


def click(name: str) -> Callable[["Page"], None]:
    """Return what clicks the first button of a name."""
    return lambda page: page.get_by_role("button", name=name).first.click()


# What keys and clicks bring up: where, what is done there, and what then is to be seen.
STATES = {
    "palette": ("/benchmarks", key("Control+k"), "Compare two benchmarks"),
    "keys": ("/benchmarks", key("?"), "Undo the last grade"),
    "question": ("/datasets/{dataset}", click("Delete"), "This cannot be undone"),
    "text of a hit": (f"{BENCHMARK}/queries/docker", key("j"), "highly relevant"),
    "hostile text": (f"{BENCHMARK}/queries/hostile", key("j"), "highly relevant"),
    "filter": (f"{BENCHMARK}/compare", click("improved in"), "Filter"),
}


@pytest.fixture(scope="session")
def axe(missing: Callable[[str], NoReturn]) -> str:
    """Return the script of axe, which knows the rules of WCAG."""
    if not AXE.exists():
        missing("the packages of ui/: make ui/node_modules/.ready")
    return AXE.read_text(encoding="utf-8")


def test_a_page_breaks_no_rule_of_wcag(opened: Open, prepared: tuple[str, ...], axe: str) -> None:
    ids = prepared._asdict()  # type: ignore[attr-defined]
    problems: dict[tuple[str, str], list[str]] = {}
    page = opened("/benchmarks")
    page.add_init_script(axe)
    start = page.url.removesuffix("/benchmarks")
    for path, text in PAGES.items():
        page.goto(start + path.format(**ids))
        page.get_by_text(text).first.wait_for()
        problems |= {(path, rule): html for rule, html in violations(page).items()}
    for state, (path, act, text) in STATES.items():
        page.goto(start + path.format(**ids))
        page.wait_for_load_state("networkidle")
        act(page)
        page.get_by_text(text).first.wait_for()
        problems |= {(state, rule): html for rule, html in violations(page).items()}
    assert problems == {}


def violations(page: "Page") -> dict[str, list[str]]:
    """Return the rules that *page* breaks as it is, each with some of what breaks it."""
    page.wait_for_load_state("networkidle")
    assert page.title() != "taken"
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{page.url} is wider than the window"
    rules = page.evaluate(f"axe.run({RULES})")["violations"]
    window = page.viewport_size
    page.set_viewport_size(PHONE)
    rules += page.evaluate("axe.run({ runOnly: { type: 'rule', values: ['target-size'] } })")[
        "violations"
    ]
    if window:
        page.set_viewport_size(window)
    # In the dark nothing but colours changes.
    light = page.evaluate(BACKGROUND)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(BACKGROUND) != light
    dark = page.evaluate("axe.run({ runOnly: { type: 'rule', values: ['color-contrast'] } })")
    page.emulate_media(color_scheme="light")
    broken = [(rule["id"], rule) for rule in rules]
    broken += [(f"{rule['id']} in the dark", rule) for rule in dark["violations"]]
    return {name: [node["html"][:200] for node in rule["nodes"][:3]] for name, rule in broken}


def test_on_a_phone_each_ranking_has_its_run_above_it(
    opened: Open, prepared: tuple[str, ...]
) -> None:
    ids = prepared._asdict()  # type: ignore[attr-defined]
    page = opened(f"{BENCHMARK}/queries/docker".format(**ids))
    lists = page.get_by_role("region", name="Rankings").locator("ol")
    lists.nth(1).wait_for()
    above = "lists => lists.map(one => getComputedStyle(one, '::before').content)"
    assert lists.evaluate_all(above) == ["none", "none"]
    page.set_viewport_size(PHONE)
    names = [f'"{name}"' for name in lists.evaluate_all("all => all.map(one => one.ariaLabel)")]
    assert lists.evaluate_all(above) == names


def test_the_first_page_needs_little_before_it_is_usable(
    opened: Open, prepared: tuple[str, ...]
) -> None:
    page = opened("/benchmarks")
    page.get_by_role("region", name="Benchmarks").wait_for()
    # An answer is listed when it is there, and the list may be shown before the owner is known.
    page.wait_for_function(
        "performance.getEntriesByType('resource').some(one => one.name.includes('/me'))"
    )
    asked = page.evaluate(
        """performance.getEntriesByType("resource").map(one => ({
            path: new URL(one.name).pathname, bytes: one.encodedBodySize,
            sent: one.startTime, received: one.responseEnd }))"""
    )
    # The page names its script, and the script asks at once: no question waits for an answer.
    questions = [one for one in asked if one["path"].startswith("/api/")]
    assert {one["path"] for one in questions} == {"/api/v2/benchmarks", "/api/v2/me"}
    assert max(one["sent"] for one in questions) < min(one["received"] for one in questions)
    assert len(asked) <= 5
    assert 50_000 < sum(one["bytes"] for one in asked) < 200_000
