"""A thousand queries in fifty runs: only what is in view is in the document."""

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect

if TYPE_CHECKING:
    import httpx
    from playwright.sync_api import Page

Open = Callable[..., "Page"]

QUERIES, RUNS = 1_000, 50


@pytest.fixture
def large(opened: Open, api: "httpx.Client", prepared: tuple[str, ...]) -> Callable[[str], "Page"]:
    """Return what opens a page of the benchmark as if it had very many queries and runs."""
    benchmark = prepared[-1]
    results: dict[str, Any] = api.get(f"/benchmarks/{benchmark}/results").json()
    first = results["runs"][0]
    runs = [{**first, "id": f"large.{n}", "name": f"run {n}", "run_order": n} for n in range(RUNS)]
    chance = Random(1)
    matrix = {
        "metric": "ndcg@10",
        "queries": [f"q{n}" for n in range(QUERIES)],
        "texts": [f"query number {n}" for n in range(QUERIES)],
        "runs": [run["id"] for run in runs],
        "values": [[round(chance.random(), 3) for _ in runs] for _ in range(QUERIES)],
    }

    def show(path: str) -> "Page":
        page = opened("/datasets")
        given = {"results": {**results, "runs": runs}, "matrix?metric=ndcg%4010": matrix}
        for name, answer in given.items():
            page.route(f"**/{name}", lambda route, _, answer=answer: route.fulfill(json=answer))
        page.goto(page.url.replace("/datasets", f"/benchmarks/{benchmark}{path}"))
        return page

    return show


def test_of_many_queries_only_those_in_view_are_rows(large: Callable[[str], "Page"]) -> None:
    page = large("/compare?tab=queries")
    table = page.get_by_role("region", name="Queries")
    expect(table.locator("tbody tr[data-index='0']")).to_be_visible()
    assert table.locator("tbody tr").count() < 100
    table.evaluate("table => { table.scrollTop = table.scrollHeight }")
    expect(table.locator(f"tbody tr[data-index='{QUERIES - 1}']")).to_be_visible()
    assert table.locator("tbody tr").count() < 100


def test_every_cell_of_the_heat_map_can_be_reached(large: Callable[[str], "Page"]) -> None:
    page = large("?tab=heat&order=dataset")
    cells = page.get_by_role("application")
    expect(cells).to_be_visible()
    assert page.evaluate("document.querySelectorAll('*').length") < 1_000
    cells.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(page.get_by_text("run 1: 0.")).to_contain_text("query number 2")
    box = cells.bounding_box()
    assert box
    cells.hover(position={"x": box["width"] - 1, "y": box["height"] - 1})
    expect(page.get_by_role("tooltip")).to_contain_text(f"query number {QUERIES - 1}")
    expect(page.get_by_role("tooltip")).to_contain_text(f"run {RUNS - 1}")
