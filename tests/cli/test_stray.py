"""Words without their option: what was meant is told, as a command to type."""

import shlex
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]


@pytest.mark.parametrize(
    ("typed", "said", "meant"),
    [
        (
            "evaluate gold.qrels keyword 'bm25(k1=1.2)'",
            "Unexpected keyword 'bm25(k1=1.2)': an engine needs --engine",
            "evaluate gold.qrels --engine keyword --engine 'bm25(k1=1.2)'",
        ),
        (
            "sweep gold.qrels matrix.yaml",
            "Unexpected matrix.yaml: a matrix needs --matrix",
            "sweep gold.qrels --matrix matrix.yaml",
        ),
        (
            "score gold.qrels old.run mrr",
            "Unexpected mrr: a measure needs --metric",
            "score gold.qrels old.run --metric mrr",
        ),
        (
            "index . bm25 --json",
            "Unexpected bm25: the engine needs --engine",
            "index . --engine bm25 --json",
        ),
    ],
)
def test_the_option_is_named_and_the_command_written_out(
    karat: Karat, folder: Path, typed: str, said: str, meant: str
) -> None:
    done = karat(*shlex.split(typed))
    assert (done.returncode, done.stdout) == (2, "")
    first, second, third = done.stderr.splitlines()
    assert (first, second) == (f"error: {said}; type", f"  karat {meant}")
    assert third.startswith("Try 'karat ")


def test_no_help_shows_what_takes_such_words(karat: Karat) -> None:
    text = karat("index", "--help").stdout
    assert text.splitlines()[0] == "Usage: karat index [OPTIONS] [PLACE]"
    assert "stray" not in text.lower()
