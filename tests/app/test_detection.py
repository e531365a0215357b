import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner
from scipy import stats

from karat.app.detection import DEVIATION, Detection, detection
from karat.cli.commands.validate import command as validate
from karat.formats import write
from karat.model import Dataset, Query, Target


def gold(queries: int, *, unjudged: int = 0, cluster: int = 1) -> Dataset:
    """Return a set whose last queries have no relevant target; *cluster* of them share a commit."""
    return Dataset.of(
        [
            Query(
                f"q{index}",
                "where?",
                (Target("a.py", grade=0.0 if index >= queries - unjudged else 1.0),),
                tags={"commit": f"c{index // cluster}"},
            )
            for index in range(queries)
        ],
        metadata={"cluster": "commit"},
    )


@pytest.mark.parametrize("queries", [7, 30, 250, 5_000])
def test_the_change_is_found_by_four_of_five_t_tests(queries: int) -> None:
    change = detection(gold(queries)).change
    assert change is not None
    shift = change / DEVIATION * math.sqrt(queries)
    power = stats.nct.sf(stats.t.ppf(0.975, queries - 1), queries - 1, shift)
    # A little more, because the interval must agree.
    assert power == pytest.approx(0.82, abs=0.015)


def test_only_independent_queries_with_a_target_count() -> None:
    assert detection(gold(60, unjudged=10)).queries == 50
    detected = detection(gold(60, cluster=3))
    assert (detected.queries, detected.units) == (60, 20)
    assert detected.change == detection(gold(20)).change
    assert str(detected).startswith("60 queries in 20 clusters detect a change of about 0.1")


def test_too_few_queries_detect_nothing() -> None:
    assert detection(gold(5)).change is None
    assert detection(gold(6)).change is not None
    assert str(detection(gold(5))) == (
        "5 queries cannot detect any change: too few for a significant difference"
    )
    assert detection(gold(3, unjudged=3)) == Detection(0, 0, None)


def test_a_small_change_is_not_rounded_away() -> None:
    assert "of about 0.005 in ndcg@10" in str(Detection(10_000, 10_000, 0.005))


def test_validate_says_it(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    write(gold(250), path)
    sentence = (
        "250 queries detect a change of about 0.03 in ndcg@10 between two similar engines "
        "(assumed standard deviation of the differences: 0.18)"
    )
    assert f"  {sentence}\n" in CliRunner().invoke(validate, [str(path)]).stdout
    detects = json.loads(CliRunner().invoke(validate, [str(path), "--json"]).stdout)["detects"]
    assert (detects["queries"], detects["units"], detects["metric"]) == (250, 250, "ndcg@10")
    assert detects["change"] == pytest.approx(0.0328, abs=1e-4)
    assert detects["assumed_standard_deviation"] == 0.18
