"""Messages travel unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.system.processes import decode, encode, encode_with_bytes

texts = st.dictionaries(st.text(), st.text())


@given(texts)
def test_a_message_is_one_line(message: dict[str, str]) -> None:
    line = encode(message)
    assert b"\n" not in line
    assert decode(line) == message


@given(texts, st.lists(st.binary()))
def test_bytes_follow_the_line(message: dict[str, str], sent: list[bytes]) -> None:
    line, _, rest = encode_with_bytes({"said": message, "sent": sent}).partition(b"\n")
    assert decode(line) == {"said": message, "sent": [len(data) for data in sent]}
    assert rest == b"".join(sent)


def test_what_json_has_no_word_for_is_refused() -> None:
    with pytest.raises(TypeError, match="expected bytes, not set"):
        encode_with_bytes({"work": {1, 2}})


@pytest.mark.parametrize("line", [b"[]", b"", b"{", b"\xff"])
def test_what_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode(line)
