"""Grades given on the page count at once, can be taken back, and overwrite nobody's."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect

if TYPE_CHECKING:
    import httpx
    from playwright.sync_api import Page, Route

Open = Callable[..., "Page"]

HIT = "/benchmarks/{}/queries/docker?hit={}"


def first_unjudged(api: "httpx.Client", benchmark: str) -> str:
    """Return the name, in the address of the page, of a hit that nobody has judged."""
    (*_, run) = api.get(f"/benchmarks/{benchmark}/queries/docker").json()["runs"]
    hit = next(hit for hit in run["hits"] if hit["grade"] is None)
    return f"{hit['path']}:{hit['start_line']}-{hit['end_line']}"


def test_a_grade_counts_at_once_and_can_be_undone(
    opened: Open, prepared: tuple[str, ...], api: "httpx.Client"
) -> None:
    *_, dataset, _, benchmark = prepared
    unjudged = first_unjudged(api, benchmark)
    page = opened(HIT.format(benchmark, unjudged))
    hit = page.get_by_role("button", name=unjudged).last
    expect(hit).to_contain_text("not judged")
    expect(page.get_by_role("button", name="highly relevant")).to_be_enabled()
    page.keyboard.press("3")
    expect(hit).to_contain_text("grade 3")
    expect(page.get_by_role("region", name="Relevant targets")).to_contain_text(
        unjudged.split(":")[0]
    )
    page.get_by_role("button", name="undo").click()
    expect(hit).to_contain_text("not judged")
    changes = api.get(f"/benchmark-datasets/{dataset}/judgments/history").json()["changes"]
    assert [(change["before"], change["grade"]) for change in changes[:2]] == [(3, None), (None, 3)]


def test_two_at_once_cannot_overwrite_each_other(
    opened: Open, prepared: tuple[str, ...], api: "httpx.Client"
) -> None:
    benchmark = prepared[-1]
    address = HIT.format(benchmark, first_unjudged(api, benchmark))
    # The browser itself says that a request was refused.
    mine, theirs = opened(address), opened(address, lossy=True)
    for page in (mine, theirs):
        expect(page.get_by_role("button", name="2 relevant")).to_be_enabled()
    mine.keyboard.press("2")
    expect(mine.get_by_role("button", name="2 relevant")).to_have_attribute("aria-pressed", "true")
    theirs.keyboard.press("1")
    expect(theirs.get_by_role("alert")).to_be_visible()
    pressed = theirs.get_by_role("button", name="2 relevant")
    expect(pressed).to_have_attribute("aria-pressed", "true")
    mine.keyboard.press("u")
    expect(mine.get_by_role("button", name="2 relevant")).to_have_attribute("aria-pressed", "false")


def test_what_is_typed_while_a_slow_server_saves_is_not_lost(
    opened: Open, prepared: tuple[str, ...], api: "httpx.Client"
) -> None:
    *_, dataset, _, benchmark = prepared
    judgments = f"/benchmark-datasets/{dataset}/judgments"
    before = api.get(f"/benchmark-datasets/{dataset}").json()["version"]
    page = opened(f"/datasets/{dataset}/judge?benchmark={benchmark}")

    def slowly(route: "Route") -> None:
        page.wait_for_timeout(150)
        route.continue_()

    page.route(f"**{judgments}", slowly)
    hit = page.get_by_role("region", name="Hit to judge")
    expect(hit.get_by_role("button", name="highly relevant")).to_be_enabled()
    expected = api.get(
        f"/benchmark-datasets/{dataset}/unjudged", params={"benchmark": benchmark, "per_page": 10}
    ).json()["hits"]
    typed = "0123012301"
    page.keyboard.type(typed)
    expect(page.get_by_text("grades not saved yet")).to_be_visible()
    expect(page.get_by_text("All grades are saved")).to_be_visible()
    changes = api.get(f"{judgments}/history").json()["changes"][: len(typed)]
    given = [(change["query_id"], change["path"], change["grade"]) for change in changes[::-1]]
    assert given == [
        (hit["query_id"], hit["path"], float(grade))
        for hit, grade in zip(expected, typed, strict=True)
    ]
    for _ in typed:
        api.delete(judgments).raise_for_status()
    assert api.get(f"/benchmark-datasets/{dataset}").json()["version"] == before + 2 * len(typed)
