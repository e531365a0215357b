"""karat metrics: list and explain the measures."""

import json
import re
from collections.abc import Callable
from subprocess import CompletedProcess

from karat.scoring.metrics import METRICS
from karat.scoring.metrics.measure import parse

Karat = Callable[..., CompletedProcess[str]]


def _listed(text: str) -> list[str]:
    """Return the names in a list of measures, as they are typed."""
    return [line.split()[0] for line in text.splitlines() if re.match("  [a-z0-9]", line)]


def test_the_common_measures_are_listed_by_purpose(karat: Karat) -> None:
    done = karat("metrics")
    names = _listed(done.stdout)
    assert done.returncode == 0
    assert len(names) == 25
    assert {"mrr@10", "ndcg@10", "hit@5", "recall@10", "precision@5", "f1@10"} <= set(names)
    assert done.stdout.startswith("Find an answer near the top:\n  mrr@10 ")
    assert done.stdout.endswith(f"List all {len(list(METRICS))}: karat metrics --all.\n")
    assert [str(parse(name)) for name in names] == names


def test_all_measures_are_listed_on_request(karat: Karat) -> None:
    names = [re.split(r"[\[@]", name)[0] for name in _listed(karat("metrics", "--all").stdout)]
    assert sorted(names) == sorted(METRICS)


def test_machines_get_all_measures(karat: Karat) -> None:
    entries = json.loads(karat("metrics", "--json").stdout)
    assert [entry["name"] for entry in entries] == list(METRICS)


def test_a_metric_is_found_by_name_alias_and_measure(karat: Karat) -> None:
    plain = karat("metrics", "hit").stdout
    assert plain.startswith("hit[@k]\n")
    assert "aliases: success" in plain
    for name in ("success", "HIT@5", "hit(level=2)@5"):
        assert karat("metrics", name).stdout == plain


def test_the_nearest_metric_is_offered(karat: Karat) -> None:
    done = karat("metrics", "ndgc")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: no metric named 'ndgc'; did you mean 'ndcg'?\n"


def test_json_has_no_infinity(karat: Karat) -> None:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    entries = json.loads(karat("metrics", "dcg", "lines", "--json").stdout, parse_constant=refuse)
    assert [entry["name"] for entry in entries] == ["dcg", "lines"]
    assert [entry["high"] for entry in entries] == [None, None]
    assert [entry["higher_is_better"] for entry in entries] == [True, False]


def test_a_word_finds_the_measures_that_it_describes(karat: Karat) -> None:
    assert karat("metrics", "accuracy").stdout.startswith("acc[@k]\n")
    output = karat("metrics", "diversity").stdout
    assert [line.split("@")[0] for line in output.splitlines() if line and line[0] != " "] == [
        *("alpha-ndcg", "err-ia", "nrbp", "strec"),
    ]
    assert karat("metrics", "tokens@5", "READING COST").returncode == 0
    done = karat("metrics", "beauty")
    assert (done.returncode, done.stderr.partition(";")[0]) == (
        2,
        "error: no metric named 'beauty'",
    )
