"""karat engines: what there is, and whether it works."""

import json
import sys
from math import nan
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from karat.app import engines as app
from karat.app.engines import overhead
from karat.cli.commands.engines import command
from karat.engines.registry import ENGINES
from karat.errors import EngineError, InputError
from karat.installation import install_hint
from karat.model import Hit

ANSWERS = (
    "import json, sys\n"
    "for line in sys.stdin:\n"
    "    request = json.loads(line)\n"
    "    hits = [{'path': p} for p in ('src/auth.py', '/etc/passwd', 'gone.py', 'src/auth.py')]\n"
    "    answer = {'id': request['id'], 'hits': hits, 'usage': {'total_tokens': 12}, 'cost': 0.5}\n"
    "    print(json.dumps(answer), flush=True)\n"
)
MODULE = """
from karat.model import Hit
class Broken:
    name = "broken"
    def index(self, corpus): self.number = 0
    def search(self, query, k):
        self.number += 1
        return [Hit("src/auth.py", 1.0), Hit("nowhere.py", 2.0)][self.number % 2:]
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def spec_of(code: str) -> str:
    return json.dumps({"engine": "process", "command": [sys.executable, "-c", code], "name": "toy"})


def test_every_engine_is_listed() -> None:
    done = run()
    assert done.exit_code == 0
    # An extension with models adds a last line about their devices.
    lines = [line for line in done.output.splitlines() if not line.startswith("models here: ")]
    assert [line.split()[0] for line in lines] == list(ENGINES)
    listed = json.loads(run("--json").output)
    assert [entry["name"] for entry in listed] == list(ENGINES)
    assert all(entry["built_in"] for entry in listed)


def test_what_is_missing_is_named_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "find_spec", lambda package: None if package == "mcp" else object())
    line = next(line for line in run().output.splitlines() if line.startswith("mcp"))
    assert line == f"{line[: line.index('not')]}not available, needs mcp: {install_hint('mcp')}"
    entry = next(entry for entry in json.loads(run("--json").output) if entry["name"] == "mcp")
    assert (entry["available"], entry["install"]) == (False, install_hint("mcp"))


def test_a_check_shows_hits_drops_and_overhead() -> None:
    done = run("check", spec_of(ANSWERS))
    assert done.exit_code == 0, done.output
    for line in (
        "toy: process, configuration ",
        "corpus sample: 3 documents",
        "query 'login password': 1 hit\n",
        "1. src/auth.py  1",
        "dropped: outside the root (1)",
        "dropped: not in the corpus (1)",
        "dropped: duplicate (1)",
        "last query: tokens 12, cost 0.5\n",
        "overhead of the process adapter (measured with a no-op engine): median ",
        "  works",
    ):
        assert line in done.output


def test_a_check_as_json(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "auth.py").write_text("login\n")
    (tmp_path / "scan.raw").write_bytes(b"\0")
    arguments = ["--corpus", str(tmp_path), "--query", "x", "-k", "3", "--no-calibrate", "--json"]
    document: dict[str, Any] = json.loads(run("check", spec_of(ANSWERS), *arguments).stdout)
    assert (document["skipped"], document["skipped_files"]) == (
        {"binary": 1},
        {"binary": ["scan.raw"]},
    )
    assert (document["works"], document["documents"], document["overhead"]) == (True, 1, None)
    assert document["hits"][0]["path"] == "src/auth.py"
    assert document["invalid"] == {"outside the root": 1, "not in the corpus": 1, "duplicate": 1}
    assert set(document["phases_ns"]) == {"call", "check"}
    assert (document["tokens"], document["cost"]) == (12, 0.5)


def test_an_engine_that_breaks_the_law(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "karat_test_broken.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    done = run("check", "karat_test_broken:Broken")
    assert done.exit_code == 3
    assert "dropped: not in the corpus (1)" in done.output
    assert "contract violation: not deterministic: two identical queries returned " in done.output
    assert done.output.endswith("does not work\n")


JITTER = """
from karat.model import Hit
class Jitter:
    name = "jitter"
    thread_safe = True
    def index(self, corpus): self.number = 0
    def search(self, query, k):
        self.number += 1
        last = 31.368613101395507 if self.number % 2 else 31.368613101395503
        tied = [Hit("src/mail.py", 2.0), Hit("docs/login.md", 2.0)]
        hits = [Hit("src/auth.py", last), *(tied if self.number % 2 else tied[::-1])]
        return hits if query else []
