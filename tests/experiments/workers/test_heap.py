"""The collector is told what it need not look through, and hears when that is over."""

import gc
from collections.abc import Iterator

import pytest

from karat.experiments.workers.timing import freeze_heap


@pytest.fixture(autouse=True)
def thawed(frozen_heap: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo what conftest.py has frozen for the whole session, and count again."""
    claimed = gc.get_freeze_count
    frozen_heap.undo()
    gc.unfreeze()
    yield
    gc.freeze()
    frozen_heap.setattr(gc, "get_freeze_count", claimed)


def test_what_was_there_is_left_alone_until_the_end() -> None:
    before = gc.get_freeze_count()
    with freeze_heap():
        assert gc.get_freeze_count() > before
    assert gc.get_freeze_count() == 0


def test_who_has_done_so_before_also_ends_it() -> None:
    with freeze_heap():
        with freeze_heap():
            pass
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0


def test_an_error_ends_it_too() -> None:
    with pytest.raises(ValueError, match="no"), freeze_heap():
        raise ValueError("no")
    assert gc.get_freeze_count() == 0
