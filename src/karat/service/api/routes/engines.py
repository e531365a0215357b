"""Which searches benchmarks may ask beside the modes of a collection."""

from fastapi import APIRouter

from karat.service.api.failures import failures
from karat.service.api.schemas.collections import Engine, Engines
from karat.service.api.state import Serving
from karat.service.benchmarks import kind_of

__all__ = ["router"]

router = APIRouter(prefix="/api/v2/engines", tags=["engines"])


@router.get("", responses=failures())
async def list_engines(serving: Serving) -> Engines:
    """List the engines that the service was started with, by the names for a matrix."""
    offered = serving.settings.engines
    return Engines(
        engines=[Engine(name=name, kind=kind_of(spec)) for name, spec in offered.items()]
    )
