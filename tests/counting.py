"""Counters around functions of Karat, for tests that nothing is done twice."""

from collections import Counter
from collections.abc import Callable

import pytest

import karat.experiments.plan
import karat.experiments.run
import karat.experiments.store.sql_store
import karat.scoring.score


def count_calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return counts of what happens in this process from now on.

    ``read`` counts stored answers that are decoded, ``judged NAME`` how often the run of that name
    is judged, ``units`` and ``share`` how often an experiment is planned.
    """
    counts: Counter[str] = Counter()

    def count(module: object, name: str, key: Callable[..., str]) -> None:
        original = getattr(module, name)

        def counting(*args: object, **named: object) -> object:
            counts[key(*args, **named)] += 1
            return original(*args, **named)

        monkeypatch.setattr(module, name, counting)

    count(karat.experiments.store.sql_store, "answer_of", lambda _: "read")
    count(karat.scoring.score, "judge", lambda *_, name, **__: f"judged {name}")
    count(karat.experiments.plan, "judged_units", lambda *_: "units")
    for module in (karat.experiments.plan, karat.experiments.run):
        count(module, "group_searches", lambda *_, **__: "share")
    return counts
