"""karat import-log: from a log to a gold set that karat can score with."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from karat.formats import read_dataset

Karat = Callable[..., CompletedProcess[str]]

LOG = "term,path,session\nlog in,a.py,s1\nLog in,a.py,s2\nmy secret,b.py,s3\n"


def test_a_log_becomes_a_gold_set(karat: Karat, folder: Path) -> None:
    (folder / "log.csv").write_text(LOG)
    options = ("--column", "query=term", "--min-sessions", "2")
    done = karat("import-log", "log.csv", "-o", "clicks.json", *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "wrote clicks.json: 1 query, 1 target\n  left out: 1 query with too few sessions\n"
    )
    gold = read_dataset("clicks.json")
    assert (gold.texts, gold.judgments(0), gold.match) == (("log in",), {"a.py": 1.0}, "exact")
    assert "secret" not in (folder / "clicks.json").read_text()


def test_the_columns_that_are_used_and_those_that_are_not_are_named(
    karat: Karat, folder: Path
) -> None:
    header = "search_term;clicked_url;session_id;user_id;dwell_ms\n"
    (folder / "log.csv").write_text(f"{header}log in;a.py;s1;u1;5000000\n")
    done = karat("import-log", "log.csv", "-o", "clicks.json", "--json")
    assert done.returncode == 0, done.stderr
    used, warning = done.stderr.splitlines()
    assert used == (
        "used: query=search_term, path=clicked_url, session=session_id, dwell=dwell_ms; "
        "not used: user_id"
    )
    assert warning.startswith("warning: the median dwell time in column dwell_ms is 5,000 s")
    told = json.loads(done.stdout)
    assert (told["queries"], told["targets"]) == (1, 1)
    assert told["columns"]["used"]["path"] == "clicked_url"
    assert told["columns"]["not_used"] == ["user_id"]
    assert len(told["warnings"]) == 1


def test_an_error_about_the_gold_set_names_the_file_that_was_typed(
    karat: Karat, folder: Path
) -> None:
    (folder / "log.csv").write_text(LOG.replace("term", "query"))
    assert karat("import-log", "log.csv", "-o", "clicks.json").returncode == 0
    assert read_dataset("clicks.json").name == "clicks.json"
    (folder / "clicks.json").rename(folder / "moved.json")
    done = karat("evaluate", "moved.json", "-e", "bm25")
    assert done.returncode == 2
    assert "moved.json does not say where its repository is; give it with --repo" in done.stderr


def test_wrong_use_is_2(karat: Karat, folder: Path) -> None:
    (folder / "log.csv").write_text(LOG)
    for options in ((), ("--column", "query"), ("--column", "query=other")):
        assert karat("import-log", "log.csv", "-o", "clicks.json", *options).returncode == 2
    assert not (folder / "clicks.json").exists()
