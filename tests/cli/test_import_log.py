"""karat import-log: from a log to a gold set that karat can score with."""

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
        "wrote clicks.json: 1 query, 1 targets\n  left out: 1 queries with too few sessions\n"
    )
    gold = read_dataset("clicks.json")
    assert (gold.texts, gold.judgments(0), gold.match) == (("log in",), {"a.py": 1.0}, "exact")
    assert "secret" not in (folder / "clicks.json").read_text()


def test_wrong_use_is_2(karat: Karat, folder: Path) -> None:
    (folder / "log.csv").write_text(LOG)
    for options in ((), ("--column", "query"), ("--column", "query=other")):
        assert karat("import-log", "log.csv", "-o", "clicks.json", *options).returncode == 2
    assert not (folder / "clicks.json").exists()
