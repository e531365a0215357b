"""The examples of formats on a page of the documentation, and damage to them."""

import contextlib
import re
from pathlib import Path

from hypothesis import strategies as st

from karat.errors import KaratError
from karat.formats import detect, read

EXAMPLE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^### (\S+)$", re.MULTILINE)
# What breaks parsers: structure, odd numbers, odd bytes, odd blanks.
SPLINTERS = [
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"-", b"'", b"|", b"\n", b"\r", b"\t", b" ", b""),
    *(b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\\ud800", b"null", b"true", b"NaN", b"1e999"),
    *(b"0", b"-1", b"99999999999999999999", b"&a", b"*a", b"!!x", b"#", b"=", b"\xe2\x80\xa8"),
]
CUTS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 9), st.sampled_from(SPLINTERS)),
    min_size=1,
    max_size=4,
)


def files_of(page: Path) -> dict[str, bytes]:
    """Return the examples that are one file, by the name of their format."""
    return {
        Path(name).name.partition(".")[0]: text.encode()
        for name, text in EXAMPLE.findall(page.read_text(encoding="utf-8"))
        if "/" not in name
    }


def check_examples(page: Path, folder: Path) -> set[str]:
    """Check that every example is what its name says, and return the formats."""
    examples = EXAMPLE.findall(page.read_text(encoding="utf-8"))
    for name, text in examples:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    names = {Path(name).parts[0] for name, _ in examples}
    for name in names:
        assert detect(folder / name).name == name.partition(".")[0]
        assert len(read(folder / name)) >= 1
    return {name.partition(".")[0] for name in names}


def check_damage(data: bytes, cuts: list[tuple[float, int, bytes]], name: str, path: Path) -> None:
    """Check that damaged *data* of the format *name* is read, or gives a clear error."""
    for share, length, splinter in cuts:
        start = round(share * len(data))
        data = data[:start] + splinter + data[start + length :]
    path.write_bytes(data)
    with contextlib.suppress(KaratError):
        assert len(read(path, format=name)) >= 0
