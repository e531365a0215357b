"""The page as text: one file, nothing from elsewhere, nothing of the data taken for markup."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from karat.model import Dataset, Query, Target
from karat.model.timings import Measured
from karat.report.findings import Findings
from karat.report.html import render
from karat.report.html.data import packed

Make = Callable[..., Findings]
MakeRun = Callable[..., Measured]

SOURCES = {"src", "href", "action", "data", "poster", "srcset", "background"}


class Read(HTMLParser):
    """The elements and addresses of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.addresses: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in SOURCES]
        if tag not in ("meta", "input", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def data_of(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, object] = json.loads(found[1])
    return data


@pytest.fixture(scope="module")
def page(findings: Findings) -> str:
    return render(findings)


def test_the_page_is_well_formed_and_asks_for_nothing(page: str) -> None:
    read = Read(page)
    assert read.open == []
    assert all(address.startswith("#") for address in read.addresses)
    assert "url(" not in page
    assert "@import" not in page
    assert "http" not in re.sub(r"http-equiv", "", page)


def test_every_part_is_there(page: str) -> None:
    for section in ("leaderboard", "charts", "queries", "slices", "lost", "latency", "method"):
        assert f'<section id="{section}"' in page
    titles = re.findall(r"<h3>(.*?)</h3>", page)
    assert titles == [
        *("mrr@10", "recall@10", "hit@5"),
        "Change of mrr@10 per query: new against old",
        "mrr@10 of every query",
        "Quality against latency",
        *("mrr against k", "recall against k", "hit against k"),
        "Rank of the first relevant hit",
        "mrr@10 by category",
        "Share of queries answered within a time",
    ]
    assert "Not comparable" not in page


def test_one_run_without_times(alone: Findings) -> None:
    page = render(alone)
    assert Read(page).open == []
    assert "No run has latencies: not measured." in page
    assert "against" not in re.findall(r'id="charts".*?</section>', page)[0].replace(
        "against k", ""
    )
    assert 'class="advice"' not in page


def test_the_same_findings_make_the_same_bytes(findings: Findings, page: str) -> None:
    assert render(findings) == page


def test_a_warning_where_inputs_differ(make: Make, run: MakeRun) -> None:
    runs = [
        run(name, {"q1": ("a.py",)}, None, {"snapshot": snapshot})
        for name, snapshot in (("a", "parent"), ("b", "head"))
    ]
    page = render(make(runs))
    assert "Not comparable" in page
    assert "the snapshot differs: parent (a); head (b)" in page


def test_hostile_text_stays_text(hostile: Findings) -> None:
    page = render(hostile)
    read = Read(page)
    assert read.open == []
    assert read.names.count("script") == 2
    assert "img" not in read.names
    assert "onerror" not in read.attributes
    assert "\x00" not in page
    assert "\u202e" not in page
    texts = data_of(page)["texts"]
    assert isinstance(texts, list)
    assert texts[0].startswith("</script><script>")
    assert texts[1] == "zero \\x00 byte"
    assert "שלום עולם" in texts[2]
    assert texts[4] == "two\nlines & <b>bold</b> \n end"


def test_packed_data_by_hand(findings: Findings) -> None:
    data = packed(findings, highest=1.0)
    assert data["scores"][0] == [[500, 1000, 0, 0], [1000, 500, 1000, 0]]  # type: ignore[index]
    assert data["statuses"] == ["0002", "0000"]
    assert data["found"][1] == [(1, 2), (2,), (1,), (0,)]  # type: ignore[index]
    assert data["matched"][0][:2] == [".0.1", "0"]  # type: ignore[index]
    assert data["order"] == [0, 1, 2, 3]
    assert data["falls"] == {"1": (2, 0, 3, 1)}
    places = data["places"]
    assert isinstance(places, list)
    assert [places[number] for number in data["hits"][1][1]] == ["z.py", "c.py"]  # type: ignore[index]


def test_lines_and_symbols_are_packed(make: Make, run: MakeRun) -> None:
    gold = Dataset.of([Query("q1", "", (Target("a.rs", 1, 5, 9, "f"),))], match="lines")
    found = run("one", {"q1": ("x",)})
    (answer,) = found.run.answers()
    hit = answer.hits[0]._replace(path="a.rs", start_line=1, end_line=6, symbol="g")
    lined = type(found.run).of([answer._replace(hits=(hit,))])
    measured = Measured(lined, None, "", "one")
    data = packed(make([measured], gold=gold), highest=1.0)
    assert data["lines"] is True
    assert data["hits"] == [[[0, 1, 6]]]
    assert (data["places"], data["targets"]) == (["a.rs g"], [[["a.rs:5-9 f", 1.0, 1]]])


def test_250_queries_and_5_runs_are_small(make: Make, run: MakeRun) -> None:
    ids = [f"q{number:03}" for number in range(250)]
    text = "where is the handler of a request that has expired before its answer came back "
    gold = Dataset.of([Query(query, text * 2, (Target(f"src/{query}.py"),)) for query in ids])
    runs = [
        run(
            f"run{number}",
            {
                query: [f"src/package/module_{(place * number) % 900}.py" for place in range(99)]
                for query in ids
            },
            dict.fromkeys(ids, 1.5),
        )
        for number in range(5)
    ]
    assert len(render(make(runs, gold=gold, draws=99)).encode()) < 2_000_000
