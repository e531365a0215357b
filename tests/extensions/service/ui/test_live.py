"""A running benchmark on the page: it moves, outlives a reload and a lost connection, and ends."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PART = re.compile(r"[1-9]\d* of \d+ queries")

Open = Callable[..., "Page"]


def progress(page: "Page") -> "Locator":
    return page.get_by_role("region", name="Progress")


def test_it_can_be_watched_by_two_and_cancelled_by_one(opened: Open, running: str) -> None:
    mine, theirs = (opened(f"/benchmarks/{running}") for _ in range(2))
    for page in (mine, theirs):
        expect(progress(page)).to_contain_text(PART)
    mine.get_by_role("button", name="Cancel").click()
    for page in (mine, theirs):
        page.get_by_text("cancelled", exact=True).first.wait_for()
        expect(progress(page)).to_have_count(0)
        page.get_by_role("button", name="Continue").wait_for()


def test_a_reload_shows_how_far_it_is(opened: Open, running: str) -> None:
    page = opened(f"/benchmarks/{running}")
    expect(progress(page)).to_contain_text(PART)
    page.reload()
    expect(progress(page)).to_contain_text("live")
    expect(progress(page)).to_contain_text(PART)


def test_a_lost_connection_is_told_and_comes_back(opened: Open, running: str) -> None:
    page = opened("/benchmarks", lossy=True)
    page.route("**/events", lambda route: route.abort())
    page.goto(page.url.replace("/benchmarks", f"/benchmarks/{running}"))
    expect(progress(page)).to_contain_text("connection lost, trying again")
    page.unroute("**/events")
    expect(progress(page)).to_contain_text("live")
    expect(progress(page)).to_contain_text(PART)
