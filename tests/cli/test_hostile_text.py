"""Query texts, ids and names as they come: nothing is obeyed, and columns stay aligned."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.formats.records import unguard
from karat.report.display import display_width

Karat = Callable[..., CompletedProcess[str]]

TEXTS = {
    "list[int]": "list[int]",
    "[/path] [red]": "[/path] [red]",
    "red \x1b[31mthread\x1b[0m": "red \\x1b[31mthread\\x1b[0m",
    "abc\u202edcba": "abc\\u202edcba",
    "two\nlines\r\tand tabs": "two\\nlines\\r\\tand tabs",
    "検索の品質": "検索の品質",
    "rocket 🚀 science": "rocket 🚀 science",
    "cafe\u0301 | table": "cafe\u0301 | table",
    "=1+2": "=1+2",
    "zero\u200bwidth\u2028line": "zero\\u200bwidth\\u2028line",
    "*bold* _it_ `code` <img src=x> \\": "*bold* _it_ `code` <img src=x> \\",
}


@pytest.fixture
def command(folder: Path) -> tuple[str, ...]:
    """Return a score whose queries are TEXTS and whose tags and ids are as bad."""
    cases = [
        {
            "id": text,
            "query": text,
            "ground_truth_files": ["a.py"],
            "category": text,
        }
        for text in TEXTS
    ]
    (folder / "gold.json").write_text(json.dumps({"test_cases": cases}))
    answers = [{"query_id": text, "hits": [{"path": "a.py"}]} for text in TEXTS]
    header = {"format": "karat-run", "version": 1, "name": "evil"}
    name = "=evil\x1b[31m.jsonl"
    (folder / name).write_text("\n".join(map(json.dumps, [header, *answers])))
    return ("score", "gold.json", name, "-m", "mrr", "--ci", "none")


def test_nothing_reaches_the_terminal_that_it_would_obey(
    karat: Karat, command: tuple[str, ...]
) -> None:
    for style in ((), ("--markdown",)):
        text = karat(*command, "--per-query", "--by", "category", *style).stdout
        assert all(line.isprintable() or "\u0301" in line for line in text.splitlines())
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_every_text_is_shown_and_columns_stay_aligned(
    karat: Karat, command: tuple[str, ...]
) -> None:
    _, _, text = karat(*command, "--per-query").stdout.rpartition("\n\n")
    lines = text.splitlines()
    rows = lines[2:]
    assert len(rows) == len(TEXTS)
    edge = {display_width(line[: line.index("  scored")]) for line in rows}
    assert len(edge) == 1
    for row, text in zip(rows, TEXTS.values(), strict=True):
        assert row.startswith(text)
        assert row.endswith(text)
    assert lines[1].split("  ")[0] == "-" * edge.pop()


def test_csv_is_quoted_and_guarded(karat: Karat, command: tuple[str, ...]) -> None:
    text = karat(*command, "--csv", "--per-query").stdout
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [unguard(row[1]) for row in rows[1:]] == list(TEXTS)
    assert {row[0] for row in rows[1:]} == {"'=evil\x1b[31m"}
    assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for row in rows for cell in row)


def test_markdown_keeps_its_columns(karat: Karat, command: tuple[str, ...]) -> None:
    text = karat(*command, "--per-query", "--markdown").stdout
    rows = text.splitlines()[-len(TEXTS) :]
    for row in rows:
        bars = row.replace("\\\\", "").replace("\\|", "").count("|")
        assert bars == 5
    assert "\\<img src=x\\>" in text


def test_json_keeps_every_text_as_it_is(karat: Karat, command: tuple[str, ...]) -> None:
    queries = json.loads(karat(*command, "--json").stdout)["run"]["queries"]
    assert [query["query_id"] for query in queries] == list(TEXTS)
