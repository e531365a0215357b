"""Scoring one ranking, without a dataset."""

from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from karat.service.api.schemas.base import NO_NUL, Answer, Request

__all__ = ["Evaluate", "EvaluationScores"]

Key = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=NO_NUL)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Grade = Annotated[float, Field(ge=-1000, le=1000, allow_inf_nan=False)]
Cut = Annotated[int, Field(ge=1, le=1000)]


class RankedItem(Request):
    """An item of a ranking; its place in the list is its rank, whatever the score."""

    key: Key | None = None
    id: Key | None = None
    score: Number | None = None


class Evaluate(Request):
    """A ranking, best first, and what is known of its items; more rankings can be compared."""

    ranked_items: list[RankedItem] = Field(max_length=10_000)
    judgments: dict[Key, Grade] = Field(max_length=10_000)
    improved: list[RankedItem] | None = Field(
        default=None, max_length=10_000, description="Another ranking, to be held against the first"
    )
    k_values: list[Cut] = Field(default=[1, 3, 5, 10], min_length=1, max_length=50)

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "ranked_items": [{"key": "a", "score": 0.9}, {"key": "b", "score": 0.7}],
                    "judgments": {"a": 0.5, "b": 1.0},
                    "k_values": [1, 3],
                }
            ]
        }
    )


class EvaluationScores(Answer):
    """The scores; those of *improved* with the change in percent, null from 0."""

    metrics: dict[str, float] = Field(examples=[{"ndcg@1": 0.5, "ndcg@3": 0.8597}])
    improved: dict[str, float] | None
    improvement: dict[str, float | None] | None
