"""The log: one JSON object per line, with the id of the request and without secrets."""

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import TextIO

from karat.service.observability.correlation import correlation_id

__all__ = ["JsonLines", "redacted", "start_log"]

# A token of ours; a password in an address; whatever a header or an option says after such a name.
SECRETS = (
    (re.compile(r"karat_[A-Za-z0-9_-]{8,}"), "karat_[hidden]"),
    (re.compile(r"(?<=://)([^\s/@:]*):[^\s/@]+(?=@)"), r"\1:[hidden]"),
    (
        re.compile(
            r"(?i)\b(authorization|cookie|password|secret|token|api[_-]?key)"
            r"(['\"]?\s*[:=]\s*['\"]?)(?:bearer\s+)?[^\s'\",;&]+"
        ),
        r"\1\2[hidden]",
    ),
)
KNOWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


def redacted(text: str) -> str:
    """Return *text* without anything that opens a door.

    >>> redacted("Authorization: Bearer abc123; postgresql://me:pass@host/db")
    'Authorization: [hidden]; postgresql://me:[hidden]@host/db'
    """
    for pattern, instead in SECRETS:
        text = pattern.sub(instead, text)
    return text


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON; what a logger was given as ``extra`` is in it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if asked := correlation_id():
            line["correlation_id"] = asked
        line |= {name: value for name, value in vars(record).items() if name not in KNOWN}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return redacted(json.dumps(line, ensure_ascii=False, default=str))


def start_log(stream: TextIO = sys.stderr, *, level: int = logging.INFO) -> None:
    """Send everything that is logged to *stream*, in place of what was set up before."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
