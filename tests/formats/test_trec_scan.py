import gzip
import random
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import FormatError, InputError
from karat.formats import scan_trec_run, write
from karat.formats.ranked_columns import ColumnRanking
from karat.formats.trec_run import NO_TAG, blocks, scan_columns
from karat.model import Answer, Hit, Run

PLAIN = "q1 Q0 d1 1 3.5 t\nq1 Q0 d2 2 2 t\nq2 Q0 d1 1 -1e-3 t\n"
SCORES = {"q1": {"d1": 3.5, "d2": 2.0}, "q2": {"d1": -0.001}}
NO_JUDGMENTS: dict[str, dict[str, float]] = {}


def ways(
    path: Path, judged: Mapping[str, Mapping[str, float]]
) -> list[dict[str, dict[str, float]]]:
    """Return the file as gathered, as streamed and, if that is possible, as columns."""
    scans = [dict(scan_trec_run(path)), dict(scan_trec_run(path, large=0))]
    scans.append(dict(scan_trec_run(path, judged, large=0)))
    return [{query: dict(ranking) for query, ranking in way.items()} for way in scans]


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.rstrip("\n"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace(" ", "\t"),
        PLAIN.replace(" ", "  "),
        "# a comment of six fields here\n" + PLAIN,
        PLAIN.replace("\n", " more junk\n"),
        "\n\n" + PLAIN + "\n",
        "q1 Q0 d1 1 3.5 t\nq2 Q0 d1 1 -1e-3 t\nq1 Q0 d2 2 2 t\n",
    ],
    ids=["plain", "no end", "crlf", "tabs", "blanks", "comment", "junk", "blank", "apart"],
)
def test_the_three_ways_agree(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.run"
    path.write_text(text, newline="")
    for scanned in ways(path, {"q1": {"d1": 1.0}}):
        assert scanned == SCORES
        assert list(scanned) == ["q1", "q2"]


def test_marked_and_compressed(tmp_path: Path) -> None:
    marked, packed = tmp_path / "marked.run", tmp_path / "packed.run.gz"
    marked.write_text(PLAIN, encoding="utf-8-sig")
    packed.write_bytes(gzip.compress(PLAIN.encode()))
    for path in (marked, packed):
        assert all(scanned == SCORES for scanned in ways(path, NO_JUDGMENTS))


BAD = {
    "q1 Q0 d1 1 3.5 t\nq1 Q0 d1 2 3 t\n": [(2, "'d1' is returned twice for query 'q1'")],
    "q1 Q0 d1 1 nan t\nq1 Q0 d2 2 inf t\n": [
        (1, "score 'nan' is not a finite number"),
        (2, "score 'inf' is not a finite number"),
    ],
    "q1 Q0 d1 1 3.5\nq1 Q0 d2 2 x t\n": [
        (1, NO_TAG),
        (2, "score 'x' is not a finite number"),
    ],
    "q1  Q0 d1 1 0.5\nq1 Q0 d2 2 1 t\n": [(1, NO_TAG)],
    "q1 Q0 d1\t1 0.5 7\nq1 Q0 d 1 1 t\n": [],
    "q1 Q0 d\0 1 1 t\n": [(1, "a NUL byte; expected text")],
    "# nothing\n": [(0, "no row in the file; expected query Q0 document rank score tag")],
}


@pytest.mark.parametrize("text", BAD)
def test_every_way_finds_the_same_problems(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.run"
    path.write_text(text)
    for judged, large in ((None, 10**9), (None, 0), ({"q1": {"d1": 1.0}}, 0)):
        problems: list[tuple[int, str]] = []
        try:
            scanned = {q: dict(r) for q, r in scan_trec_run(path, judged, large=large)}
            assert scanned["q1"]["d1"] == 0.5
        except FormatError as error:
            problems = [(problem.line, problem.message) for problem in error.problems]
        assert problems == BAD[text]


def test_a_byte_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_bytes(b"q1 Q0 d1 1 1 t\nq1 Q0 d\xe9 2 0.5 t\n")
    for judged in (None, NO_JUDGMENTS):
        with pytest.raises(FormatError, match=r"x\.run:2: byte 0xe9 at column 2 is not UTF-8"):
            list(scan_trec_run(path, judged, large=0))


def test_lines_longer_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a" * 25 + b"\nb\n" + b"c" * 9)
    cut = list(blocks(path, size=10))
    assert b"".join(block for _, block in cut) == path.read_bytes() + b"\n"
    assert len(cut) > 1
    line = 1
    for number, block in cut:
        assert number == line
        line += block.count(b"\n")


def test_rows_of_one_query_across_blocks(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    rng = random.Random(0)
    scores = {f"doc-{number}": rng.random() for number in range(60_000)}
    rows = [f"q{n % 2} Q0 {d} 1 {s!r} t\n" for n, (d, s) in enumerate(scores.items())]
    rows.sort(key=lambda row: row[:2])
    path.write_text("".join(rows))
    assert path.stat().st_size > 2 * (1 << 20)
    for scanned in ways(path, {"q0": {"doc-0": 1.0}}):
        assert scanned == {
            "q0": {d: s for n, (d, s) in enumerate(scores.items()) if n % 2 == 0},
            "q1": {d: s for n, (d, s) in enumerate(scores.items()) if n % 2 == 1},
        }


def test_missing_file() -> None:
    with pytest.raises(InputError, match="no such file"):
        list(scan_trec_run("nowhere.run"))


def test_without_polars_large_files_are_streamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    path = tmp_path / "x.run"
    path.write_text(PLAIN)
    assert scan_columns(path, NO_JUDGMENTS) is None
    assert dict(scan_trec_run(path, NO_JUDGMENTS, large=0)) == SCORES


def test_a_column_ranking_is_a_mapping(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    path = tmp_path / "x.run"
    path.write_text("q1 Q0 d1 1 3 t\nq1 Q0 é 2 1 t\nq1 Q0 d3 3 1 t\n")
    judged = {"q1": {"é": 1.0, "absent": 1.0}}
    ((query, ranking),) = scan_trec_run(path, judged, large=0)
    assert isinstance(ranking, ColumnRanking)
    assert query == "q1"
    assert len(ranking) == 3
    assert ranking.get("é") == 1.0
    assert ranking.get("absent") is None
    assert ranking["d1"] == 3.0  # not judged, and still found
    assert "d9" not in ranking
    assert ranking.values().tolist() == [3.0, 1.0, 1.0]
    assert sorted(ranking.ids_with_score(1.0)) == ["d3", "é"]
    assert dict(ranking) == dict(ranking.items()) == {"d1": 3.0, "é": 1.0, "d3": 1.0}


WORDS = st.text("ab#é", min_size=1, max_size=3)


@given(
    rows=st.lists(st.tuples(st.sampled_from("xyz"), WORDS, st.integers(-3, 3)), min_size=1),
    judged=st.dictionaries(st.sampled_from("xyz"), st.dictionaries(WORDS, st.just(1.0))),
)
def test_agrees_with_a_plain_loop(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, int]],
    judged: dict[str, dict[str, float]],
) -> None:
    path = tmp_path_factory.mktemp("scan") / "x.run"
    path.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows), encoding="utf-8")
    expected: dict[str, dict[str, float]] = {}
    for query, document, score in rows:
        expected.setdefault(query, {})[document] = float(score)
    if len({(query, document) for query, document, _ in rows}) < len(rows):
        for given_judgments in (None, judged):
            with pytest.raises(FormatError, match="is returned twice"):
                list(scan_trec_run(path, given_judgments, large=0))
        return
    for scanned in ways(path, judged):
        assert scanned == expected


def test_agrees_with_pytrec_eval(shared_data: Path) -> None:
    import pytrec_eval

    for path in sorted((shared_data / "golden").glob("*.run")):
        with path.open(encoding="utf-8") as stream:
            expected = pytrec_eval.parse_run(stream)
        judged = {query: dict.fromkeys(list(docs)[:3], 1.0) for query, docs in expected.items()}
        assert all(scanned == expected for scanned in ways(path, judged))


@pytest.mark.parametrize("name", ["Jinja (Python).py", "two  blanks", " first", "tab\there"])
def test_an_id_that_would_be_read_as_several_fields_is_refused(tmp_path: Path, name: str) -> None:
    run = Run.of([Answer("q1", (Hit("a.py", 2.0), Hit(name, 1.0)))])
    with pytest.raises(InputError, match="TREC files cannot hold the id"):
        write(run, tmp_path / "x.run")
    assert not (tmp_path / "x.run").exists()
