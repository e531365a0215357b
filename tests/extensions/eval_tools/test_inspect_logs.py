"""Logs of Inspect."""

import json
import zipfile
from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.extensions.eval_tools.inspect_logs import value_of
from tests.extensions.eval_tools.conftest import Read, Write, columns, statuses

ABOUT = {"task": "capitals", "task_id": "t1", "model": "openai/gpt", "dataset": {"samples": 4}}
HEADER = {"version": 2, "status": "success", "eval": ABOUT}


def sample(number: int, value: object, *, epoch: int = 1, **more: object) -> dict[str, object]:
    return {
        "id": number,
        "epoch": epoch,
        "input": f"question {number}",
        "scores": {"match": {"value": value, "explanation": "because"}},
        "model_usage": {"openai/gpt": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}},
        "total_time": 2.5,
        **more,
    }


# Sample 1 is right in one of two epochs; 2 failed; 3 is invalid; 4 was stopped and then scored.
SAMPLES = [
    sample(2, "C", scores={}, error={"message": "timeout"}),
    sample(1, "C"),
    sample(1, "I", epoch=2),
    sample(3, "C", invalidation={"author": "me"}),
    sample(4, "P", limit={"type": "token", "limit": 100}),
]


def eval_log(path: Path, header: object, samples: list[dict[str, object]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        for each in samples:
            archive.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
    return path


def check(scores: object, remarks: tuple[str, ...], name: str) -> None:
    assert remarks == (
        f"{name}: 1 sample failed with an error",
        f"{name}: 1 sample invalidated, without a score",
        f"{name}: samples stopped at a limit keep their score: 1 by token",
    )


def test_a_log_by_hand(tmp_path: Path, read: Read) -> None:
    known = read("inspect", eval_log(tmp_path / "a.eval", HEADER, SAMPLES))
    scores = known.scores
    assert scores.systems == ("openai/gpt",)
    assert scores.query_ids == tuple(f"capitals/{number}" for number in (1, 2, 3, 4))
    assert scores.trials == 2
    assert columns(scores, "match")["openai/gpt"] == pytest.approx(
        [0.5, float("nan"), float("nan"), 0.5], nan_ok=True
    )
    assert statuses(scores, "openai/gpt") == ["SCORED", "ERROR", "MISSING", "SCORED"]
    assert scores.texts[0] == "question 1"
    assert scores.column("openai/gpt", "tokens")[0] == 10
    assert scores.column("openai/gpt", "seconds")[3] == 2.5
    assert [each.lower_is_better for each in scores.measures] == [False, True, True]
    check(scores, known.remarks, "a.eval")


def test_json_is_the_same(tmp_path: Path, write: Write, read: Read) -> None:
    packed = read("inspect", eval_log(tmp_path / "a.eval", HEADER, SAMPLES))
    plain = read("inspect", write("a.json", {**HEADER, "samples": SAMPLES}))
    assert str(plain.scores.values) == str(packed.scores.values)
    assert plain.scores.statuses == packed.scores.statuses
    check(plain.scores, plain.remarks, "a.json")


def test_summaries_are_enough_where_nothing_is_invalid(tmp_path: Path, read: Read) -> None:
    samples = [each for each in SAMPLES if "invalidation" not in each]
    whole = read("inspect", eval_log(tmp_path / "whole.eval", HEADER, samples))
    path = eval_log(tmp_path / "brief.eval", {**HEADER, "invalidated": False}, [])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("summaries.json", json.dumps(samples))
    brief = read("inspect", path)
    assert str(brief.scores.values) == str(whole.scores.values)


def test_zstandard(tmp_path: Path, read: Read) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "a.eval"
    members = {
        "header.json": HEADER,
        **{f"samples/{number}_epoch_1.json": sample(number, "C") for number in (1, 2)},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, value in members.items():
            archive.writestr(name, zstandard.compress(json.dumps(value).encode()))
    # Method 93 is Zstandard; a zip names it in each member and again in its directory.
    data = path.read_bytes()
    data = data.replace(b"PK\x03\x04\x14\0\0\0\0\0", b"PK\x03\x04\x14\0\0\0\x5d\0")
    data = data.replace(b"PK\x01\x02\x14\x03\x14\0\0\0\0\0", b"PK\x01\x02\x14\x03\x14\0\0\0\x5d\0")
    assert data.count(b"\x14\0\0\0\x5d\0") == 2 * len(members)
    path.write_bytes(data)
    assert columns(read("inspect", path).scores, "match") == {"openai/gpt": [1.0, 1.0]}


def test_several_scorers_and_values(write: Write, read: Read) -> None:
    scores = {
        "judge": {"value": {"style": 0.5, "facts": "yes"}},
        "free": {"value": float("nan")},
        "letters": {"value": "B"},
    }
    known = read("inspect", write("a.json", {**HEADER, "samples": [sample(1, "C", scores=scores)]}))
    assert columns(known.scores, "judge.facts") == {"openai/gpt": [1.0]}
    assert columns(known.scores, "judge.style") == {"openai/gpt": [0.5]}
    assert statuses(known.scores, "openai/gpt") == ["SCORED"]
    assert known.remarks == (
        "a.json: 1 value of free without a number, left out",
        "a.json: 1 value of letters without a number, left out",
    )


def test_values_as_inspect_reads_them() -> None:
    known = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "Yes": 1.0, "false": 0.0, "3": 3.0, "x": None}
    assert {value: value_of(value) for value in known} == known


def test_a_killed_or_unscored_evaluation(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": ABOUT}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample(1, "C")))
    assert read("inspect", path).remarks == (
        "a.eval: the evaluation is without a status; it has 1 of 4 samples",
    )
    eval_log(path, HEADER, [sample(1, "C", scores=None)])
    with pytest.raises(FormatError, match="`inspect score` adds scores to a log"):
        read("inspect", path)
    path.write_bytes(b"PK nothing")
    with pytest.raises(FormatError, match="not a log of Inspect"):
        read("inspect", path)


def test_two_logs_of_one_model_are_two_systems(tmp_path: Path, read: Read) -> None:
    names = ("2026-01-02T10_capitals_x.eval", "2026-01-03T10_capitals_y.eval")
    paths = [eval_log(tmp_path / name, HEADER, [sample(1, "C")]) for name in names]
    known = read("inspect", *paths)
    assert known.scores.systems == ("openai/gpt (2026-01-02T10)", "openai/gpt (2026-01-03T10)")
    assert read("inspect", tmp_path).scores.systems == known.scores.systems
