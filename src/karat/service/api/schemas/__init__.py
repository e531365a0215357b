"""What goes over the wire: one pydantic model per request and per answer, nothing left untyped."""
