from hypothesis import given
from hypothesis import strategies as st

from karat.extensions.mining.variants import Level, levels, without_paths
from karat.extensions.mining.words import Leak, is_identifier, leak

PATHS = ("src/users.py",)


def test_each_level_says_less() -> None:
    made = levels("fix crash of getUser() with blank password in src/users.py", PATHS)
    assert list(made.values()) == [
        "fix crash of getUser() with blank password in src/users.py",
        "fix crash of getUser() with blank password",
        "fix crash of get user with blank password",
        "fix crash with blank password",
    ]


def test_a_level_that_leaves_too_little_is_left_out() -> None:
    assert list(levels("remove django.conf.urls.defaults", ("django/conf/urls/defaults.py",))) == [
        Level.CLEANED
    ]


def test_a_plain_query_is_the_same_at_every_level() -> None:
    query = "keep the session cookie of anonymous visitors"
    assert set(levels(query, PATHS).values()) == {query}
    assert len(levels(query, PATHS)) == len(Level)


def test_what_led_to_a_name_goes_with_it() -> None:
    assert without_paths("fix crash in the src/users.py, again", PATHS) == "fix crash again"


WORDS = ["fix", "crash", "getUser()", "src/users.py", "users.py", "of", "in", "app.run"]


@given(st.lists(st.sampled_from(WORDS)))
def test_no_level_but_the_first_names_a_file_and_the_last_no_symbol(words: list[str]) -> None:
    made = levels(" ".join(words), PATHS, least=0)
    assert leak(made[Level.MASKED], PATHS) < Leak.BASENAME
    assert not any(map(is_identifier, made[Level.DROPPED].split()))
