"""What holds for every format, of the formats of other benchmarks."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.app.validate import validate
from karat.errors import FormatError, InputError, LimitExceeded
from karat.extensions.neighbours.extension import EXTENSION
from karat.formats import FORMATS, detect, read, write
from karat.model import Dataset, Query, Target
from tests.docs.pages import page
from tests.formats.examples import CUTS, HEADING, check_damage, check_examples, files_of
from tests.formats.roundtrip import check_dataset_survives, check_losses, datasets

Karat = Callable[..., CompletedProcess[str]]

NAMES = sorted(EXTENSION.adds["format"])
WRITABLE = [name for name in NAMES if FORMATS.get(name).write]
PAGE = page("neighbours")
EXAMPLES = files_of(PAGE)


def test_every_format_has_a_section_with_an_example(tmp_path: Path) -> None:
    assert sorted(HEADING.findall(PAGE.read_text(encoding="utf-8"))) == NAMES
    assert sorted(check_examples(PAGE, tmp_path)) == sorted(EXAMPLES) == NAMES


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WRITABLE])
def test_a_format_that_is_only_read_is_detected_by_its_content(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file.dat"
    path.write_bytes(EXAMPLES[name])
    assert detect(path).name == name


@pytest.mark.parametrize("name", NAMES)
@given(cuts=CUTS)
def test_no_damage_breaks_a_reader(
    name: str,
    cuts: list[tuple[float, int, bytes]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    check_damage(EXAMPLES[name], cuts, name, tmp_path_factory.mktemp("damage") / "file")


@pytest.mark.parametrize("name", WRITABLE)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_dataset_survives(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check_dataset_survives(data.draw(datasets(name)), name, tmp_path_factory.mktemp("trip"))


@pytest.mark.parametrize("name", WRITABLE)
def test_what_is_lost_is_named_and_what_is_left_can_be_read(name: str, tmp_path: Path) -> None:
    check_losses(name, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_empty_and_missing_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    for content in (b"", b" \n", b"\xef\xbb\xbf"):
        path.write_bytes(content)
        with pytest.raises(FormatError):
            read(path, format=name)
    with pytest.raises(InputError):
        read(tmp_path / "absent", format=name)


@pytest.mark.parametrize(
    ("name", "setting"), [("akashic", "yaml_bytes"), ("semantik", "upload_bytes")]
)
def test_a_file_of_two_gigabytes_is_refused_unread(name: str, setting: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with path.open("wb") as stream:
        stream.truncate(2 << 30)  # a hole: no byte is written
    with pytest.raises(LimitExceeded, match=f"setting {setting}"):
        read(path, format=name)


def test_they_come_before_plain_tables_and_may_be_ambiguous(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_text("query_key,query_text,path\nq,who,a.md\n")
    assert detect(path).name == "semantik-csv"
    both = tmp_path / "both.json"
    both.write_text('{"test_cases": [], "queries": []}')
    with pytest.raises(InputError, match="the format could be gold or semantik"):
        detect(both)


def test_a_plain_file_is_still_written_in_a_format_of_karat(tmp_path: Path) -> None:
    files = Dataset.of([Query("a", "who", (Target("x.md", 2), Target("y.md")))], name="g")
    assert write(files, tmp_path / "out.csv").name == "csv"
    assert write(files, tmp_path / "out.json").name == "gold"
    assert write(files, tmp_path / "out.yaml").name == "akashic"


# One target that is there and one that is not.
POINTING = {
    "akashic": "queries:\n- {id: '1', query: q, expected_files: [a.p, no.py]}\n",
    "semantik": '{"schema_version": "1.0", "queries": [{"query_key": "1", "query_text": "q", '
    '"relevant_docs": [{"doc_ref": {"path": "a.py"}}, {"doc_ref": {"path": "no.py"}}]}]}',
    "semantik-csv": "query_key,query_text,uri\n1,q,file:///x/a.py\n1,,file:///x/no.py\n",
    "semble": '[{"query": "q", "relevant": ["a.py", "no.py"], "category": "c"}]',
    "swe-bench": json.dumps(
        {
            "instance_id": "1",
            "repo": "o/n",
            "base_commit": "HEAD",
            "problem_statement": "q",
            "patch": "".join(
                f"--- a/{name}\n+++ b/{name}\n@@ -1,1 +1,1 @@\n-x\n+y\n"
                for name in ("a.py", "no.py")
            ),
        }
    ),
}


@pytest.mark.parametrize("name", POINTING)
def test_the_targets_are_looked_up(name: str, tmp_path: Path, git: Callable[..., str]) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("def f():\n    pass\n")
    for words in ("init --quiet", "add .", "commit --quiet -m one"):
        git(project, *words.split())
    path = tmp_path / "set"
    path.write_text(POINTING[name])
    validation = validate(path, format=name, repositories={"": str(project)})
    assert (validation.queries, validation.entries) == (1, 2)
    assert (validation.missing, validation.checked["paths"]) == ({"paths": 1}, 2)
    (problem,) = validation.problems
    assert "no.py' at " in str(problem)


def test_a_conversion_names_what_a_format_cannot_hold(karat: Karat, folder: Path) -> None:
    done = karat("convert", "code.csv", "q.yaml")
    assert done.returncode == 0
    assert done.stdout == "q.yaml: 3 queries, 4 entries, octocode -> akashic\n"
    assert done.stderr.splitlines() == [
        "warning: not written: grades other than 1",
        "warning: not written: line ranges",
        "warning: not written: tags",
        "warning: not written: matching mode 'lines', which becomes 'akashic'",
    ]
