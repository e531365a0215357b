"""A damaged file gives an answer or a clear error, never a traceback."""

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import KaratError
from karat.formats import FORMATS, read

EXAMPLE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
EXAMPLES = {
    Path(name).name.partition(".")[0]: text.encode()
    for name, text in EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    if "/" not in name
}
# What breaks parsers: structure, odd numbers, odd bytes, odd blanks.
SPLINTERS = [
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"-", b"'", b"|", b"\n", b"\r", b"\t", b" ", b""),
    *(b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\\ud800", b"null", b"true", b"NaN", b"1e999"),
    *(b"0", b"-1", b"99999999999999999999", b"&a", b"*a", b"!!x", b"#", b"=", b"\xe2\x80\xa8"),
]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
@given(
    cuts=st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 9), st.sampled_from(SPLINTERS)),
        min_size=1,
        max_size=4,
    )
)
def test_no_damage_breaks_a_reader(
    name: str,
    cuts: list[tuple[float, int, bytes]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    data = EXAMPLES[name]
    for place, length, splinter in cuts:
        start = round(place * len(data))
        data = data[:start] + splinter + data[start + length :]
    path = tmp_path_factory.mktemp("damage") / "file"
    path.write_bytes(data)
    with contextlib.suppress(KaratError):
        assert len(read(path, format=name)) >= 0


def test_every_format_of_one_file_is_damaged() -> None:
    assert set(EXAMPLES) == set(FORMATS.built_in()) - {"beir", "parquet", "folder", "irds"}
