"""karat inspect: the cases of a gold set, or one with its diff and its code."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING, Any

import pytest

from karat.cli import main
from karat.extensions.mining.generate import generate, write_gold
from karat.extensions.mining.recipe import MiningRecipe
from karat.extensions.mining.targets import Grain
from karat.formats import read_dataset, write
from karat.model import Dataset, Query, Target

if TYPE_CHECKING:
    from tests.git_history import Builder

pytestmark = pytest.mark.together_with("inspect")

Inspect = Callable[..., CompletedProcess[str]]


@pytest.fixture
def inspect(
    project: "Builder",
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Inspect:
    """Return what runs `karat inspect gold.json` on the cases of the project, by line."""
    monkeypatch.chdir(tmp_path)
    write_gold(generate([project.path], MiningRecipe(grain=Grain.LINE)).dataset, "gold.json")

    def run(*arguments: str, file: str = "gold.json") -> CompletedProcess[str]:
        with pytest.raises(SystemExit) as caught:
            main(["inspect", file, *arguments])
        streams = capsys.readouterr()
        code = caught.value.code or 0
        assert isinstance(code, int)
        return CompletedProcess(arguments, code, streams.out, streams.err)

    return run


def edit(change: Callable[[dict[str, Any]], None]) -> None:
    """Change the first case of gold.json."""
    value = json.loads(Path("gold.json").read_text(encoding="utf-8"))
    change(value["test_cases"][0])
    Path("gold.json").write_text(json.dumps(value), encoding="utf-8")


def case(words: str) -> str:
    """Return the id of the case that asks for *words*."""
    cases = read_dataset("gold.json").queries()
    return next(query.id for query in cases if words in query.text)


def test_a_list(inspect: Inspect) -> None:
    lines = inspect().stdout.splitlines()
    assert lines[0] == "history0, 6 cases"
    assert lines[2].split() == ["id", "files", "difficulty", "leak", "category", "query"]
    assert lines[6].split()[1:] == [
        *("2", "medium", "stem", "concept_search"),
        *("send", "a", "mail", "for", "each", "abandoned", "cart"),
    ]


def test_a_list_ends_with_the_change_that_it_can_detect(inspect: Inspect) -> None:
    queries = [Query(f"q{n}", "text", (Target("a.py", 1),)) for n in range(250)]
    write(Dataset.of(queries, name="many"), "many.json")
    listed = " ".join(inspect(file="many.json").stdout.split())
    assert "250 queries detect a change of about 0.03 in ndcg@10" in listed


def test_json(inspect: Inspect) -> None:
    cases = json.loads(inspect("--json").stdout)
    assert len(cases) == 6
    assert {"id", "query", "tags", "targets"} == cases[0].keys()
    value = json.loads(inspect(case("mail"), "--json").stdout)
    assert value["query"] == "send a mail for each abandoned cart"
    assert value["message"] == "Send a mail for each abandoned cart"
    assert "+    return 4" in value["diff"]
    mail = next(one for one in value["should_find"] if one["target"]["path"] == "shop/mail.py")
    assert (mail["first_line"], mail["lines"][2]) == (3, "    return 0")


def test_a_case(inspect: Inspect) -> None:
    done = inspect(case("mail")[:9])
    assert (done.returncode, done.stderr) == (0, "")
    assert "query         send a mail for each abandoned cart\n" in done.stdout
    assert (
        "  shop/mail.py:5-5  grade 2  get_mail\n"
        "       3   \n"
        "       4   def get_mail():\n"
        "       5 >     return 0\n"
    ) in done.stdout
    assert "\nmessage\n  Send a mail for each abandoned cart\n" in done.stdout
    assert "\n  -    return 0\n  +    return 4\n" in done.stdout
    assert "tests/test_4.py" not in done.stdout, "only the targets are shown"


def test_colours_on_a_terminal(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "\x1b[32m+    return 4\x1b[0m" in inspect(case("mail")).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in inspect(case("mail")).stdout


def test_what_a_terminal_would_obey_is_escaped(
    project: "Builder", inspect: Inspect, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.commit({"shop/cart.py": "x = '\x1b[31m'\n"}, "Show carts of visitors in \x1b[31mred")
    write_gold(generate([project.path], MiningRecipe()).dataset, "gold.json")
    output = inspect(case("carts of visitors")).stdout
    assert "\x1b" not in output
    assert r"+x = '\x1b[31m'" in output


def test_a_file_that_was_renamed(project: "Builder", inspect: Inspect) -> None:
    code = "".join(f"x{number} = {number}\n" for number in range(20))
    project.commit({"shop/old.py": code}, "Start again")
    moved = {"shop/old.py": None, "shop/new.py": code.replace("x3 = 3", "x3 = 4")}
    project.commit(moved, "Count visitors twice in reports")
    write_gold(generate([project.path], MiningRecipe()).dataset, "gold.json")
    output = inspect(case("visitors twice")).stdout
    assert "shop/old.py  grade 2" in output
    assert "rename to shop/new.py" in output


def test_no_such_case(inspect: Inspect) -> None:
    first, second = read_dataset("gold.json").query_ids[:2]
    assert f"did you mean {first!r}?" in inspect(f"{first[:-1]}x").stderr
    assert (
        inspect("zzz").stderr == "error: no case 'zzz' in history0; karat inspect lists all ids\n"
    )
    edit(lambda case: case.update(id=f"{second}-again"))
    assert inspect(second).returncode == 0, "an id in full is no beginning of another"
    done = inspect(second[:10])
    assert (done.returncode, "2 ids begin with" in done.stderr) == (2, True)


def test_without_its_repository(inspect: Inspect, project: "Builder", tmp_path: Path) -> None:
    project.folder.rename(tmp_path / "elsewhere")
    done = inspect(case("mail"))
    assert (done.returncode, "shop/mail.py:5-5" in done.stdout) == (0, True)
    assert done.stderr == (
        f"note: history0 was mined from {project.path}, which does not exist here, and "
        "the current folder does not have its commits; name it (--repo)\n"
    )
    assert "+    return 4" in inspect(case("mail"), "--repo", str(tmp_path / "elsewhere")).stdout


def test_a_commit_that_is_not_there(inspect: Inspect) -> None:
    first = read_dataset("gold.json").query_ids[0]
    edit(lambda case: case.update(commit_hash="--output=/tmp/x"))
    done = inspect(first)
    assert (done.returncode, "has no commit '--output=/tmp/x'" in done.stderr) == (0, True)


def test_a_target_that_is_not_there(inspect: Inspect) -> None:
    first = read_dataset("gold.json").query_ids[0]

    def lose(case: dict[str, Any]) -> None:
        case["targets"] = [{"path": "shop/none.py", "grade": 1}]
        case["ground_truth_files"] = ["shop/none.py"]

    edit(lose)
    assert "shop/none.py  grade 1  (does not exist at " in inspect(first).stdout


def test_a_set_that_was_not_mined(inspect: Inspect) -> None:
    Path("code.csv").write_text("query,result1\nwhere is login,src/a.py:10-19:2\n")
    assert "where is login" in inspect(file="code.csv").stdout
    done = inspect("1", file="code.csv")
    assert (done.returncode, "src/a.py:10-19  grade 2" in done.stdout) == (0, True)
    assert done.stderr == "note: the case has no commit\n"
