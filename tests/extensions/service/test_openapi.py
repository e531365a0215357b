"""The schema in the package is that of the service."""

from karat.extensions.service.api.app import SCHEMA_FILE, schema_text


def test_the_schema_is_current() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), (
        "run: python -m karat.extensions.service.api.app"
    )
