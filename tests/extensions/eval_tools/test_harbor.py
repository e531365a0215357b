"""Jobs of Harbor."""

from tests.extensions.eval_tools.conftest import Read, Write, columns, statuses


def trial(task: str, name: str, reward: float | None, **more: object) -> dict[str, object]:
    return {
        "task_name": task,
        "trial_name": name,
        "agent_info": {"name": "codex", "version": "1", "model_info": {"name": "gpt-5"}},
        "agent_result": {"n_input_tokens": 9, "cost_usd": 0.5},
        "agent_execution": {
            "started_at": "2026-01-01T00:00:00Z",
            "finished_at": "2026-01-01T00:01:30Z",
        },
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": None,
        **more,
    }


TIMEOUT = {"exception_info": {"exception_type": "AgentTimeoutError"}}
TRIALS = [
    trial("fix-git", "fix-git__1", 1.0),
    trial("fix-git", "fix-git__2", 0.0),
    # The verifier ran after the time was over, and once it did not.
    trial("sort", "sort__1", 1.0, **TIMEOUT),
    trial("merge", "merge__1", None, **TIMEOUT),
]


def test_a_job_by_hand(write: Write, read: Read) -> None:
    for each in TRIALS:
        write(f"jobs/monday/{each['trial_name']}/result.json", each)
    job = write("jobs/monday/result.json", {"n_total_trials": 4, "stats": {}})
    for path in (job, job.parent):
        known = read("harbor", path)
        scores = known.scores
        assert scores.systems == ("codex gpt-5",)
        assert dict(zip(scores.query_ids, statuses(scores, "codex gpt-5"), strict=True)) == {
            "fix-git": "SCORED",
            "merge": "ERROR",
            "sort": "SCORED",
        }
        assert scores.trials == 2
        assert str(columns(scores, "reward")["codex gpt-5"]) == "[0.5, nan, 1.0]"
        assert columns(scores, "seconds")["codex gpt-5"][0] == 90.0
        assert columns(scores, "cost")["codex gpt-5"][0] == 0.5
        assert known.remarks[0].endswith(
            "2 trials with an exception (2 AgentTimeoutError), 1 of them without a reward"
        )


def test_trials_inside_the_result_of_a_job(write: Write, read: Read) -> None:
    job = {"n_total_trials": 4, "stats": {}, "trial_results": TRIALS}
    scores = read("harbor", write("jobs/monday/result.json", job)).scores
    assert scores.query_ids == ("fix-git", "sort", "merge")
    # A trial that has its own file as well counts once.
    write("jobs/monday/fix-git__1/result.json", TRIALS[0])
    folder = write("jobs/x.txt", "").parent
    assert read("harbor", folder).scores.trials == 2


def test_one_agent_in_two_jobs(write: Write, read: Read) -> None:
    for day, reward in (("monday", 0.0), ("tuesday", 1.0)):
        path = write(f"jobs/{day}/a__1/result.json", trial("a", "a__1", reward))
    scores = read("harbor", path.parents[2]).scores
    assert columns(scores, "reward") == {
        "codex gpt-5 (monday)": [0.0],
        "codex gpt-5 (tuesday)": [1.0],
    }
