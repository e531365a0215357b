"""The file: one HTML document, nothing from elsewhere, nothing of the data taken for markup."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from karat.model import Dataset, Query, Target
from karat.model.timings import RunResult
from karat.report.findings import Findings
from karat.report.page.file import report_html

Make = Callable[..., Findings]
MakeRun = Callable[..., RunResult]
Embedded = Callable[[str], dict[str, Any]]

SOURCES = {"src", "href", "action", "data", "poster", "srcset", "background"}


class Read(HTMLParser):
    """The elements, addresses and title of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.addresses: list[str] = []
        self.open: list[str] = []
        self.title = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in SOURCES]
        if tag not in ("meta", "input", "br", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in SOURCES]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "title":
            self.title += data


@pytest.fixture(scope="module")
def page(findings: Findings) -> str:
    return report_html(findings)


def test_the_page_is_well_formed_and_asks_for_nothing(page: str) -> None:
    read = Read(page)
    assert read.open == []
    assert read.addresses == []
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style
    assert not re.search(r"url\(|@import", style[1])


def test_the_title_is_that_of_the_data_or_the_one_that_was_given(findings: Findings) -> None:
    assert Read(report_html(findings)).title == "small: old, new"
    named = report_html(replace(findings, title="Search <2027>"))
    assert Read(named).title == "Search <2027>"
    index = re.search(r'id="karat-index">(.*?)</script>', named)
    assert index
    assert json.loads(index[1])["title"] == "Search <2027>"


def test_the_same_findings_make_the_same_bytes(findings: Findings, page: str) -> None:
    assert report_html(findings) == page


def test_every_query_and_every_run_is_inside(page: str, embedded: Embedded) -> None:
    kinds = [re.sub(r"^/benchmarks/[^/]*", "", key) for key in embedded(page)]
    assert {f"/queries/q{number}" for number in range(1, 5)} <= set(kinds)
    assert "/comparison?baseline=run.2&metric=recall@10" in kinds
    assert "/slices?by=category&metric=hit@5" in kinds
    assert "/runs/run.2/queries?page=1&per_page=100" in kinds


def test_hostile_text_stays_text(hostile: Findings, embedded: Embedded) -> None:
    page = report_html(hostile)
    read = Read(page)
    assert read.open == []
    assert read.names.count("img") == 0
    blocks = len(re.findall('id="karat-block-', page))
    # The index, the blocks and the one script of the page.
    assert read.names.count("script") == blocks + 2
    (results,) = (each for key, each in embedded(page).items() if key.endswith("/results"))
    assert results["runs"][0]["name"].startswith("</script><script>")


def test_a_warning_where_inputs_differ(make: Make, run: MakeRun, embedded: Embedded) -> None:
    runs = [
        run(name, {"q1": ("a.py",)}, None, {"snapshot": snapshot})
        for name, snapshot in (("a", "parent"), ("b", "head"))
    ]
    documents = embedded(report_html(make(runs)))
    (details,) = (each for key, each in documents.items() if key.endswith("/details"))
    assert details["not_comparable"] == ["the snapshot differs: parent (a); head (b)"]


def large(make: Make, run: MakeRun, *, queries: int, runs: int) -> str:
    """Return the report on runs of ten hits that differ from each other."""
    ids = [f"q{number:03}" for number in range(queries)]
    text = "where is the handler of a request that has expired before its answer came back "
    gold = Dataset.of(
        [
            Query(query, f"{text * 2}{number}", (Target(f"src/{query}.py"),), {"half": query[-1]})
            for number, query in enumerate(ids)
        ]
    )
    made = [
        run(
            f"run{number}",
            {
                query: [
                    f"src/package/module_{(index * 7 + row * (number + 3)) % 900}.py"
                    for index in range(10)
                ]
                for row, query in enumerate(ids)
            },
            dict.fromkeys(ids, 1.5),
        )
        for number in range(runs)
    ]
    return report_html(make(made, gold=gold, draws=99))


def test_70_queries_and_4_runs_stay_below_a_megabyte(make: Make, run: MakeRun) -> None:
    assert len(large(make, run, queries=70, runs=4).encode()) < 1_000_000


@pytest.mark.parametrize("runs", [10, 14])
def test_every_run_can_be_the_baseline(
    make: Make, run: MakeRun, embedded: Embedded, runs: int
) -> None:
    documents = embedded(large(make, run, queries=12, runs=runs))

    def baselines(metric: str) -> set[str]:
        keys = [
            key for key in documents if "/comparison?" in key and key.endswith(f"metric={metric}")
        ]
        return {key.partition("baseline=")[2].partition("&")[0] for key in keys}

    every = {f"run.{number}" for number in range(1, runs + 1)}
    assert baselines("mrr@10") == every
    # Of many runs the other measures have the baseline of the report and the best run: here one.
    assert baselines("recall@10") == (every if runs <= 12 else {"run.1"})


def test_measures_are_shown_as_they_were_typed(
    make: Make, findings: Findings, embedded: Embedded
) -> None:
    typed = make(findings.runs, measures=("RR@10", "R@10", "MAP"))
    documents = embedded(report_html(typed))
    (results,) = (document for key, document in documents.items() if key.endswith("/results"))
    assert results["labels"] == {"mrr@10": "RR@10", "recall@10": "R@10", "ap": "MAP"}
    assert results["primary_metric"] == "mrr@10"
    assert set(results["runs"][0]["metrics_flat"]) == set(results["labels"])
    metrics = {document["metric"] for document in documents.values() if "metric" in document}
    assert metrics == set(results["labels"])
    (details,) = (document for key, document in documents.items() if key.endswith("/details"))
    assert details["change_of"] == "mrr@10"
    assert {"name": "Measures", "text": "RR@10, R@10, MAP"} in details["method"]
    headlines = [document["headline"] for document in documents.values() if "headline" in document]
    assert all("mrr" not in text and "recall" not in text for text in headlines)
