"""One pydantic model per request and per response."""
