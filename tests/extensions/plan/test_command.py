"""karat plan."""

import json
from pathlib import Path

import pytest

from karat.extensions.plan.command import BETWEEN
from karat.extensions.plan.packaged import PACKAGED
from tests.command_line import Karat, folder, karat

__all__ = ["folder", "karat"]


def test_without_a_pilot(karat: Karat) -> None:
    done = karat("plan", "--difference", "0.02")
    assert done.returncode == 0
    assert done.stdout.splitlines()[:2] == [
        "The spread is a packaged one: two similar engines, code search, deviation 0.18.",
        "A difference of 0.02 needs 672 queries.",
    ]
    assert "BM25 with and without code ranking" in done.stdout
    assert tuple(PACKAGED) == BETWEEN
    done = karat("plan", "--changed", "0.15", "--queries", "200")
    assert done.stdout.startswith("200 queries detect a difference of 0.080 in the share of ones")


def test_a_pilot_with_a_curve(karat: Karat, folder: Path) -> None:
    lines = [
        f"q{n},{s},{t},{int((n * 7 + t + i) % 5 > i)}"
        for n in range(40)
        for i, s in enumerate("ab")
        for t in (1, 2)
    ]
    (folder / "scores.csv").write_text("\n".join(["query,system,trial,passed", *lines]))
    done = karat("plan", "scores.csv", "--difference", "0.1", "--json")
    document = json.loads(done.stdout)
    assert document["measure"] == "passed"
    assert document["design"] == {"units": 40, "size": 1.0, "trials": 2}
    assert document["needed"]["5"] <= document["needed"]["2"]
    done = karat("plan", "scores.csv", "-o", "plan.svg", "--trials", "3")
    assert "40 queries with 3 trials each detect" in done.stdout
    assert (folder / "plan.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--deviation", "0.2", "--changed", "0.1"),
            "--deviation and --changed replace each other",
        ),
        (("--trials", "3"), "--trials needs a pilot that repeats queries"),
        (("-m", "f1"), "-m and --cluster need a PILOT"),
        (("once.csv", "--trials", "3"), "--trials needs a pilot that repeats queries"),
        (("once.csv", "-m", "score", "-m", "f1"), "score, f1: a plan is for one measure"),
        (("--difference", "5"), "--difference 5: two systems differ by at most 1 in ndcg@10"),
        (("-o", "plan.pdf"), "the curve is drawn as SVG; expected FILE.svg"),
    ],
)
def test_what_does_not_fit(
    karat: Karat, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    rows = [f"q{n},{system},{n % 5 * shift}" for n in range(9) for shift, system in enumerate("ab")]
    (folder / "once.csv").write_text("\n".join(["query,system,score", *rows]))
    done = karat("plan", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
