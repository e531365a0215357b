"""Test sets of Ragas and DeepEval."""

import json
from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.formats import detect, read_dataset
from karat.model import Target

RAGAS = [
    {
        "user_input": "who",
        "reference_contexts": ["<1-hop>\n\nIt is me.", "<2-hop>\n\nIt is you."],
        "reference": "both",
        "synthesizer_name": "multi",
    },
    {"user_input": "nobody", "reference_contexts": [], "reference": ""},
]
DEEPEVAL = [
    {"input": "who", "expected_output": "me", "context": ["It is me."], "source_file": "a.md"},
    {"input": "where", "expected_output": "", "context": None, "source_file": "/srv/b.md"},
]


def quote(text: str, path: str = "") -> Target:
    return Target(path, symbol=text, ref="quote")


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv", "parquet"])
def test_ragas(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"x.{kind}"
    if kind == "json":
        path.write_text(json.dumps(RAGAS))
    elif kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, RAGAS)))
    else:
        polars = pytest.importorskip("polars")
        if kind == "parquet":
            polars.DataFrame(RAGAS).write_parquet(path)
        else:
            # pandas writes a list as Python spells it.
            rows = [{**row, "reference_contexts": str(row["reference_contexts"])} for row in RAGAS]
            polars.DataFrame(rows).write_csv(path)
    assert detect(path).name == "ragas"
    data = read_dataset(path, tags=["synthesizer_name"])
    assert data.texts == ("who", "nobody")
    assert data.targets(0) == [quote("It is me."), quote("It is you.")]
    assert data.targets(1) == []
    assert data.extras[0] == {"synthesizer_name": "multi", "reference": "both"}
    assert data.tags == {"synthesizer_name": ("multi", "")}


def test_deepeval(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(DEEPEVAL))
    assert detect(path).name == "deepeval"
    data = read_dataset(path)
    assert data.targets(0) == [quote("It is me.", "a.md")]
    assert data.targets(1) == [Target("/srv/b.md", ref="uri")]
    path = tmp_path / "x.csv"
    path.write_text("input,expected_output,context,source_file\nwho,me,It is me.|It is you.,\n")
    assert detect(path).name == "deepeval"
    assert read_dataset(path).targets(0) == [quote("It is me."), quote("It is you.")]


def test_problems(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('[\n{"user_input": "", "reference_contexts": ["x"]}]')
    with pytest.raises(FormatError, match=r"x\.json:2: the question is missing or empty"):
        read_dataset(path)
