"""karat report on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]


def test_a_page_is_written(karat: Karat, folder: Path) -> None:
    done = karat("report", "gold.qrels", "old.run", "new.run", "-o", "out.html", "--draws", "99")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "wrote out.html\n"
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "1 query that this gold set does not ask" in page


def test_lines_errors_and_tags(karat: Karat, folder: Path) -> None:
    done = karat("report", "code.csv", "code.jsonl", "-o", "out.json", "--draws", "99")
    assert done.returncode == 0, done.stderr
    data = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert list(data["slices"]) == ["level", "file-type"]
    assert data["targets"]["code"]["unanswered"] == 2


def test_tags_can_be_chosen(karat: Karat, folder: Path) -> None:
    karat("report", "code.csv", "code.jsonl", "-o", "out.json", "--by", "level", "--draws", "99")
    data = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert list(data["slices"]) == ["level"]


def test_charts_are_written(karat: Karat, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    done = karat("report", "gold.qrels", "new.run", "--charts", "figures", "--draws", "99")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (folder / "figures").iterdir()) == [
        "f1_distribution.png",
        "f1_distribution.svg",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "out.pdf"), "out.pdf: no report is written so"),
        ((), "Nothing to write"),
        (("-o", "out.html", "--by", "colour"), "no query is tagged with 'colour'"),
        (("-o", "missing/out.html"), "cannot be written"),
    ],
)
def test_bad_usage(karat: Karat, arguments: tuple[str, ...], message: str) -> None:
    done = karat("report", "gold.qrels", "new.run", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
