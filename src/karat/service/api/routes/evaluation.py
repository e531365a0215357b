"""Score a ranking that a client has at hand."""

from fastapi import APIRouter

from karat.ndcg import NDCGEvaluator
from karat.service.api.failures import failures
from karat.service.api.schemas.evaluation import Evaluate, Evaluated, RankedItem
from karat.service.api.state import Serving

__all__ = ["router"]

router = APIRouter(prefix="/api/v2", tags=["evaluation"])


@router.post("/evaluate", responses=failures(400))
def evaluate(asked: Evaluate, serving: Serving) -> Evaluated:
    """Return the NDCG of a ranking at each cut, and of a second one beside it."""
    evaluator = NDCGEvaluator(
        k_values=asked.k_values, prometheus=True, registry=serving.metrics.registry
    )
    first = _items(asked.ranked_items)
    if asked.improved is None:
        scores = evaluator.evaluate_ranking(first, asked.judgments)
        return Evaluated(metrics=scores, improved=None, improvement=None)
    both = evaluator.compare_rankings(first, _items(asked.improved), asked.judgments)
    return Evaluated(
        metrics=both["baseline"], improved=both["improved"], improvement=both["improvement"]
    )


def _items(items: list[RankedItem]) -> list[dict[str, object]]:
    return [item.model_dump(exclude_none=True) for item in items]
