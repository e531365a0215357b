"""karat metrics: what each number means."""

import json
from collections.abc import Callable
from subprocess import CompletedProcess

from karat.scoring.metrics import METRICS

Karat = Callable[..., CompletedProcess[str]]


def test_every_metric_is_explained(karat: Karat) -> None:
    done = karat("metrics")
    heads = [line for line in done.stdout.splitlines() if line and not line.startswith(" ")]
    assert done.returncode == 0
    assert [head.partition("[")[0].partition("@")[0] for head in heads] == list(METRICS)


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
