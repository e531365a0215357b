"""Results of promptfoo."""

from pathlib import Path

from tests.command_line import Karat
from tests.extensions.eval_tools.conftest import Read, Write, columns, statuses


def result(test: int, prompt: int, score: float, **more: object) -> dict[str, object]:
    """Return a result as promptfoo writes it; *score* 1 is a success."""
    variables = more.pop("vars", {"name": f"user {test}"})
    return {
        "promptIdx": prompt,
        "testIdx": test,
        "provider": {"id": "echo", "label": ""},
        "prompt": {"raw": f"text for user {test}", "label": ("Hello {{name}}", "Hi")[prompt]},
        "vars": variables,
        "testCase": {"vars": variables, "assert": [{"type": "contains", "value": "x"}]},
        "success": score == 1,
        "score": score,
        "namedScores": {},
        "failureReason": 0 if score == 1 else 1,
        "error": None if score == 1 else "Expected output to contain x",
        "gradingResult": {"pass": score == 1, "score": score},
        "latencyMs": 20 + test,
        "cost": 0,
        **more,
    }


def export(results: list[dict[str, object]]) -> dict[str, object]:
    """Return an export with *results*."""
    inner = {"version": 3, "timestamp": "2026", "prompts": [], "results": results, "stats": {}}
    return {"evalId": "eval-1", "results": inner, "config": {}, "shareableUrl": None}


# In the order in which they ended, and not in that of the prompts.
RESULTS = [
    result(1, 1, 0),
    result(0, 1, 1),
    result(0, 0, 1),
    result(1, 0, 0.25),
    result(2, 0, 0, failureReason=2, error="429", gradingResult=None),
    result(2, 1, 1),
]


def test_an_export_by_hand(write: Write, read: Read) -> None:
    known = read("promptfoo", write("results.json", export(RESULTS)))
    scores = known.scores
    # The first prompt is the baseline; one provider needs no name.
    assert scores.systems == ("Hello {{name}}", "Hi")
    assert scores.query_ids == ("name: user 0", "name: user 1", "name: user 2")
    assert columns(scores, "score")["Hello {{name}}"][:2] == [1.0, 0.25]
    assert columns(scores, "success")["Hi"] == [1.0, 0.0, 1.0]
    # A failed assertion is a score of 0, a failed provider is none.
    assert statuses(scores, "Hello {{name}}") == ["SCORED", "SCORED", "ERROR"]
    assert known.remarks == ("results.json: 1 result failed with an error of its provider",)
    # Its provider has no prices.
    assert [measure.name for measure in scores.measures] == ["success", "score", "latency_ms"]


def test_lines_are_the_same(write: Write, read: Read) -> None:
    whole = read("promptfoo", write("results.json", export(RESULTS)))
    lines = read("promptfoo", write("results.jsonl", RESULTS))
    assert str(lines.scores.values) == str(whole.scores.values)


def test_repetitions_are_trials(write: Write, read: Read) -> None:
    same = {"vars": {"name": "Ann"}}
    repeated = [result(0, 0, 1, **same), result(1, 0, 0, **same), result(2, 0, 1)]
    scores = read("promptfoo", write("results.json", export(repeated))).scores
    assert (scores.query_ids, scores.trials) == (("name: Ann", "name: user 2"), 2)
    assert columns(scores, "success") == {"echo": [0.5, 1.0]}
    # Here the score is the success.
    assert [measure.name for measure in scores.measures] == ["success", "latency_ms"]


def test_one_text_in_two_test_cases(write: Write, read: Read) -> None:
    other = {"vars": {"name": "user 0"}, "assert": [{"type": "equals", "value": "y"}]}
    scores = read(
        "promptfoo",
        write("results.json", export([result(0, 0, 1), result(0, 0, 1, testCase=other)])),
    ).scores
    assert len(scores.query_ids) == 2
    assert all(query.startswith("name: user 0 #") for query in scores.query_ids)


def test_providers_and_prompts_that_share_a_label(write: Write, read: Read) -> None:
    gpt = {"provider": {"id": "openai:gpt", "label": "gpt"}}
    labels = [{"raw": "", "label": "word " * 30 + end} for end in ("one", "two")]
    results = [{**result(0, number, 1, **gpt), "prompt": labels[number]} for number in (0, 1)]
    first, second = read("promptfoo", write("r.json", export(results))).scores.systems
    assert (first[-4:], second[-4:]) == (" (1)", " (2)")
    results = [result(0, 0, 1, **gpt), result(0, 0, 1), result(0, 1, 1)]
    systems = read("promptfoo", write("r.json", export(results))).scores.systems
    assert systems == ("gpt, Hello {{name}}", "echo, Hello {{name}}", "echo, Hi")


def test_a_verdict_in_one_command(karat: Karat, folder: Path, write: Write) -> None:
    results = [result(test, prompt, float(prompt)) for test in range(12) for prompt in (0, 1)]
    path = write("results.json", export(results))
    done = karat("compare", str(path), "-m", "success")
    assert done.returncode == 0
    assert "Hi is better than Hello {{name}}: success +1.000" in done.stdout
