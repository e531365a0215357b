"""Collections from an archive that is uploaded."""

from tempfile import TemporaryDirectory
from typing import Annotated, Any

from fastapi import APIRouter, Form, UploadFile
from fastapi.routing import APIRoute
from pydantic import Json
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Scope

from karat.errors import InputError
from karat.experiments.workers.sources import is_bare
from karat.service.api.collection_view import begin_indexing, forget
from karat.service.api.schemas.base import Description, Name
from karat.service.api.schemas.collections import Collection, IndexOptions
from karat.service.api.state import Asking, Serving
from karat.service.api.uploads import keep, only
from karat.service.archives import ArchiveLimits, unpack
from karat.service.collections import UPLOAD, check_cutting, check_model

__all__ = ["FORM", "router"]

# How large it becomes is known too late.
PACKED = "corpus.jsonl.gz"


class MultipartRoute(APIRoute):
    """A route for forms only; JSON that is sent to the same path is for another one."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match what comes as a form."""
        if not Headers(scope=scope).get("content-type", "").startswith("multipart/form-data"):
            return Match.NONE, {}
        return super().matches(scope)


router = APIRouter(prefix="/api/v2/collections", route_class=MultipartRoute)

# Described with the route for JSON, since a path and a method have one description.
FORM: dict[str, Any] = {
    "requestBody": {
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file", "name"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "name": {"type": "string", "minLength": 1, "maxLength": 255},
                        "description": {"type": "string", "maxLength": 2000},
                        "index": {"type": "string", "contentMediaType": "application/json"},
                    },
                }
            }
        }
    }
}


@router.post(
    "",
    status_code=201,
    include_in_schema=False,
    dependencies=[only("file", "name", "description", "index")],
)
def upload_collection(
    serving: Serving,
    caller: Asking,
    *,
    file: UploadFile,
    name: Annotated[Name, Form()],
    description: Annotated[Description, Form()] = "",
    index: Annotated[Json[IndexOptions], Form()] = IndexOptions(),  # noqa: B008 - it is frozen
) -> Collection:
    """Make a collection of a zip, tar or tar.gz file; a job indexes its documents."""
    serving.check_quota(caller)
    check_cutting(index.chunker)
    if index.dense:
        check_model(index.model)
    limits = serving.settings.limits
    bounds = ArchiveLimits(limits.unpacked_bytes, limits.archive_files, limits.archive_ratio)
    with TemporaryDirectory(prefix="karat-upload-") as folder:
        archive = keep(file.file, None, folder)
        made = serving.store.collections.add(
            caller.owner,
            name,
            description=description,
            source={"kind": UPLOAD},
            index=index.model_dump(),
        )
        target = serving.settings.places.uploads / made.id
        try:
            unpack(archive, target, bounds)
            if is_bare(target):
                raise InputError("the archive is a Git repository; expected its files")
            if (target / PACKED).exists():
                raise InputError(f"the archive holds {PACKED}; expected corpus.jsonl as plain text")
        except BaseException:
            forget(serving, made)
            raise
    return begin_indexing(serving, caller, made)
