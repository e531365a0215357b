"""A target is there or it is not, by the rule that will match hits with it."""

import pytest

from karat.corpus import from_texts
from karat.errors import InputError
from karat.experiments.snapshots import RepositoryRevisions, Snapshots
from karat.experiments.target_check import check_snapshots
from karat.experiments.workers import Source
from karat.model import Dataset, Query, Target

TEXTS = {"src/auth.py": "x\n", "src/mail.py": "y\n"}


def tree(gold: Dataset) -> Snapshots:
    source = Source.of_texts(TEXTS)
    part = RepositoryRevisions(
        lambda: [("", from_texts(TEXTS))], {"": range(len(gold))}, lambda _: source
    )
    return Snapshots("corpus", "here", "all", (part,))


@pytest.mark.parametrize(
    ("match", "target", "there"),
    [
        ("exact", Target("./src/auth.py"), True),
        ("exact", Target("auth.py"), False),
        ("lines", Target("src/auth.py", start_line=90, end_line=99), True),
        ("lines", Target("lib/auth.py", start_line=1, end_line=1), False),
        ("suffix", Target("auth.py"), True),
        ("substring", Target("uth"), True),
        ("substring", Target("other"), False),
        ("akashic", Target("mail"), True),
        ("akashic", Target("", symbol="login"), True),
        ("document", Target("src/auth.py"), True),
        ("document", Target("./src/auth.py"), False),
        ("directory", Target("src/auth.py"), True),
    ],
)
def test_each_way_to_match(match: str, target: Target, there: bool) -> None:
    sure = Query("sure", "q", (Target("src/mail.py"),))
    gold = Dataset.of([sure, Query("asked", "q", (target,))], match=match)
    searched, resolved, *_ = check_snapshots(gold, tree(gold), match=match)
    assert searched.unresolved == (not there)
    assert resolved.targets(1) == ([target] if there else [])


def test_what_is_lost_is_counted() -> None:
    gone = Target("gone.py")
    gold = Dataset.of(
        [
            Query("q1", "q", (Target("src/auth.py"), gone), {"tag": "a"}),
            Query("q2", "q", (gone, gone._replace(start_line=1, end_line=2))),
            Query("q3", "q", (Target("src/mail.py"), gone._replace(grade=0))),
            Query("q4", "q", ()),
        ],
        name="gold",
    )
    searched, resolved, *_ = check_snapshots(gold, tree(gold), match="exact")
    assert (searched.targets, searched.unresolved, searched.lost_queries) == (5, 3, 1)
    assert (searched.trees, searched.fewest, searched.most) == (1, 2, 2)
    assert resolved.query_ids == gold.query_ids
    assert resolved.tags == gold.tags
    assert [len(resolved.targets(row)) for row in range(4)] == [1, 0, 1, 0]


def test_a_gold_set_of_something_else_is_refused() -> None:
    gold = Dataset.of([Query("q", "q", (Target("lib.rs"),))], name="gold")
    with pytest.raises(InputError, match="none of the 1 targets of gold is in here; are these"):
        check_snapshots(gold, tree(gold), match="exact")


@pytest.mark.parametrize(
    ("files", "unresolved", "lost", "left"),
    [(("auth", "gone"), 1, 0, 2), (("gone",), 1, 1, 0)],
)
def test_a_symbol_is_evidence_for_files_that_are_there(
    files: tuple[str, ...], unresolved: int, lost: int, left: int
) -> None:
    """It does not become a target of its own where all files of its query are gone."""
    targets = (*map(Target, files), Target("", symbol="login"))
    sure = Query("sure", "q", (Target("mail"),))
    gold = Dataset.of([sure, Query("asked", "q", targets)], match="akashic")
    searched, resolved, *_ = check_snapshots(gold, tree(gold), match="akashic")
    assert searched.targets == 1 + len(files)
    assert (searched.unresolved, searched.lost_queries) == (unresolved, lost)
    assert len(resolved.targets(1)) == left
