"""Every page in a real browser: fit to be read by all, quick, and never taken over by a text."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., "Page"]

AXE = Path(__file__).resolve().parents[2] / "ui" / "node_modules" / "axe-core" / "axe.min.js"
BENCHMARK = "/benchmarks/{benchmark}"
PAGES = {
    "/benchmarks": "Benchmarks",
    "/benchmarks/new?dataset={dataset}&collection={collection}": "of at most 50",
    BENCHMARK: "against latency",
    f"{BENCHMARK}?tab=heat": "Heat map",
    f"{BENCHMARK}?tab=slices": "Slices",
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
    "/trend?dataset={dataset}": "over time",
}


@pytest.fixture(scope="session")
def axe(missing: Callable[[str], NoReturn]) -> str:
    """Return the script of axe, which knows the rules of WCAG."""
    if not AXE.exists():
        missing("the packages of ui/: make ui/node_modules/.ready")
    return AXE.read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_breaks_no_rule_of_wcag(
    opened: Open, prepared: tuple[str, ...], axe: str, scheme: str
) -> None:
    ids = prepared._asdict()  # type: ignore[attr-defined]
    found = {}
    page = opened("/benchmarks", scheme=scheme)
    start = page.url.removesuffix("/benchmarks")
    for path, text in PAGES.items():
        page.goto(start + path.format(**ids))
        page.get_by_text(text).first.wait_for()
        page.wait_for_load_state("networkidle")
        assert page.title() != "taken"
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{path} is wider than the window"
        page.evaluate(axe)
        result = page.evaluate("axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa'] })")
        for rule in result["violations"]:
            found[path, rule["id"]] = [node["html"][:200] for node in rule["nodes"][:3]]
    assert found == {}


def test_the_first_page_is_usable_at_once(opened: Open, prepared: tuple[str, ...]) -> None:
    page = opened("/benchmarks")
    page.get_by_role("link", name="New benchmark").wait_for()
    page.reload()
    page.get_by_role("region", name="Benchmarks").wait_for()
    ready = page.evaluate("performance.now()")
    # On two free cores it takes some 200 ms; a machine that tests has other work to do.
    assert ready < 5_000
