"""Results of claude plugin eval."""

from collections.abc import Mapping

from tests.extensions.eval_tools.conftest import Read, Write, columns, statuses


def run(score: float, error: str | None = None) -> dict[str, object]:
    return {
        "score": score,
        "passed": score == 1,
        "costUsd": 0.25,
        "durationSeconds": 4,
        "error": error,
        "graders": [{"name": "g", "passed": score == 1, "scored": True}],
    }


def result(arms: Mapping[str, object], **more: object) -> dict[str, object]:
    return {
        "schemaVersion": 1,
        "claudeVersion": "2.1.269",
        "partial": False,
        "suite": {"ablation": "with-without", "plugins": [{"name": "tidy", "version": "0.1"}]},
        "cases": [{"name": "commit", "promptMarkdown": "Write a message", "arms": arms}],
        **more,
    }


# The usage limit was reached in the last run, which was graded 0 on nothing.
ARMS = {"with": [run(1), run(0.5), run(0, "usage limit reached")], "without": [run(0), run(0.25)]}


def test_an_evaluation_by_hand(write: Write, read: Read) -> None:
    known = read("claude-plugin", write("aggregate-result.json", result(ARMS)))
    scores = known.scores
    # The baseline is Claude Code alone.
    assert scores.systems == ("without plug-ins", "tidy 0.1")
    assert columns(scores, "score") == {"without plug-ins": [0.125], "tidy 0.1": [0.75]}
    assert scores.trials == 3
    assert columns(scores, "cost")["tidy 0.1"] == [0.25]
    assert statuses(scores, "tidy 0.1") == ["SCORED"]
    assert known.remarks == (
        "aggregate-result.json: 1 run ended with an error (1 usage limit reached)",
    )


def test_results_of_two_days(write: Write, read: Read) -> None:
    one_arm = {"with": [run(1)]}
    write("results/monday/aggregate-result.json", result(one_arm))
    partial = result(one_arm, partial=True, partialReason="cost ceiling")
    folder = write("results/tuesday/aggregate-result.json", partial).parents[1]
    known = read("claude-plugin", folder)
    assert known.scores.systems == ("tidy 0.1 (monday)", "tidy 0.1 (tuesday)")
    assert known.remarks == ("aggregate-result.json: the evaluation is partial: cost ceiling",)
