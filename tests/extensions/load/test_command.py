"""karat load: rates in, waiting times out."""

import json
import re
from pathlib import Path

import pytest

from karat.engines.spec import build
from karat.experiments.workers import announce
from tests.command_line import Karat

GOLD = "query,result1\nwhere is login,auth.py:1-2:2\nsend mail,mail.py:1-2:2\n"


@pytest.fixture(autouse=True)
def tree(folder: Path) -> None:
    project = folder / "tree"
    project.mkdir()
    (project / "auth.py").write_text("def login():\n    pass\n")
    (project / "mail.py").write_text("def send():\n    pass\n")
    (folder / "gold.csv").write_text(GOLD)


def test_each_rate_is_a_row(karat: Karat) -> None:
    done = karat("load", "gold.csv", "tree", "--rate", "20", "--seconds", "0.3")
    assert done.returncode == 0
    assert "bm25 under load" in done.stdout
    assert "measured 20 queries per second" in done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows if len(row) == 7 and row[0].isdigit()] == ["20"]


def test_json_has_every_figure(karat: Karat, folder: Path) -> None:
    rates = ("--rate", "5", "--rate", "50")
    (folder / "tree" / "scan.raw").write_bytes(b"\0")
    done = karat("load", "gold.csv", "tree", *rates, "--seconds", "0.4", "--json")
    assert "skipped 1 file: 1 binary (scan.raw)\n" in done.stderr
    slow, fast = json.loads(done.stdout)
    assert (slow["rate"], fast["rate"]) == (5, 50)
    assert fast["sent"] > slow["sent"]
    assert fast["answered"] == fast["sent"]
    assert fast["p50_ms"] > 0
    # There are not 100 queries.
    assert fast["p99_ms"] is None
    assert not fast["disturbed"]
    assert slow["skipped_files"] == fast["skipped_files"] == {"binary": ["scan.raw"]}
    assert slow["skipped"] == {"binary": 1}


def test_load_beside_another_run(karat: Karat) -> None:
    once = ("load", "gold.csv", "tree", "--rate", "20", "--seconds", "0.2", "--no-wait")
    with announce("sweep"):
        done = karat(*once)
        [point] = json.loads(karat(*once, "--json").stdout)
    assert done.returncode == 0
    assert "disturbed: another karat run was active" in done.stdout
    assert point["disturbed"]


def test_an_engine_for_one_at_a_time_is_refused(karat: Karat) -> None:
    engine = "command(command=cat, output=lines)"
    done = karat("load", "gold.csv", "tree", "-e", engine)
    assert done.returncode == 2
    assert "error:" in done.stderr


def test_the_searches_of_the_examples_are_ones(karat: Karat) -> None:
    examples = re.findall(r'"(http\(.*?\))"', karat("load", "--help").stdout)
    assert examples
    for spec in examples:
        build(spec)


def test_the_engine_needs_its_option(karat: Karat) -> None:
    done = karat("load", "gold.csv", "tree", "bm25", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[:2] == [
        "error: Unexpected bm25: the engine needs --engine; type",
        "  karat load gold.csv tree --engine bm25 --json",
    ]
