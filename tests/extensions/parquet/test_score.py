"""Runs in Parquet on the command line, in one file and in parts."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

pl = pytest.importorskip("polars")

Karat = Callable[..., CompletedProcess[str]]


@pytest.fixture
def parts(karat: Karat) -> list[str]:
    """Write old.run as parts of one Parquet run, cut through a query, and return their names."""
    assert karat("convert", "old.run", "old.parquet").returncode == 0
    Path("parts").mkdir()
    frame = pl.read_parquet("old.parquet")
    names = [f"parts/part-{number}.parquet" for number in range(3)]
    for number, name in enumerate(names):
        frame.slice(number * 2, 2).write_parquet(name)
    return names


@pytest.mark.parametrize("run", ["old.parquet", "parts", "parts/", "parts/*.parquet"])
def test_parquet_in_parts_is_one_run(karat: Karat, parts: list[str], run: str) -> None:
    assert len(parts) == 3
    options = ("-m", "ndcg@10,mrr", "-m", "recall@10", "--ci", "none")
    expected = karat("score", "gold.qrels", "old.run", *options, "--details")
    assert "mrr        0.5000" in expected.stdout
    done = karat("score", "gold.qrels", run, *options, "--details")
    name = "old" if run == "old.parquet" else "parts"
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == re.sub(r"^old\b", name, expected.stdout, flags=re.MULTILINE)


def test_a_pattern_that_the_shell_has_expanded(karat: Karat, parts: list[str]) -> None:
    done = karat("score", "gold.qrels", *parts)
    assert done.returncode == 2
    assert done.stderr == (
        f"error: Unexpected {parts[1]} {parts[2]}: expected one run; quote the pattern of its "
        "parts ('run/*.parquet') or name their folder; for several runs: karat compare GOLD RUN "
        "RUN\nTry 'karat score --help'.\n"
    )


@pytest.mark.usefixtures("parts")
def test_each_argument_of_compare_is_one_run(karat: Karat) -> None:
    done = karat("compare", "gold.qrels", "parts/*.parquet", "new.run", "-m", "mrr", "--json")
    assert done.returncode == 0, done.stderr
    assert [run["name"] for run in json.loads(done.stdout)["runs"]] == ["parts", "new"]


def test_a_pattern_without_files(karat: Karat) -> None:
    done = karat("score", "gold.qrels", "nowhere/*.parquet")
    assert done.returncode == 2
    assert done.stderr == (
        "error: nowhere/*.parquet: no file matches; expected a run, or the parts of one\n"
    )
    done = karat("score", "gold.qrels", "o*.run")
    assert done.returncode == 2
    assert done.stderr == (
        "error: o*.run: old.run is not Parquet; only a run in Parquet can have several parts\n"
    )
