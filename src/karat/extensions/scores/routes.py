"""Routes of the service: an uploaded score file becomes a report."""

import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, BinaryIO, Literal

import anyio.to_process
from fastapi import APIRouter, Query, Request, Response, UploadFile
from starlette.concurrency import run_in_threadpool

from karat.errors import InputError, KaratError
from karat.extensions.scores.readers import ScoreOptions, read_scores
from karat.extensions.scores.source import scored_files
from karat.formats.base import ReadLimits

router = APIRouter(tags=["scores"])

MEDIA = {"html": "text/html", "json": "application/json", "md": "text/markdown"}


@router.post("/report")
async def make_report(
    request: Request,
    file: UploadFile,
    format: Literal["html", "json", "md"] = "html",  # noqa: A002 - the word of the API
    lower: str = "",
    column: Annotated[tuple[str, ...], Query()] = (),
) -> Response:
    """Return the report on an uploaded score file, as a file to save.

    *lower* names measures of which less is better, and each *column* is a role with its column,
    such as ``query=question``. Nothing is stored.
    """
    from karat.formats.table import parse_columns

    limits = request.app.state.service.settings.limits.files
    options = ScoreOptions(parse_columns(column), tuple(filter(None, lower.split(","))), limits)
    with TemporaryDirectory(prefix="karat-scores-") as folder:
        # The name of a client never becomes a path.
        suffix = Path(file.filename or "").suffix.lower()
        path = Path(folder) / f"upload{suffix if suffix[1:].isalnum() else ''}"
        await run_in_threadpool(_keep, file.file, path, limits)
        # A process of its own, so that requests do not wait for the statistics.
        text, problem = await anyio.to_process.run_sync(
            report_text,
            path,
            Path(file.filename or "scores").name,
            options,
            format,
            cancellable=True,
        )
    if problem:
        raise InputError(problem)
    name = f'attachment; filename="report.{format}"'
    return Response(text, media_type=MEDIA[format], headers={"Content-Disposition": name})


def _keep(stream: BinaryIO, path: Path, limits: ReadLimits) -> None:
    """Write an upload to *path*; a larger one than the limit raises InputError."""
    with path.open("xb") as file:
        shutil.copyfileobj(stream, file)
        if file.tell() > limits.upload_bytes:
            raise InputError(
                f"the file is larger than {limits.upload_bytes:,} bytes (limit upload_bytes)"
            )


def report_text(path: Path, name: str, options: ScoreOptions, kind: str) -> tuple[str, str]:
    """Return the report on the scores in *path*, which the user calls *name*, or the problem."""
    from karat.app.score_files import score_findings
    from karat.report.draw import draw
    from karat.scoring.settings import Confidence

    try:
        known = read_scores([path], options)
        scored = scored_files(known._replace(scores=replace(known.scores, name=name)))
        return draw(score_findings(scored, confidence=Confidence(), title=name), f"r.{kind}"), ""
    except KaratError as error:
        return "", str(error).replace(str(path), name).replace(path.name, name)
