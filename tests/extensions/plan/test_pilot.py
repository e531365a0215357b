"""Pilots: score files, and gold sets with runs."""

from math import inf
from pathlib import Path

import pytest
from click.testing import CliRunner

from karat.errors import InputError
from karat.extensions.plan.command import command
from karat.extensions.plan.pilot import Pilot, read_pilot
from karat.extensions.plan.spread import Design
from karat.extensions.scores.readers import ScoreOptions


def pilot(path: Path, lines: list[str], **more: str) -> Pilot:
    path.write_text("\n".join(["query,system,repo,trial,passed,cost", *lines]))
    return read_pilot([str(path)], options=ScoreOptions(), **more)


LINES = [
    f"q{n},{system},r{n % 4},1,{int((n + shift) % 3 > 0)},{n + shift}"
    for n in range(24)
    for shift, system in enumerate("abc")
]


def test_clusters_and_measures(tmp_path: Path) -> None:
    known = pilot(tmp_path / "scores.csv", LINES, cluster="repo")
    assert known.measure == "passed"
    assert known.design == Design(4, 6.0, 1)
    assert not known.spread.trials
    known = pilot(tmp_path / "scores.csv", LINES, measure="passed")
    assert known.design == Design(24, 1.0, 1)
    assert known.spread.hits
    # a passes 16 of 24, and 1 is the best score; some query fails each of a, b and c.
    assert known.headroom == pytest.approx(1 / 3)
    assert known.full == 0.0
    assert known.largest == 1.0
    assert pilot(tmp_path / "scores.csv", LINES, measure="cost").largest == inf
    with pytest.raises(InputError, match="no tag 'team' for --cluster; its tags are: repo"):
        pilot(tmp_path / "scores.csv", LINES, cluster="team")


def test_a_system_with_few_scores_is_left_out(tmp_path: Path) -> None:
    few = [f"q{n},few,r{n % 4},1,1,0" for n in range(5)]
    known = pilot(tmp_path / "scores.csv", [*few, *LINES])
    assert "few" not in known.systems


def test_the_pair_with_the_median_spread(tmp_path: Path) -> None:
    # Against a, the others win 3, 6 and 12 of 24 queries; the middle one counts.
    lines = [
        f"q{n},{system},r,1,{int(n < count)},0"
        for n in range(24)
        for system, count in (("a", 0), ("b", 3), ("c", 12), ("d", 6))
    ]
    known = pilot(tmp_path / "scores.csv", lines)
    assert (known.systems, known.pairs) == (("a", "d"), 3)
    plan = CliRunner().invoke(command, [str(tmp_path / "scores.csv")])
    assert "of 3 pairs with a, the one with the median spread" in " ".join(plan.output.split())


def test_trials(tmp_path: Path) -> None:
    lines = [*LINES, *(line.replace(",1,", ",2,", 1) for line in LINES if "c," not in line)]
    known = pilot(tmp_path / "scores.csv", lines)
    assert known.design.trials == 2
    assert known.spread.trials == 0.0
    assert not known.spread.hits


def test_runs(tmp_path: Path) -> None:
    demo = Path("examples/demo").resolve()
    names = [str(demo / name) for name in ("gold.json", "bm25.run", "bm25-stemmed.run")]
    known = read_pilot(names, options=ScoreOptions())
    assert (known.measure, known.systems) == ("ndcg@10", ("bm25", "bm25-stemmed"))
    assert known.design == Design(70, 1.0, 1)
    assert read_pilot(names, measure="hit@1", options=ScoreOptions()).spread.hits
    assert read_pilot(names, measure="MAP", options=ScoreOptions()).measure == "MAP"
    assert known.largest == 1.0
    calls = read_pilot(names, measure="dcg@10", options=ScoreOptions())
    assert (calls.largest, calls.headroom) == (inf, None)
    with pytest.raises(InputError, match="MAP,P@5: a plan is for one measure"):
        read_pilot(names, measure="MAP,P@5", options=ScoreOptions())
    with pytest.raises(InputError, match="a pilot has two systems; expected a file of scores, or"):
        read_pilot(names[:2], options=ScoreOptions())


def test_a_pilot_that_says_nothing(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="only one system, 'a', has scores on most queries; expected a"
    ):
        pilot(tmp_path / "scores.csv", [line for line in LINES if ",a," in line])
    same = [line.rpartition(",")[0].rpartition(",")[0] + ",1,2" for line in LINES]
    with pytest.raises(InputError, match="passed differs on no query of 'a' and another system"):
        pilot(tmp_path / "scores.csv", same)
