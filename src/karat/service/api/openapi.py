"""The schema of the API as a file, from which clients and the types of the web page are made."""

import json
from pathlib import Path

from karat.service.api.app import create_app
from karat.service.settings import ServiceSettings

__all__ = ["FILE", "schema_text"]

FILE = Path(__file__).with_name("openapi.json")


def schema_text() -> str:
    """Return the content of the schema file."""
    app = create_app(ServiceSettings(store="", data=Path()))
    schema = app.openapi()
    # The version would change the file with every release.
    schema["info"]["version"] = "2"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(schema_text(), encoding="utf-8")
