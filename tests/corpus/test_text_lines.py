"""Lines end where Git ends them, whatever else a text contains."""

import re

from hypothesis import given
from hypothesis import strategies as st

from karat.corpus.chunkers.base import lines_of


@given(st.text("ab\n\r\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029é"))
def test_only_lf_ends_a_line(text: str) -> None:
    assert lines_of(text) == re.findall(r"[^\n]*\n|[^\n]+", text)
