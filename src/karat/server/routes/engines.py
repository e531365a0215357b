"""Which searches benchmarks may ask beside the modes of a collection."""

from fastapi import APIRouter

from karat.app.offered import kind_of
from karat.server.failures import failures
from karat.server.schemas.engines import Engine, Engines
from karat.server.service import Serving

__all__ = ["router"]

router = APIRouter(prefix="/api/v2/engines", tags=["engines"])


@router.get("", responses=failures())
async def list_engines(serving: Serving) -> Engines:
    """List the engines that the service was started with, by the names for a matrix."""
    offered = serving.settings.engines
    return Engines(
        engines=[Engine(name=name, kind=kind_of(spec)) for name, spec in offered.items()]
    )
