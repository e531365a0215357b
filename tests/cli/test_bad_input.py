"""What a user can get wrong: one clear message, exit code 2, nothing written, no traceback."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

SCORE = ("score", "gold.qrels", "old.run", "--ci", "none")
COMPARE = ("compare", "gold.qrels", "old.run", "new.run", "--draws", "99")


def refused(done: CompletedProcess[str]) -> list[str]:
    """Return the lines of the message of a call that must have failed for its input."""
    assert (done.returncode, done.stdout) == (2, ""), done
    assert "Traceback" not in done.stderr
    assert "broke" not in done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith("error: ")
    return lines


GOLD_FILES: list[tuple[str, bytes, list[str]]] = [
    (
        "malformed.qrels",
        b"q1 0 a 1\nq2 0 b\nq3 0 c x\n",
        [
            "error: malformed.qrels:2: 3 fields; expected 4",
            "malformed.qrels:3: grade 'x' is not a finite number",
        ],
    ),
    ("nan.qrels", b"q1 0 a nan\n", ["error: nan.qrels:1: grade 'nan' is not a finite number"]),
    ("twice.qrels", b"q1 0 a 1\nq1 0 a 2\n", ["error: twice.qrels:2: "]),
    ("empty.qrels", b"", ["error: empty.qrels: the file is empty"]),
    ("blank.qrels", b"\n  \n", ["error: blank.qrels: the file is empty"]),
    ("utf16.qrels", "q1 0 a 1\n".encode("utf-16"), ["error: utf16.qrels: the file is UTF-16"]),
    ("latin1.csv", b"query,result1\ncaf\xe9,a.py:1-2:1\n", ["error: latin1.csv:2: "]),
    (
        "twice.json",
        b'{"test_cases": [\n{"id": "a", "query": "x", "ground_truth_files": ["a"]},\n'
        b'{"id": "a", "query": "y", "ground_truth_files": ["b"]}]}',
        ["error: twice.json:3: test_cases[1]: id 'a' appears more than once"],
    ),
    (
        "module.json",
        b'{"match": "antigravity:fly", "test_cases": [{"id": "a", "query": "x", '
        b'"ground_truth_files": ["a"]}]}',
        ["error: no matcher named 'antigravity:fly'"],
    ),
    ("cut.json", b'{"test_cases": [{"id": "a",', ["error: cut.json:1: not JSON: "]),
    (
        "grade.csv",
        b"query,result1\nlogin,src/a.py:1-2:high\n",
        ["error: grade.csv:2: "],
    ),
    ("noise.bin", bytes(range(256)), ["error: noise.bin"]),
    ("prose.txt", b"nothing to see here\n", ["error: prose.txt"]),
]


@pytest.mark.parametrize(
    ("name", "content", "expected"), GOLD_FILES, ids=[case[0] for case in GOLD_FILES]
)
def test_a_bad_gold_set(
    karat: Karat, folder: Path, name: str, content: bytes, expected: list[str]
) -> None:
    (folder / name).write_bytes(content)
    lines = refused(karat("score", name, "old.run", "-o", "out.txt"))
    assert len(lines) >= len(expected)
    for line, start in zip(lines, expected, strict=False):
        assert line.startswith(start)
    assert not (folder / "out.txt").exists()


RUN_FILES: list[tuple[str, bytes, list[str]]] = [
    ("short.run", b"q1 Q0 a 1 3.0 t\nq1 Q0 b\n", ["error: short.run:2: 3 fields; expected 6"]),
    (
        "scores.run",
        b"q1 Q0 a 1 nan t\nq1 Q0 b 2 inf t\nq2 Q0 c 1 x t\n",
        [
            "error: scores.run:1: score 'nan' is not a finite number",
            "scores.run:2: score 'inf' is not a finite number",
            "scores.run:3: score 'x' is no",
        ],
    ),
    ("twice.run", b"q1 Q0 a 1 3.0 t\nq1 Q0 a 2 2.0 t\n", ["error: twice.run"]),
    ("empty.run", b"", ["error: empty.run: the file is empty"]),
    ("utf16.run", "q1 Q0 a 1 3.0 t\n".encode("utf-16"), ["error: utf16.run: the file is UTF-16"]),
    (
        "answered.jsonl",
        b'{"format": "karat-run", "version": 1, "name": "x"}\n'
        b'{"query_id": "q1", "hits": []}\n{"query_id": "q1", "hits": []}\n',
        ["error: answered.jsonl:3: "],
    ),
]


@pytest.mark.parametrize(
    ("name", "content", "expected"), RUN_FILES, ids=[case[0] for case in RUN_FILES]
)
def test_a_bad_run(
    karat: Karat, folder: Path, name: str, content: bytes, expected: list[str]
) -> None:
    (folder / name).write_bytes(content)
    for command in (("score", "gold.qrels", name), ("compare", "gold.qrels", "old.run", name)):
        lines = refused(karat(*command, "-o", "out.txt"))
        assert len(lines) >= len(expected)
        for line, start in zip(lines, expected, strict=False):
            assert line.startswith(start)
        assert not (folder / "out.txt").exists()


def test_a_negative_grade_is_not_relevant(karat: Karat, folder: Path) -> None:
    (folder / "negative.qrels").write_text("q1 0 a -1\nq1 0 b 1\nq2 0 c -2\n")
    done = karat("score", "negative.qrels", "old.run", "-m", "mrr", "--ci", "none")
    assert done.returncode == 0
    # b stands at rank 3; q2 has nothing relevant.
    assert done.stdout.startswith("old has mrr 0.333 over 1 query.\n")


SETTINGS: list[tuple[tuple[str, ...], str]] = [
    (("-m", "ndgc@10"), "error: no metric named 'ndgc'; did you mean 'ndcg'?"),
    (("-m", "precision"), "error: precision needs a cut-off; write precision@10"),
    (("-m", "ndcg@0"), "error: 'ndcg@0': the cut-off must be 1 or more"),
    (("-m", "ndcg@ten"), "error: 'ndcg@ten' is not a valid measure; expected name, name@k or"),
    (("-m", ""), "error: empty measure; expected names such as ndcg@10"),
    (("-m", "ndcg(gian=exp)@10"), "error: 'ndcg(gian=exp)@10': ndcg has no parameter 'gian'"),
    (("--ties", "coin"), "error: Invalid value for '--ties': 'coin' is not one of 'trec10', "),
    (("--match", "exakt"), "error: Invalid value for '--match': 'exakt' is not one of 'document'"),
    (("--depth", "0"), "error: depth 0 is below 1"),
    (("--depth", "ten"), "error: Invalid value for '--depth': 'ten' is not a valid integer."),
    (("--level", "nan"), "error: level nan is not a valid grade; expected a finite number"),
    (("--seed", "-1"), "error: seed -1 is negative; expected 0 or more"),
    (("--by", "team"), "error: no query is tagged with 'team'; available: file-type"),
    (("--cluster", "team"), "error: no query is tagged with 'team'; available: file-type"),
    (("--tag", "hard"), "error: tag 'hard': gold.qrels has no column of that name; it has none"),
    (("--tag", "hard=3-9"), "error: tag 'hard=3-9': gold.qrels has rows 1 to 4"),
    (("--min-overlap", "0.5"), "error: a minimum overlap applies only to the mode 'lines'"),
    (("--gold-format", "trec-qrel"), "error: no format named 'trec-qrel'; did you mean 'trec-q"),
    (("--run-format", "octocode"), "error: old.run: format 'octocode' holds a dataset; expected"),
    (("-m", "ndcg10"), "error: no metric named 'ndcg10'; did you mean 'ndcg@10'?"),
    (("-m", "mrr,P.5,10"), "error: 'mrr,P.5,10' is 3 measures; name each one: mrr,P.5,P.10"),
    (("-m", "ndcg_cut.5,10"), "error: 'ndcg_cut.5,10' is 2 measures; name each one: ndcg_cut.5,n"),
    (("-m", "map,10"), "error: no metric named '10'"),
    (("-m", "hits10"), "error: no metric named 'hits10'; did you mean 'hit'?"),
    (("--no-such-option",), "error: No such option '--no-such-option'."),
    (("--digits", "4"), "error: No such option '--digits'. karat report has it, for tables:"),
    (("--metrics", "mrr"), "error: No such option '--metrics'. Did you mean '--metric'?"),
    (("-o", "no/such/folder.txt"), "error: no/such/folder.txt: cannot be written: the folder"),
    (("-o", "x.pdf"), "error: x.pdf: unknown report format; expected .html, .md"),
    (
        ("--json", "-o", "x.html"),
        "error: x.html: -o writes the output of --json; expected a name that ends in .json, or "
        "-o x.html without --json",
    ),
    (("--level", "-1"), "error: Invalid value for '--level': -1.0 is not in the range x>=0."),
]


@pytest.mark.parametrize("command", [SCORE, COMPARE], ids=["score", "compare"])
@pytest.mark.parametrize(
    ("arguments", "message"), SETTINGS, ids=[" ".join(case[0]) for case in SETTINGS]
)
def test_a_setting_that_cannot_be_meant(
    karat: Karat, folder: Path, command: tuple[str, ...], arguments: tuple[str, ...], message: str
) -> None:
    before = sorted(folder.iterdir())
    assert refused(karat(*command, *arguments))[0].startswith(message)
    assert sorted(folder.iterdir()) == before


def test_words_too_many_are_answered_with_the_usage(karat: Karat) -> None:
    assert refused(karat("validate", "gold.qrels", "trec"))[0] == (
        "error: Got unexpected extra argument (trec); expected karat validate [OPTIONS] FILE"
    )


@pytest.mark.parametrize("command", [SCORE[:3], COMPARE], ids=["score", "compare"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--confidence", "2"), "error: confidence level 2.0 is not between 0 and 1"),
        (("--confidence", "0"), "error: confidence level 0.0 is not between 0 and 1"),
        (("--confidence", "nan"), "error: confidence level nan is not between 0 and 1"),
        (("--draws", "-5"), "error: draws is -5, too few for an interval or a test"),
        (("--draws", "1"), "error: draws is 1, too few for an interval or a test"),
    ],
)
def test_a_certainty_that_cannot_be_had(
    karat: Karat, command: tuple[str, ...], arguments: tuple[str, ...], message: str
) -> None:
    assert refused(karat(*command, *arguments))[0].startswith(message)


def test_no_draws_are_no_intervals_but_no_test_either(karat: Karat) -> None:
    plain, without = karat(*SCORE), karat(*SCORE[:3], "--draws", "0")
    assert without.stdout == plain.stdout
    assert refused(karat(*COMPARE, "--draws", "0"))[0].startswith("error: draws is 0, too few")


def test_available_tags_are_listed(karat: Karat) -> None:
    done = karat("score", "code.csv", "code.jsonl", "--by", "team")
    assert refused(done) == ["error: no query is tagged with 'team'; available: level, file-type"]


def test_one_run_is_nothing_to_compare(karat: Karat) -> None:
    done = karat("compare", "gold.qrels", "old.run")
    assert refused(done) == [
        "error: only one run to compare; give two runs or more, or engines by --agents"
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score",), "error: Missing argument 'GOLD'."),
        (("score", "gold.qrels"), "error: Missing argument 'RUN'."),
        (
            ("score", "gold.qrels", "no.run"),
            "error: Invalid value for 'RUN': Path 'no.run' does not exist.",
        ),
        (("score", "gold.qrels", "."), "error: .: this is a folder; expected a run"),
        (("score", "notes", "old.run"), "error: notes: this is a folder; expected a gold set"),
        (
            ("score", "old.run", "gold.qrels"),
            "error: old.run: this is a run (format trec-run); expected a gold set",
        ),
        (
            ("score", "gold.qrels", "gold.qrels"),
            "error: gold.qrels: this is a gold set (format trec-qrels); expected a run",
        ),
    ],
)
def test_the_wrong_file(
    karat: Karat, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    (folder / "notes").mkdir()
    (folder / "notes" / "package.json").write_text('{"name": "x"}')
    assert refused(karat(*arguments))[0] == message


def test_a_run_that_answers_other_questions_is_refused(karat: Karat, folder: Path) -> None:
    # q4 of the gold set has nothing relevant, which must not hide that nothing fits.
    (folder / "other.run").write_text("".join(f"z{n} Q0 a 1 1 t\n" for n in range(5)))
    assert refused(karat("score", "gold.qrels", "other.run")) == [
        "error: other: no query id of the run is in the gold set; the run has 'z0', 'z1', 'z2', "
        "the gold set has 'q1', 'q2', 'q3'"
    ]


def test_a_run_that_fits_in_part_is_noted(karat: Karat, folder: Path) -> None:
    rows = ["q1 Q0 a 1 1 t\n", *(f"z{n} Q0 a 1 1 t\n" for n in range(5))]
    (folder / "part.run").write_text("".join(rows))
    done = karat("score", "gold.qrels", "part.run", "--ci", "none", "--details")
    assert done.returncode == 0
    assert "2 queries of the gold set missing from the run: q2, q3\n" in done.stdout
    assert "5 queries of the run missing from the gold set: z0, z1, z2, ...\n" in done.stdout


def test_a_message_obeys_no_file_name(karat: Karat, folder: Path) -> None:
    name = "evil\x1b[31m.qrels"
    (folder / name).write_text("q1 0 a x\n")
    assert refused(karat("score", name, "old.run")) == [
        "error: evil\\x1b[31m.qrels:1: grade 'x' is not a finite number"
    ]


@pytest.mark.parametrize(
    ("command", "styles"),
    [
        (SCORE, "--json --csv"),
        (COMPARE, "--csv --markdown"),
        (("metrics", "ndcg"), "--markdown --json"),
    ],
)
def test_two_styles_exclude_each_other(karat: Karat, command: tuple[str, ...], styles: str) -> None:
    message, _ = refused(karat(*command, *styles.split()))
    assert message.endswith(" exclude each other; give one of them.")
    assert all(style in message for style in styles.split())


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("score", "prose", "old.run"), "--gold-format"),
        (("score", "gold.qrels", "prose"), "--run-format"),
        (("validate", "prose"), "--format"),
        (("convert", "prose", "x.json"), "--from"),
    ],
)
def test_an_unknown_format_names_the_option(
    karat: Karat, folder: Path, command: tuple[str, ...], option: str
) -> None:
    (folder / "prose").write_text("nothing to see here\n")
    assert f"the format is unknown; name it with {option}, one of: " in refused(karat(*command))[0]


def test_a_run_without_tags_is_one_problem_with_its_cure(karat: Karat, folder: Path) -> None:
    rows = "".join(f"q1 Q0 d{number} {number} {100 - number}\n" for number in range(1, 31))
    (folder / "notag.run").write_text(rows)
    (line,) = refused(karat("score", "gold.qrels", "notag.run"))
    assert line.startswith("error: notag.run:1: no run tag; expected query Q0 document rank ")
    assert "awk '{print $0, \"mine\"}' a.run > b.run (and on 29 more lines)" in line


def test_a_folder_of_results_needs_engines(karat: Karat) -> None:
    (line,) = refused(karat(*COMPARE, "-o", "results/"))[:1]
    assert line == "error: results/: a folder of results needs engines; see --agents"


@pytest.mark.parametrize(
    ("value", "hint"), [("exakt", " Did you mean 'exact'?"), ("s", ""), ("nothing", "")]
)
def test_a_choice_that_is_nearly_right(karat: Karat, value: str, hint: str) -> None:
    (line, *_) = refused(karat("score", "gold.qrels", "old.run", "--match", value))
    assert line.endswith(f"'graded'.{hint}")
