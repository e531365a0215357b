"""A gold set from clicks: what becomes a target, at which grade, and what is left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.extensions.import_log.log import BIAS, LOG_COLUMNS, Click, Log, LogRules, import_log

ALL = frozenset(LOG_COLUMNS)


def log(*clicks: Click, columns: frozenset[str] = ALL) -> Log:
    return Log(clicks, columns)


def grades(clicks: Log, rules: LogRules | None = None) -> dict[str, float]:
    """Return the grades of the only query of a log."""
    gold = import_log(clicks, rules).gold
    assert len(gold) == 1
    return gold.judgments(0)


def test_spellings_of_one_query_are_one() -> None:
    clicks = [Click(text, "a.py", f"s{number}") for number, text in enumerate(["Log In"] * 2)]
    imported = import_log(log(*clicks, Click("log  in", "b.py", "s9")))
    assert imported.gold.texts == ("Log In",)
    assert imported.gold.judgments(0) == {"a.py": 1.0, "b.py": 1.0}
    assert imported.gold.extras[0] == {"sessions": 3}


def test_many_clicks_are_worth_one_grade_more() -> None:
    clicks = [Click("x", "a.py", f"s{number}") for number in range(3)]
    assert grades(log(*clicks, Click("x", "b.py", "s0"))) == {"a.py": 2.0, "b.py": 1.0}
    assert grades(log(*clicks), LogRules(many_clicks=4)) == {"a.py": 1.0}


def test_one_session_counts_once_however_often_it_clicks() -> None:
    assert grades(log(*[Click("x", "a.py", "s1")] * 5)) == {"a.py": 1.0}


def test_a_reader_who_stays_is_content() -> None:
    clicks = (Click("x", "a.py", "s1", dwell_s=30.0), Click("x", "b.py", "s1", dwell_s=29.0))
    assert grades(log(*clicks)) == {"a.py": 2.0, "b.py": 1.0}
    assert grades(log(*clicks), LogRules(dwell_s=10)) == {"a.py": 2.0, "b.py": 2.0}


def test_without_dwell_times_the_last_click_is_content() -> None:
    clicks = (Click("x", "b.py", "s1", time=20.0), Click("x", "a.py", "s1", time=10.0))
    assert grades(log(*clicks)) == {"b.py": 2.0, "a.py": 1.0}


def test_half_of_the_readers_content_is_enough() -> None:
    content = [Click("x", "a.py", "s1", dwell_s=60.0), Click("x", "a.py", "s2", dwell_s=1.0)]
    assert grades(log(*content)) == {"a.py": 2.0}
    assert grades(log(*content, Click("x", "a.py", "s3", dwell_s=1.0))) == {"a.py": 2.0}
    more = [Click("x", "a.py", "s3", dwell_s=1.0)]
    assert grades(log(*content, *more), LogRules(many_clicks=9)) == {"a.py": 1.0}


def test_what_is_left_out_is_counted() -> None:
    clicks = [Click("x", "a.py", f"s{number}") for number in range(3)]
    rare = [Click("my name", "b.py", "s7"), Click("x", "rare.py", "s8"), Click("none", "", "s1")]
    more = [Click("none", "", "s2")]
    imported = import_log(log(*clicks, *rare, *more), LogRules(min_clicks=2, min_sessions=2))
    assert imported.gold.texts == ("x",)
    assert imported.gold.judgments(0) == {"a.py": 2.0}
    assert imported.dropped == {
        "queries with too few sessions": 1,
        "results with too few clicks": 1,
        "queries without a target": 1,
    }
    assert imported.gold.metadata["dropped"] == imported.dropped


def test_lines_without_a_session_are_sessions_of_their_own() -> None:
    clicks = [Click("x", "a.py")] * 3
    assert grades(log(*clicks, columns=frozenset({"query", "path"}))) == {"a.py": 2.0}


def test_privacy_needs_sessions() -> None:
    plain = log(Click("x", "a.py"), columns=frozenset({"query", "path"}))
    with pytest.raises(InputError, match="no sessions"):
        import_log(plain, LogRules(min_sessions=2))


def test_an_empty_gold_set_is_an_error_that_says_why() -> None:
    with pytest.raises(InputError, match="1 query without a target"):
        import_log(log(Click("x", "", "s1")))


def test_a_median_dwell_time_above_an_hour_is_a_warning() -> None:
    clicks = [Click("x", "a.py", f"s{dwell}", dwell_s=dwell) for dwell in (3_600.0, 12_000.0)]
    (warning,) = import_log(log(*clicks)).warnings
    assert warning.startswith("the median dwell time in column dwell is 7,800 s; check its unit")
    assert import_log(log(clicks[0])).warnings == ()


def test_the_gold_set_keeps_the_name_of_its_log() -> None:
    gold = import_log(log(Click("x", "a.py")), name="gold.json", source="clicks.csv").gold
    assert (gold.name, gold.metadata["source"]) == ("gold.json", "clicks.csv")


def test_no_session_and_no_time_is_kept() -> None:
    imported = import_log(log(Click("x", "a.py", "secret-session", 1, 1777636800.0)))
    text = repr((imported.gold.extras, imported.gold.metadata, imported.gold.tags))
    assert "secret-session" not in text
    assert "1777636800" not in text


def test_the_position_of_clicks_is_told() -> None:
    clicks = [Click("x", "a.py", f"s{number}", rank) for number, rank in enumerate([1, 1, 1, 4])]
    assert import_log(log(*clicks)).notes == ("75% of the clicks are on the first result", BIAS)


def test_frequent_queries_come_first_and_are_tagged() -> None:
    counts = {"often": 6, "some": 2, "more": 2, "once": 1}
    clicks = [
        Click(query, "a.py", f"{query}{number}")
        for query, count in counts.items()
        for number in range(count)
    ]
    gold = import_log(log(*clicks)).gold
    assert gold.texts == ("often", "more", "some", "once")
    assert gold.tags["frequency"] == ("head", "torso", "torso", "tail")


clicked = st.builds(
    Click,
    query=st.sampled_from(["a", "A ", "b", "c d", "c  d"]),
    path=st.sampled_from(["", "x.py", "y.py"]),
    session=st.sampled_from(["", "1", "2", "3"]),
    time=st.sampled_from([None, 0.0, 1.0, 2.0]),
    dwell_s=st.sampled_from([None, 1.0, 60.0]),
)


@given(st.lists(clicked, min_size=1), st.randoms(use_true_random=False))
def test_the_order_of_the_lines_changes_no_judgment(clicks: list[Click], chance: object) -> None:
    shuffled = [*clicks]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    if not any(click.path for click in clicks):
        with pytest.raises(InputError):
            import_log(log(*clicks))
        return
    one, other = (import_log(log(*lines)).gold for lines in (clicks, shuffled))
    assert one.query_ids == other.query_ids
    assert [one.targets(row) for row in range(len(one))] == [
        other.targets(row) for row in range(len(other))
    ]