"""


def test_rounding_and_ties_are_not_called_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "karat_test_jitter.py").write_text(JITTER)
    monkeypatch.syspath_prepend(str(tmp_path))
    done = run("check", "karat_test_jitter:Jitter")
    assert (done.exit_code, done.output.endswith("works\n")) == (0, True), done.output


HITS = [("a", 3.0), ("b", 2.0), ("c", 2.0), ("d", 1.0)]


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        (HITS, [HITS[0], HITS[2], HITS[1], HITS[3]], ""),
        ([("a", 1.0)], [("a", 1.0 + 9e-7)], ""),
        ([("a", nan), ("b", nan)], [("a", nan), ("b", nan)], ""),
        ([("a", nan), ("b", nan)], [("b", nan), ("a", nan)], "different hits, first at rank 1: a"),
        ([("a", 1.0)], [("a", 1.0 + 2e-6)], "different scores, first at rank 1: a (score 1) and a"),
        ([("a", 2.0)], [("a", 2.0), ("b", 1.0)], "1 and 2 hits"),
        (
            [("a", 2.0), ("b", 0.8123)],
            [("a", 2.0), ("b", 0.8122)],
            "different scores, first at rank 2: b (score 0.8123) and b (score 0.8122)",
        ),
        (
            [("a", 2.0)],
            [("b", 2.0)],
            "different hits, first at rank 1: a (score 2) and b (score 2)",
        ),
        (HITS, [*HITS[:2], HITS[1], HITS[3]], "different hits, first at rank 3: c (score 2) and b"),
    ],
)
def test_the_first_difference_of_an_unstable_engine(
    first: list[tuple[str, float]], second: list[tuple[str, float]], difference: str
) -> None:
    before, after = ([Hit(path, score) for path, score in one] for one in (first, second))
    told = app.first_difference(before, after, k=10)
    assert told.startswith(difference)
    assert bool(told) == bool(difference)


def test_ties_at_the_cut_may_be_any_of_the_tied() -> None:
    before, after = ([Hit("a", 2.0), Hit(last, 1.0)] for last in "bc")
    assert app.first_difference(before, after, k=2) == ""
    assert app.first_difference(before, after, k=3).startswith("different hits, first at rank 2: b")


def test_what_a_class_raises_is_told_as_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = MODULE.replace("self.number += 1", "raise ValueError('no json')")
    (tmp_path / "karat_test_raises.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    error = run("check", "karat_test_raises:Broken").exception
    assert isinstance(error, EngineError)
    assert str(error) == "broken: ValueError: no json"


PATHS = "'src/auth.py', '/etc/passwd', 'gone.py', 'src/auth.py'"


def test_an_engine_all_of_whose_hits_are_dropped_does_not_work() -> None:
    wrong = "'src/x.py', 'src/y.py', 'src/x.py', 'src/z.py', 'src/last.py'"
    done = run("check", spec_of(ANSWERS.replace(PATHS, wrong)))
    assert done.exit_code == 3
    assert (
        "  dropped: not in the corpus (5): 'src/x.py', 'src/y.py', 'src/z.py'; paths must be "
        "relative to the folder that is searched\n"
    ) in done.output
    assert done.output.endswith(
        "\n  does not work: its hits are not files of the sample; if it searches other documents "
        "than the sample, add --corpus DIR\n"
    )
    assert "try another" not in done.output


def test_hits_outside_a_named_corpus_are_not_blamed_on_the_sample(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("login\n")
    wrong = spec_of(ANSWERS.replace(PATHS, "'src/x.py'"))
    done = run("check", wrong, "--corpus", str(tmp_path), "--no-calibrate")
    assert done.exit_code == 3
    assert done.output.endswith("\n  does not work: no valid hit\n")


def answering(answer: object, **options: str) -> str:
    """Return a command that prints *answer*, as JSON."""
    printed = f"print({json.dumps(answer)!r})"
    command = [sys.executable, "-c", printed, "{query}"]
    return json.dumps({"engine": "command", "name": "toy", "command": command, **options})


FOUND = {"took": 3, "results": [{"file": "src/auth.py", "rank_score": 2}]}


@pytest.mark.parametrize(
    ("answer", "options", "code", "expected"),
    [
        (
            FOUND,
            {"hits": "$.hitz[*]"},
            3,
            "does not work: $.hitz[*] matches nothing; the answer has the keys took, results\n",
        ),
        (
            [FOUND],
            {"hits": "results[*]"},
            3,
            "does not work: results[*] matches nothing; the answer is a list\n",
        ),
        (
            FOUND,
            {"hits": "$.results[*]", "path": "filename"},
            3,
            "does not work: a hit has no 'filename'; its keys are file, rank_score\n",
        ),
        (
            {"results": [{"url": "a"}]},
            {},
            3,
            "does not work: a hit has no path; its keys are url\n",
        ),
        # A wrong second key may be a search without results.
        (
            {"data": {}},
            {"hits": "$.data.items[*]"},
            0,
            "warning: $.data.items[*] matches nothing; the answer has the keys data\n",
        ),
        ({"took": 3, "results": []}, {"hits": "$.results[*]"}, 0, "works, but returned 0 hits"),
        ({}, {"hits": "$.results[*]"}, 0, "works, but returned 0 hits"),
    ],
)
def test_a_wrong_path_in_the_answer_is_named(
    answer: object, options: dict[str, str], code: int, expected: str
) -> None:
    done = run("check", answering(answer, **options), "--repeat", "2", "--no-calibrate")
    assert done.exit_code == code, done.output
    assert expected in done.output
    assert "''" not in done.output
    if code:
        document = json.loads(
            run("check", answering(answer, **options), "--no-calibrate", "--json").stdout
        )
        assert expected == f"does not work: {document['problem']}\n"


def test_a_corpus_is_asked_for_its_own_words(tmp_path: Path) -> None:
    for name in ("amber", "basalt", "copper"):
        (tmp_path / f"{name}.md").write_text(f"# About {name}\n\nWhere it is mined.\n")
    done = run("check", "bm25", "--corpus", str(tmp_path))
    assert "query 'about basalt': 1 hit\n" in done.output
    assert "1. basalt.md" in done.output


def test_no_hits_is_said() -> None:
    done = run("check", spec_of(ANSWERS.replace(PATHS, "")))
    assert "warning: no hits; try another --query or --corpus" in done.output
    assert done.exit_code == 0
    assert done.output.endswith(
        "  works, but returned 0 hits for the test query 'login password'; try --query\n"
    )


def test_bad_arguments() -> None:
    assert isinstance(run("check", "htpp").exception, InputError)
    assert isinstance(run("check", spec_of(ANSWERS), "--repeat", "1").exception, InputError)
    assert isinstance(run("check", spec_of("raise SystemExit(1)")).exception, EngineError)


def test_a_delayed_acknowledgement_is_told_from_a_slow_search() -> None:
    delayed = app._warnings((), {}, [41_000_000, 44_000_000, 43_000_000])
    assert any("the body arrives 43 ms after the headers" in warning for warning in delayed)
    for bodies in ([], [100_000, 44_000_000, 100_000], [200_000_000] * 3):
        assert not any("headers" in warning for warning in app._warnings((), {}, bodies))


@pytest.mark.parametrize(
    ("kind", "params"),
    [("command", {}), ("process", {}), ("http", {}), ("mcp", {}), ("mcp", {"url": "http://x"})],
)
def test_overheads_are_measured(kind: str, params: dict[str, object]) -> None:
    measured = overhead(kind, params, calls=5)
    assert measured is not None
    assert measured.calls == 5
    assert 0 < measured.median_ns <= measured.p99_ns < 5_000_000_000


def test_an_engine_in_this_process_has_none() -> None:
    assert overhead("my:Class", {}) is None
